// The live counters of one policy, shared by its builders and readers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rowbloom/filter_block.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom {

// Thread-safe and exact. The whole outcome of a question is the index of one
// counter. The first kOwnedStripes threads have a stripe of counters each,
// which nobody else writes: counting is a load, an addition and a store. All
// further threads share one, with atomic additions.
class FilterCounters {
 public:
  void CountAnswer(const MatchResult& result) {
    const size_t stripe = ThreadStripe();
    std::atomic<uint64_t>& counter =
        stripes_[stripe].outcomes[OutcomeIndex(result)];
    if (stripe != kSharedStripe) {
      counter.store(counter.load(std::memory_order_relaxed) + 1,
                    std::memory_order_relaxed);
    } else {
      counter.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void CountBuilt(size_t block_bytes) {
    blocks_built_.fetch_add(1, std::memory_order_relaxed);
    bytes_built_.fetch_add(block_bytes, std::memory_order_relaxed);
  }
  void CountFailed() { blocks_failed_.fetch_add(1, std::memory_order_relaxed); }
  void CountOpened(bool usable) {
    blocks_opened_.fetch_add(1, std::memory_order_relaxed);
    if (!usable) blocks_unusable_.fetch_add(1, std::memory_order_relaxed);
  }
  void CountBuiltinOpened() {
    builtin_blocks_opened_.fetch_add(1, std::memory_order_relaxed);
  }

  FilterStats Read() const;

 private:
  static constexpr size_t kOwnedStripes = 63;
  static constexpr size_t kSharedStripe = kOwnedStripes;
  static constexpr size_t kNoStripe = ~size_t{0};
  static constexpr size_t kVerdicts = 4;

  struct alignas(64) Stripe {
    std::array<std::atomic<uint64_t>, kVerdicts * kVerdicts> outcomes{};
  };

  static size_t OutcomeIndex(const MatchResult& result) {
    return static_cast<size_t>(result.row) * kVerdicts +
           static_cast<size_t>(result.row_col);
  }

  // The stripe of this thread, in all FilterCounters.
  static size_t ThreadStripe() {
    return thread_stripe_ != kNoStripe ? thread_stripe_ : TakeStripe();
  }
  static size_t TakeStripe() noexcept;

  static constinit thread_local size_t thread_stripe_;

  std::array<Stripe, kOwnedStripes + 1> stripes_;
  std::atomic<uint64_t> blocks_built_{0};
  std::atomic<uint64_t> bytes_built_{0};
  std::atomic<uint64_t> blocks_failed_{0};
  std::atomic<uint64_t> blocks_opened_{0};
  std::atomic<uint64_t> blocks_unusable_{0};
  std::atomic<uint64_t> builtin_blocks_opened_{0};
};

}  // namespace rowbloom
