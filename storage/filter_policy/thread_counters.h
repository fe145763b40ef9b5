// Counters with a copy for each thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rowbloom {

// kSlots counters. Thread-safe and exact. Counting is a load, an addition and a
// store, with release, to memory that no other thread writes: it costs the same
// for 1,000 threads as for one. Threads beyond kMaxThreads at a time share a
// copy, with atomic additions.
//
// Memory: address space for all copies. A page of 4 KiB, which 16 threads
// share, takes memory when one of them first counts.
class ThreadCounters {
 public:
  static constexpr size_t kSlots = 32;
  static constexpr size_t kMaxThreads = 1024;

  // Throws std::bad_alloc.
  ThreadCounters();
  ~ThreadCounters();
  ThreadCounters(const ThreadCounters&) = delete;
  ThreadCounters& operator=(const ThreadCounters&) = delete;

  [[gnu::always_inline]] void Add(size_t slot, uint64_t times) noexcept {
    const size_t offset = thread_offset_;
    if (offset == kSharedOffset) [[unlikely]] {
      return AddShared(slot, times);
    }
    const Counter counter(SlotAt(offset, slot));
    counter.store(counter.load(std::memory_order_relaxed) + times,
                  std::memory_order_release);
  }

  // The sum over all threads, those that ended included, with acquire. Takes
  // time for as many threads as have counted at once.
  uint64_t Sum(size_t slot) const;

  // REQUIRES that no thread counts.
  void Reset();

 private:
  using Counter = std::atomic_ref<uint64_t>;
  // The counters of one thread, in cache lines of their own.
  struct Copy {
    alignas(64) uint64_t slots[kSlots];
  };

  static constexpr size_t kBytes = (kMaxThreads + 1) * sizeof(Copy);
  // The offset of the copy that threads without their own share.
  static constexpr size_t kSharedOffset = kMaxThreads * sizeof(Copy);

  uint64_t& SlotAt(size_t offset, size_t slot) const {
    return reinterpret_cast<Copy*>(copies_ + offset)->slots[slot];
  }
  // Adds for a thread that has no copy yet, or none of its own.
  void AddShared(size_t slot, uint64_t times) noexcept;
  static void TakeCopy() noexcept;

  // The offset of this thread's copy, the same in all counters. New threads
  // reuse the copies of those that ended.
  static constinit thread_local size_t thread_offset_;
  // The end of the copies that threads have taken so far. A thread takes the
  // first free one, so that nobody has counted behind it.
  static constinit std::atomic<size_t> taken_bytes_;

  std::byte* const copies_;  // kBytes
};

}  // namespace rowbloom
