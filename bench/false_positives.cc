#include "bench/false_positives.h"

#include <algorithm>
#include <cmath>

namespace rowbloom::bench {

Interval Interval99(const FalsePositives& counts) {
  constexpr double kZ = 2.5758293035489;  // 99.5 % of a normal lie below
  const auto n = static_cast<double>(counts.asked);
  if (counts.asked == 0) return {0, 1};
  const double rate = counts.Rate();
  const double z2 = kZ * kZ / n;
  const double middle = (rate + z2 / 2) / (1 + z2);
  const double half =
      kZ / (1 + z2) * std::sqrt(rate * (1 - rate) / n + z2 / (4 * n));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

}  // namespace rowbloom::bench
