#include "storage/filter_policy/thread_counters.h"

#include <sys/mman.h>

#include <bitset>
#include <mutex>
#include <new>
#include <utility>

namespace rowbloom {

constinit thread_local size_t ThreadCounters::thread_offset_ = kSharedOffset;
constinit std::atomic<size_t> ThreadCounters::taken_bytes_ = 0;

// Pages are zeros, and take no memory until they are written.
ThreadCounters::ThreadCounters()
    : copies_(static_cast<std::byte*>(
          mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
  if (copies_ == MAP_FAILED) throw std::bad_alloc();
  // A system that makes huge pages of any memory would fill them up with zeros.
  static_cast<void>(madvise(copies_, kBytes, MADV_NOHUGEPAGE));
}

ThreadCounters::~ThreadCounters() { munmap(copies_, kBytes); }

void ThreadCounters::AddShared(size_t slot, uint64_t times) noexcept {
  TakeCopy();
  if (thread_offset_ != kSharedOffset) return Add(slot, times);
  Counter(SlotAt(kSharedOffset, slot))
      .fetch_add(times, std::memory_order_release);
}

// Takes a copy for this thread, if one is free and this is its first call.
void ThreadCounters::TakeCopy() noexcept {
  struct Copies {
    std::mutex mutex;
    std::bitset<kMaxThreads> taken;
  };
  static Copies copies;
  // Gives the copy back when the thread ends. Later counts of the thread go to
  // the shared copy.
  struct Owner {
    ~Owner() {
      const size_t offset = std::exchange(thread_offset_, kSharedOffset);
      if (offset == kSharedOffset) return;
      const std::lock_guard lock(copies.mutex);
      copies.taken.reset(offset / sizeof(Copy));
    }
  };
  // Outlives the owner.
  static constinit thread_local bool has_tried = false;
  if (std::exchange(has_tried, true)) return;
  thread_local const Owner owner;
  const std::lock_guard lock(copies.mutex);
  for (size_t copy = 0; copy < kMaxThreads; ++copy) {
    if (copies.taken[copy]) continue;
    copies.taken.set(copy);
    thread_offset_ = copy * sizeof(Copy);
    const size_t end = thread_offset_ + sizeof(Copy);
    if (end > taken_bytes_) taken_bytes_ = end;
    return;
  }
}

uint64_t ThreadCounters::Sum(size_t slot) const {
  uint64_t sum = 0;
  const size_t end = taken_bytes_;
  for (size_t offset = 0; offset < end; offset += sizeof(Copy)) {
    sum += Counter(SlotAt(offset, slot)).load(std::memory_order_acquire);
  }
  return sum +
         Counter(SlotAt(kSharedOffset, slot)).load(std::memory_order_acquire);
}

void ThreadCounters::Reset() {
  for (size_t offset = 0; offset < kBytes; offset += sizeof(Copy)) {
    for (size_t slot = 0; slot < kSlots; ++slot) {
      const Counter counter(SlotAt(offset, slot));
      // A write would take memory.
      if (counter.load(std::memory_order_relaxed) != 0) {
        counter.store(0, std::memory_order_relaxed);
      }
    }
  }
}

}  // namespace rowbloom
