// Spreads threads over slots of their own, so that what each read counts or
// locks is rarely another thread's as well.
#pragma once

#include <atomic>
#include <cstddef>

namespace rowbloom {

inline constexpr size_t kThreadSlots = 16;
inline constexpr size_t kCacheLineBytes = 64;

// This thread's, below kThreadSlots.
inline size_t ThreadSlot() {
  static std::atomic<size_t> next{0};
  static thread_local const size_t slot = next++ % kThreadSlots;
  return slot;
}

}  // namespace rowbloom
