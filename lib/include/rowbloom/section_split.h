// How to spread the bits of a filter block over its ROW and ROWCOL sections.
//
// The equal split gives each row and each cell the same bits. With many cells
// to a row the ROW section is a small part of the block: doubling its bits
// costs a cell a fraction of one. Whether that pays depends on what is asked
// for, and on how many files have cells of one row; the model is this.
//
// Of the files that a read considers, a share `row_spread` has its row, if it
// exists. With this share s and the false positive rates r and c of the
// sections, a file is opened for nothing by
//
//   a scan of a row that does not exist          r
//   a get of a cell of such a row                r c
//   a get of a cell that an existing row lacks   s c + (1 - s) r c
//
// kAdaptive takes the split with the least sum of the three, of those that give
// the block the same size as the equal one, and with which none of them is
// worse than a single filter for rows and cells of that size is, the rate p of
// the equal split. The last of the three binds: where every file has every row
// (s = 1) c may not exceed p, and the split is the equal one. The ROW section
// never has fewer bits than in the equal split.
//
// Against the equal split, scans gain and gets of absent columns lose: with 10
// cells to a row, a rate of 0.01 and s = 1/8, 43 times fewer, or 78 times with
// kRibbon, and 1.4 times as many. A block of ribbons is within 2 % of the size
// of the equal one where rows and cells are thousands.
//
// All functions are pure and thread-safe.
#pragma once

#include <cstdint>

#include "rowbloom/bloom_type.h"

namespace rowbloom {

// False positive rates of the two sections.
struct SectionRates {
  double row = 1;
  double row_col = 1;
};

// Whether `row_spread` is usable: inside (0, 1], not NaN.
bool IsRowSpread(double row_spread);

// Wrong opens of one file, on average.
struct WrongOpens {
  double scan_absent_row = 0;
  double get_absent_row = 0;
  double get_absent_column = 0;

  double Sum() const {
    return scan_absent_row + get_absent_row + get_absent_column;
  }
};

// The model.
WrongOpens PredictWrongOpens(const SectionRates& rates, double row_spread);

// The adaptive split of sections of `kind` with `rows` and `cells` distinct
// entries, which takes the bits of two sections of this rate. REQUIRES
// IsRowSpread(row_spread).
SectionRates AdaptiveSplit(FilterKind kind, uint64_t rows, uint64_t cells,
                           double rate, double row_spread);

}  // namespace rowbloom
