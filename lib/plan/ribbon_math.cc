#include "lib/plan/ribbon_math.h"

#include <algorithm>
#include <cmath>

namespace rowbloom {
namespace {

// Slots of all layers of a large filter, for each key.
constexpr double kSlotsOfEachKey = 1.002;
// Limits take two bits for each bucket of 128 slots.
constexpr double kLimitBits = 2.0 / 128;

}  // namespace

RibbonColumns RibbonColumnsFor(double false_positive_rate) {
  const double bits = -std::log2(false_positive_rate);
  const int narrow =
      std::clamp(static_cast<int>(std::floor(bits)), 1, kMaxRibbonColumns);
  const double narrow_rate = std::ldexp(1.0, -narrow);
  const double wide_rate = narrow_rate / 2;
  return {narrow, std::clamp((false_positive_rate - wide_rate) /
                                 (narrow_rate - wide_rate),
                             0.0, 1.0)};
}

double RibbonBitsPerKey(double false_positive_rate, double slots_per_key) {
  const RibbonColumns columns = RibbonColumnsFor(false_positive_rate);
  return std::max(kSlotsOfEachKey, slots_per_key) *
             (columns.narrow + 1 - columns.narrow_share) +
         kLimitBits;
}

double RibbonRate(double bits_per_key) {
  const double columns = (bits_per_key - kLimitBits) / kSlotsOfEachKey;
  if (columns < 1) return 1;
  const double narrow =
      std::min(std::floor(columns), double{kMaxRibbonColumns});
  const double wide_share = std::min(columns - narrow, 1.0);
  return std::exp2(-narrow) * (1 - wide_share / 2);
}

}  // namespace rowbloom
