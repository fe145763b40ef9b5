// Threads are dealt over slots, so that what a read counts or locks in its slot
// is rarely another thread's as well.
#pragma once

#include <atomic>
#include <cstddef>

namespace rowbloom {

inline constexpr size_t kThreadSlots = 64;
inline constexpr size_t kCacheLineBytes = 64;  // the alignment of a slot

// This thread's, below kThreadSlots.
inline size_t ThreadSlot() {
  static std::atomic<size_t> next{0};
  static thread_local const size_t slot =
      next.fetch_add(1, std::memory_order_relaxed) % kThreadSlots;
  return slot;
}

}  // namespace rowbloom
