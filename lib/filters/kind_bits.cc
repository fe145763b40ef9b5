#include "lib/filters/kind_bits.h"

#include <algorithm>
#include <cmath>

#include "lib/filters/rate_table.h"
#include "lib/filters/ribbon.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {

double KindBits(FilterKind kind, double rate) {
  const double bloom = RateTable::Get().Bits(rate);
  return kind == FilterKind::kRibbon ? std::min(bloom, RibbonBitsPerKey(rate))
                                     : bloom;
}

double KindRate(FilterKind kind, double bits_per_key) {
  const RateTable& table = RateTable::Get();
  if (kind != FilterKind::kRibbon) return table.Rate(bits_per_key);
  // By halves of the range of logarithms.
  double low = std::log(table.Rate(kMaxBitsPerKey));
  double high = std::log(table.Rate(kMinBitsPerKey));
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (KindBits(kind, std::exp(middle)) > bits_per_key ? low : high) = middle;
  }
  return std::exp(high);
}

}  // namespace rowbloom
