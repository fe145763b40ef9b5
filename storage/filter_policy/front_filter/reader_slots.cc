#include "storage/filter_policy/front_filter/reader_slots.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <iterator>

namespace rowbloom::front_filter {
namespace {

bool Membarrier(int command) {
  return syscall(SYS_membarrier, command, 0) == 0;
}

}  // namespace

ReaderSlots::ReaderSlots(Barrier barrier)
    : has_membarrier_(barrier == Barrier::kMembarrier &&
                      Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) {}

bool ReaderSlots::PassBarrier() {
  if (has_membarrier_) return Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  Meet();
  return true;
}

// A reader that can see a retired object counted itself before the barrier. One
// that counts itself later, in either counter, loads the new object. So once
// each counter was seen at 0 after the barrier, the old object has no reader.
// New readers use one counter while the other drains.
void ReaderSlots::Retire(std::list<Retired> retired) {
  std::list<Retired> freed;  // after the lock is released
  const std::lock_guard lock(mutex_);
  retired_.splice(retired_.end(), retired);
  if (!PassBarrier()) return;
  for (int counter = 0; counter < 2; ++counter) {
    const size_t turn = turn_.load(std::memory_order_relaxed);
    if (counts_.Sum(1 - turn) != 0) break;
    for (Retired& old : retired_) ++old.checks;
    turn_.store(1 - turn, std::memory_order_relaxed);
  }
  for (auto old = retired_.begin(); old != retired_.end();) {
    const auto next = std::next(old);
    if (old->checks >= 2) freed.splice(freed.end(), retired_, old);
    old = next;
  }
}

size_t ReaderSlots::retired() const {
  const std::lock_guard lock(mutex_);
  return retired_.size();
}

}  // namespace rowbloom::front_filter
