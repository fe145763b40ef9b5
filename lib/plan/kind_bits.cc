#include "lib/plan/kind_bits.h"

#include <algorithm>

#include "lib/plan/rate_table.h"
#include "lib/plan/ribbon_math.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {

double KindBits(FilterKind kind, double rate) {
  const double bloom = RateTable::Get().Bits(rate);
  return kind == FilterKind::kRibbon ? std::min(bloom, RibbonBitsPerKey(rate))
                                     : bloom;
}

double KindRate(FilterKind kind, double bits_per_key) {
  const double bloom = RateTable::Get().Rate(bits_per_key);
  if (kind != FilterKind::kRibbon) return bloom;
  return std::max(std::min(bloom, RibbonRate(bits_per_key)),
                  RibbonRate(kMaxBitsPerKey));
}

}  // namespace rowbloom
