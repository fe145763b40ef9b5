// The split of a filter block's bits over its ROW and ROWCOL sections, and the
// wrong opens that follow from their rates. doc/planning.md has the model. All
// functions are pure and thread-safe.
#pragma once

#include <cstdint>

#include "rowbloom/bloom_type.h"

namespace rowbloom {

// False positive rates of the two sections.
struct SectionRates {
  double row = 1;
  double row_col = 1;
};

// Tells whether `row_spread` is usable: inside (0, 1], not NaN.
inline bool IsRowSpread(double row_spread) {
  return row_spread > 0 && row_spread <= 1;
}

// The number of times that a read opens a file that does not have its key, on
// average.
struct WrongOpens {
  double scan_absent_row = 0;
  double get_absent_row = 0;
  double get_absent_column = 0;  // of a row that exists

  double Sum() const {
    return scan_absent_row + get_absent_row + get_absent_column;
  }
};

// The wrong opens of one file, where a share `row_spread` of the files has the
// row of the read if that exists.
WrongOpens PredictWrongOpens(const SectionRates& rates, double row_spread);

// The rates with the least sum of wrong opens for sections of `kind` with
// `rows` and `cells` distinct entries that take the bits of two sections of
// `rate`. None of the three wrong opens is above `rate`, and the ROW section
// has at least the bits of that rate. With a row_spread of 1, and without rows
// or cells, both rates are `rate`. REQUIRES IsRowSpread(row_spread).
SectionRates AdaptiveSplit(FilterKind kind, uint64_t rows, uint64_t cells,
                           double rate, double row_spread);

}  // namespace rowbloom
