#include "rowbloom/section_split.h"

#include <algorithm>

#include "lib/filters/kind_bits.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {

bool IsRowSpread(double row_spread) {
  return row_spread > 0 && row_spread <= 1;
}

WrongOpens PredictWrongOpens(double row_rate, double row_col_rate,
                             double row_spread) {
  const double both = row_rate * row_col_rate;
  return {
      .scan_absent_row = row_rate,
      .get_absent_row = both,
      .get_absent_column = row_spread * row_col_rate + (1 - row_spread) * both};
}

SectionBits AdaptiveSplit(FilterKind kind, uint64_t rows, uint64_t cells,
                          double bits_per_key, double row_spread) {
  const double equal = std::clamp(bits_per_key, kMinBitsPerKey, kMaxBitsPerKey);
  SectionBits best = {.row = equal, .row_col = equal};
  if (rows == 0 || cells == 0) return best;
  const double single = KindRate(kind, equal);
  double least = PredictWrongOpens(single, single, row_spread).Sum();
  const double rows_per_cell =
      static_cast<double>(rows) / static_cast<double>(cells);
  constexpr double kStep = 0.125;
  for (double row = equal + kStep; row <= kMaxBitsPerKey; row += kStep) {
    const double row_col = equal - (row - equal) * rows_per_cell;
    if (row_col < kMinBitsPerKey) break;
    const WrongOpens opens = PredictWrongOpens(
        KindRate(kind, row), KindRate(kind, row_col), row_spread);
    if (opens.get_absent_column > single) break;
    if (opens.Sum() < least) {
      least = opens.Sum();
      best = {.row = row, .row_col = row_col};
    }
  }
  return best;
}

}  // namespace rowbloom
