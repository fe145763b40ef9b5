#include "storage/filter_policy/front_filter/reader_slots.h"

#include <iterator>

namespace rowbloom::front_filter {

bool ReaderSlots::NobodyIn(size_t turn) const {
  for (const Slot& slot : slots_) {
    if (slot.counts[turn].load(std::memory_order_seq_cst) != 0) return false;
  }
  return true;
}

// A reader that can see a retired object counted itself before the object was
// replaced. So once each counter was seen at 0 after that, none is left: a
// reader that counts itself later, in either counter, loads what replaced it.
// New readers use one counter while the other drains.
void ReaderSlots::Retire(std::list<Retired> retired) {
  std::list<Retired> freed;  // after the lock is released
  const std::lock_guard lock(mutex_);
  retired_.splice(retired_.end(), retired);
  for (int counter = 0; counter < 2; ++counter) {
    const size_t turn = turn_.load(std::memory_order_relaxed);
    if (!NobodyIn(1 - turn)) break;
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
