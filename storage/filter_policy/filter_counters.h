// The live counters of one policy, shared by its builders and readers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rowbloom/filter_block.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom {

// Thread-safe. A question costs one relaxed atomic increment on a cache line
// that only threads of the same stripe touch: its whole outcome is one index.
class FilterCounters {
 public:
  void CountAnswer(const MatchResult& result) {
    stripes_[ThreadStripe()].outcomes[OutcomeIndex(result)].fetch_add(
        1, std::memory_order_relaxed);
  }

  void CountBuilt(size_t block_bytes) {
    blocks_built_.fetch_add(1, std::memory_order_relaxed);
    bytes_built_.fetch_add(block_bytes, std::memory_order_relaxed);
  }
  void CountOpened(bool usable) {
    blocks_opened_.fetch_add(1, std::memory_order_relaxed);
    if (!usable) blocks_unusable_.fetch_add(1, std::memory_order_relaxed);
  }
  void CountBuiltinOpened() {
    builtin_blocks_opened_.fetch_add(1, std::memory_order_relaxed);
  }

  FilterStats Read() const;

 private:
  static constexpr size_t kStripes = 16;
  static constexpr size_t kVerdicts = 4;

  struct alignas(64) Stripe {
    std::array<std::atomic<uint64_t>, kVerdicts * kVerdicts> outcomes{};
  };

  static size_t OutcomeIndex(const MatchResult& result) {
    return static_cast<size_t>(result.row) * kVerdicts +
           static_cast<size_t>(result.row_col);
  }
  static size_t ThreadStripe();

  std::array<Stripe, kStripes> stripes_;
  std::atomic<uint64_t> blocks_built_{0};
  std::atomic<uint64_t> bytes_built_{0};
  std::atomic<uint64_t> blocks_opened_{0};
  std::atomic<uint64_t> blocks_unusable_{0};
  std::atomic<uint64_t> builtin_blocks_opened_{0};
};

}  // namespace rowbloom
