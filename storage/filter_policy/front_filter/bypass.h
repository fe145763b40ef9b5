// The bypass: where few rows are absent, a lookup costs more than it saves.
#pragma once

#include <atomic>
#include <cstdint>

namespace rowbloom::front_filter {

// Decides which gets look their rows up. The rule: one get in kEvery is a
// sample, which always does. When the samples have looked up kRows rows, the
// other gets look theirs up, until the next decision, if at least kFewest of
// these rows were absent. Samples are random, so that no pattern of gets
// escapes them. Thread-safe.
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

  // Takes the outcome of a sample in.
  void Learn(uint64_t rows, uint64_t absent) {
    const uint64_t more = rows << 32 | absent;
    const uint64_t sum = sum_.fetch_add(more, std::memory_order_relaxed) + more;
    if (sum >> 32 < kRows) return;
    // One thread decides if several come here together.
    uint64_t expected = sum;
    if (sum_.compare_exchange_strong(expected, 0, std::memory_order_relaxed)) {
      skips_.store((sum & UINT32_MAX) < kFewest, std::memory_order_relaxed);
    }
  }

 private:
  static uint64_t ThreadRandom() {
    // Threads start apart, by the golden ratio: those that make few gets have
    // their share of samples, too.
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
