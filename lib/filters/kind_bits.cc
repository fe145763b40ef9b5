#include "lib/filters/kind_bits.h"

#include <algorithm>

#include "lib/filters/rate_table.h"
#include "lib/filters/ribbon.h"

namespace rowbloom {

double KindBits(FilterKind kind, double rate) {
  const double bloom = RateTable::Get().Bits(rate);
  return kind == FilterKind::kRibbon ? std::min(bloom, RibbonBitsPerKey(rate))
                                     : bloom;
}

double KindRate(FilterKind kind, double bits_per_key) {
  const double bloom = RateTable::Get().Rate(bits_per_key);
  return kind == FilterKind::kRibbon ? std::min(bloom, RibbonRate(bits_per_key))
                                     : bloom;
}

}  // namespace rowbloom
