// Slots over which threads are distributed, so that two threads rarely use the
// same counter or lock of a read.
#pragma once

#include <atomic>
#include <cstddef>

namespace rowbloom {

inline constexpr size_t kThreadSlots = 64;
inline constexpr size_t kCacheLineBytes = 64;  // the alignment of a slot

// Returns the slot of this thread, below kThreadSlots.
inline size_t ThreadSlot() {
  static std::atomic<size_t> next{0};
  static thread_local const size_t slot =
      next.fetch_add(1, std::memory_order_relaxed) % kThreadSlots;
  return slot;
}

}  // namespace rowbloom
