// Which filter a kind of data wants: from the sizes of its files and what is
// asked of them, a type, its parameters, and what they will do.
//
// The model. A read considers `files` files, of which a share `row_spread` has
// its row if that exists. A filter of ROW alone has the rate r, one of ROWCOL
// the rates r and c, and a file is opened for nothing as section_split.h says;
// with ROW alone a get of a cell that an existing row lacks opens each file of
// the row, a share s, and r of the others. Reads of what exists are as good
// with each type but for those, and are left out. Of each type that fits the
// limit of bytes, the one with the fewest wrong opens for the reads' shares is
// taken; but ROWCOL only where it has fewer than half of those of ROW with as
// many bits for each row, as it costs the bytes of all cells.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "rowbloom/bloom_type.h"
#include "rowbloom/result.h"
#include "rowbloom/section_split.h"

namespace rowbloom {

// What is asked, by how often in proportion; each finite and at least 0.
struct ReadShares {
  double scan_absent_row = 1;
  double get_absent_row = 1;
  double get_absent_column = 1;  // of rows that exist
};

// A file, or what is typical of many.
struct FileProfile {
  uint64_t rows = 0;   // distinct ones of the file
  uint64_t cells = 0;  // with a qualifier; keys that are bare rows are none
  // Files that a read considers: the sorted runs of the tree, not all its
  // files. At least 1.
  double files = 1;
  // Of these the files with cells of a row that exists; 1 to `files`. 0: not
  // known, all of them are assumed.
  double files_per_row = 0;
  ReadShares reads;
};

// What to aim at: `filter_bytes` of each file if that is not 0, else the rate.
struct FilterBudget {
  double false_positive_rate = 0.01;
  uint64_t filter_bytes = 0;
};

// What a filter does, per read over all files that it considers.
struct Prediction {
  uint64_t row_bytes = 0;  // of a file; without some 100 bytes around them
  uint64_t row_col_bytes = 0;
  double row_rate = 1;
  double row_col_rate = 1;
  WrongOpens opens;

  uint64_t bytes() const { return row_bytes + row_col_bytes; }
};

// Parameters of FilterPolicyOptions.
struct Advice {
  BloomType bloom_type = BloomType::kNone;
  FilterKind kind = FilterKind::kBloom;
  double false_positive_rate = 0.01;
  SectionSplit section_split = SectionSplit::kEqual;
  double row_spread = 1;
  Prediction prediction;
  // Why, with the numbers, as a paragraph for a person.
  std::string reason;
};

// What the model says of a filter of these parameters. REQUIRES what Advise
// asks of its arguments, a rate inside (0, 1), and a type other than
// kRowPrefixFixedLength, whose prefixes the profile does not count.
Prediction Predict(const FileProfile& profile, BloomType type, double rate,
                   SectionSplit split);

// Error: a number out of its range; the message names it.
Result<Advice> Advise(const FileProfile& profile, const FilterBudget& budget);

}  // namespace rowbloom
