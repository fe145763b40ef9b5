// The bits that a filter of a kind takes for a rate, and back, quick enough to
// search with: bloom_math.h takes some 10 us for a rate and 1 ms for bits per
// key. A table that is made at the first call (some 7 ms) stands for it. Pure
// and thread-safe.
#pragma once

#include "rowbloom/bloom_type.h"

namespace rowbloom {

// Bits for each key of a large filter with `rate`. kRibbon has those of kBloom
// where they are fewer, as the builder takes kBloom then.
double KindBits(FilterKind kind, double rate);

// Inverse of KindBits: the lowest rate that so many bits give, within 0.5 % of
// bloom_math.h. It lies between the rates of kMaxBitsPerKey and kMinBitsPerKey
// of kBloom; kRibbon has at least the rate of its most columns.
double KindRate(FilterKind kind, double bits_per_key);

// BestProbes of bloom_math.h for the nearest eighth of a bit.
int TableProbes(double bits_per_key);

// The columns of narrow blocks of a ribbon; wide ones have one more.
inline constexpr int kMaxRibbonColumns = 23;

// The columns of a filter: `narrow` in this share of its blocks, and one more
// in the others, so that the mean rate is the target.
struct RibbonColumns {
  int narrow;
  double narrow_share;
};

// REQUIRES a rate inside (0, 1).
RibbonColumns RibbonColumnsFor(double false_positive_rate);

// The bits for each key of a large ribbon with this rate, within 2 %.
double RibbonBitsPerKey(double false_positive_rate,
                        double slots_per_key = kRibbonSlotsPerKey);

// Inverse of RibbonBitsPerKey; 1 if the bits are too few for any ribbon.
double RibbonRate(double bits_per_key,
                  double slots_per_key = kRibbonSlotsPerKey);

}  // namespace rowbloom
