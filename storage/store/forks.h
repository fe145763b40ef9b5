// Forks of the process: a child has the memory of its parent and its open
// files, but none of its threads.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace rowbloom {

// The number of forks, since the first call, that lead to this process: a child
// has another one than its parent. Thread-safe.
inline uint64_t ForkNumber() {
  static std::atomic<uint64_t> forks{0};
  [[maybe_unused]] static const int counts_them =
      pthread_atfork(nullptr, nullptr, [] { ++forks; });
  return forks.load(std::memory_order_relaxed);
}

}  // namespace rowbloom
