#include "rowbloom/section_split.h"

#include "lib/plan/kind_bits.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {

WrongOpens PredictWrongOpens(const SectionRates& rates, double row_spread) {
  const double both = rates.row * rates.row_col;
  return {.scan_absent_row = rates.row,
          .get_absent_row = both,
          .get_absent_column =
              row_spread * rates.row_col + (1 - row_spread) * both};
}

SectionRates AdaptiveSplit(FilterKind kind, uint64_t rows, uint64_t cells,
                           double rate, double row_spread) {
  SectionRates best = {.row = rate, .row_col = rate};
  if (rows == 0 || cells == 0) return best;
  double least = PredictWrongOpens(best, row_spread).Sum();
  const double equal = KindBits(kind, rate);
  const double rows_per_cell =
      static_cast<double>(rows) / static_cast<double>(cells);
  constexpr double kStep = 0.125;  // bits
  for (double row = equal + kStep; row <= kMaxBitsPerKey; row += kStep) {
    const double row_col = equal - (row - equal) * rows_per_cell;
    if (row_col < kMinBitsPerKey) break;
    const SectionRates rates = {.row = KindRate(kind, row),
                                .row_col = KindRate(kind, row_col)};
    const WrongOpens opens = PredictWrongOpens(rates, row_spread);
    if (opens.get_absent_column > rate) break;
    if (opens.Sum() < least) {
      least = opens.Sum();
      best = rates;
    }
  }
  return best;
}

}  // namespace rowbloom
