#include "storage/filter_policy/filter_counters.h"

#include <mutex>
#include <numeric>
#include <utility>

namespace rowbloom {
namespace {

void Count(Verdict verdict, uint64_t times, SectionStats* stats) {
  switch (verdict) {
    case Verdict::kNotAsked:
      break;
    case Verdict::kNoMatch:
      stats->checked += times;
      stats->skipped += times;
      break;
    case Verdict::kMayMatch:
      stats->checked += times;
      break;
    case Verdict::kUnusable:
      stats->unusable += times;
      break;
  }
}

}  // namespace

constinit thread_local size_t FilterCounters::thread_stripe_ = kNoStripe;

// Once per thread.
size_t FilterCounters::TakeStripe() noexcept {
  struct FreeStripes {
    std::mutex mutex;
    std::array<size_t, kOwnedStripes> stripes;
    size_t count = kOwnedStripes;
    FreeStripes() { std::iota(stripes.rbegin(), stripes.rend(), size_t{0}); }
  };
  static FreeStripes free;
  // Gives the stripe back when the thread ends. What the thread counts after
  // that goes to the shared one.
  struct Owner {
    ~Owner() {
      const size_t stripe = std::exchange(thread_stripe_, kSharedStripe);
      if (stripe == kSharedStripe) return;
      const std::lock_guard lock(free.mutex);
      free.stripes[free.count++] = stripe;
    }
  };
  thread_local const Owner owner;
  const std::lock_guard lock(free.mutex);
  thread_stripe_ = free.count > 0 ? free.stripes[--free.count] : kSharedStripe;
  return thread_stripe_;
}

FilterStats FilterCounters::Read() const {
  FilterStats stats;
  for (const Stripe& stripe : stripes_) {
    for (size_t i = 0; i < stripe.outcomes.size(); ++i) {
      const uint64_t times = stripe.outcomes[i].load(std::memory_order_relaxed);
      const auto row = static_cast<Verdict>(i / kVerdicts);
      const auto row_col = static_cast<Verdict>(i % kVerdicts);
      stats.asked += times;
      if (row != Verdict::kNoMatch && row_col != Verdict::kNoMatch) {
        stats.may_match += times;
      }
      Count(row, times, &stats.row);
      Count(row_col, times, &stats.row_col);
    }
  }
  stats.blocks_built = blocks_built_.load(std::memory_order_relaxed);
  stats.bytes_built = bytes_built_.load(std::memory_order_relaxed);
  stats.blocks_failed = blocks_failed_.load(std::memory_order_relaxed);
  stats.blocks_opened = blocks_opened_.load(std::memory_order_relaxed);
  stats.blocks_unusable = blocks_unusable_.load(std::memory_order_relaxed);
  stats.builtin_blocks_opened =
      builtin_blocks_opened_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace rowbloom
