// Bypass lets gets skip the lookup while few rows are absent: a lookup then
// costs more than it saves.
#pragma once

#include <atomic>
#include <cstdint>

namespace rowbloom::front_filter {

// Decides which gets look their rows up. One get in kEvery is a sample, which
// always does. After each kRows rows of samples, the other gets look their rows
// up if at least kFewest of these were absent, and skip the lookup if not.
// Samples are random, so that no pattern of gets escapes them. Thread-safe.
class Bypass {
 public:
  static constexpr uint64_t kEvery = 64;
  static constexpr uint64_t kRows = 256;
  static constexpr uint64_t kFewest = 8;

  // Off: each get looks its row up.
  explicit Bypass(bool on) : on_(on) {}

  enum class Get : uint8_t { kSkips, kLooksUp, kIsSample };
  Get Next() {
    if (!on_) return Get::kLooksUp;
    if (ThreadRandom() < UINT64_MAX / kEvery) return Get::kIsSample;
    return skips_.load(std::memory_order_relaxed) ? Get::kSkips : Get::kLooksUp;
  }

  // Adds the outcome of a sample.
  void Learn(uint64_t rows, uint64_t absent) {
    const uint64_t more = rows << 32 | absent;
    const uint64_t sum = sum_.fetch_add(more, std::memory_order_relaxed) + more;
    if (sum >> 32 < kRows) return;
    // If several threads get here together, one decides.
    uint64_t expected = sum;
    if (sum_.compare_exchange_strong(expected, 0, std::memory_order_relaxed)) {
      skips_.store((sum & UINT32_MAX) < kFewest, std::memory_order_relaxed);
    }
  }

 private:
  static uint64_t ThreadRandom() {
    // The golden ratio spaces the states in which threads start, so that
    // threads with few gets have their share of samples, too.
    constexpr uint64_t kApart = 0x9e3779b97f4a7c15;
    static constinit std::atomic<uint64_t> starts{kApart};
    static constinit thread_local uint64_t state = 0;
    if (state == 0) [[unlikely]] {
      state = starts.fetch_add(kApart, std::memory_order_relaxed);
    }
    return state = state * 6364136223846793005 + 1442695040888963407;
  }

  const bool on_;
  std::atomic<bool> skips_{false};
  // The samples since the last decision: rows in the high half, absent ones in
  // the low half.
  std::atomic<uint64_t> sum_{0};
};

}  // namespace rowbloom::front_filter
