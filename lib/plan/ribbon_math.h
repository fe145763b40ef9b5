// The arithmetic of ribbon filters: false positive rate <-> bits per key. Pure
// and thread-safe.
#pragma once

#include "rowbloom/bloom_type.h"

namespace rowbloom {

// The columns of narrow blocks; wide ones have one more.
inline constexpr int kMaxRibbonColumns = 23;

// The columns of a filter: `narrow` in this share of its blocks, and one more
// in the others, so that the mean rate is the target.
struct RibbonColumns {
  int narrow;
  double narrow_share;
};

// REQUIRES a rate inside (0, 1).
RibbonColumns RibbonColumnsFor(double false_positive_rate);

// The bits for each key of a large filter with this rate, within 2 %.
double RibbonBitsPerKey(double false_positive_rate,
                        double slots_per_key = kRibbonSlotsPerKey);

// The lowest rate of a large filter of that many bits for each key; 1 if they
// are too few for any.
double RibbonRate(double bits_per_key);

}  // namespace rowbloom
