#include "storage/filter_policy/filter_counters.h"

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

size_t FilterCounters::ThreadStripe() {
  static std::atomic<size_t> next{0};
  thread_local const size_t stripe =
      next.fetch_add(1, std::memory_order_relaxed) % kStripes;
  return stripe;
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
  stats.blocks_opened = blocks_opened_.load(std::memory_order_relaxed);
  stats.blocks_unusable = blocks_unusable_.load(std::memory_order_relaxed);
  stats.builtin_blocks_opened =
      builtin_blocks_opened_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace rowbloom
