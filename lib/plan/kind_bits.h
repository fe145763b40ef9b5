// Conversions between the rate of a filter and its bits per key, fast enough
// for a search. They read a table, which the first call makes in some 7 ms:
// bloom_math.h takes some 10 us for a rate and 1 ms for bits per key. Pure and
// thread-safe.
#pragma once

#include "rowbloom/bloom_type.h"

namespace rowbloom {

// Returns the bits per key of a large filter with `rate`. kRibbon has the bits
// of kBloom if those are fewer, because the builder takes kBloom then.
double KindBits(FilterKind kind, double rate);

// Inverse of KindBits: returns the lowest rate with so many bits, within 0.5 %
// of bloom_math.h. It lies between kBloom's rates with kMaxBitsPerKey and with
// kMinBitsPerKey. kRibbon has at least the rate of a ribbon with the most
// columns.
double KindRate(FilterKind kind, double bits_per_key);

// BestProbes of bloom_math.h for the nearest eighth of a bit.
int TableProbes(double bits_per_key);

// The most columns of the narrow blocks of a ribbon; wide ones have one more.
inline constexpr int kMaxRibbonColumns = 23;

// The columns of a ribbon: `narrow` in `narrow_share` of its blocks, and one
// more in the others, so that the mean rate is the target.
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
