// Advise recommends a FilterSpec for files, by their sizes, their place in the
// tree and their reads, and predicts the bytes and the wasted reads of it and
// of all alternatives. doc/planning.md has the model and the rules. All
// functions are pure and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rowbloom/filter_spec.h"
#include "rowbloom/result.h"

namespace rowbloom {

// A ribbon is advised where the memory that it saves is worth more than its
// processor time. Times are what kRibbon takes beyond kBloom, as measured
// (bench/results/filter_bench.json) and rounded.
inline constexpr double kBytesPerCore = 8.0 * (uint64_t{1} << 30);
inline constexpr double kBuildSecondsPerEntry = 50e-9;
inline constexpr double kLookupSeconds = 10e-9;

// The frequency of each kind of read, in proportion; each finite, at least 0.
struct ReadShares {
  double scan_absent_row = 1;
  double get_absent_row = 1;
  double get_absent_column = 1;  // in rows that exist
};

// The place of a file in a tree that leveled compaction keeps.
struct FilePlace {
  LevelShape tree;
  // 0 up to tree.levels, which is the last one. Levels without data do not
  // count, such as those that dynamic_level_bytes leaves out.
  uint32_t level = 0;
};

// A file, or the averages of many files.
struct FileProfile {
  uint64_t rows = 0;   // distinct rows of the file
  uint64_t cells = 0;  // keys with a qualifier; a bare row is no cell
  // Sorted runs that a read considers, not all files of the tree. At least 1.
  // Not used where the place is known: the runs are then those of its tree.
  double files = 1;
  // The runs among these with cells of a row that exists, 1 to all. 0: not
  // known, all of them are assumed.
  double files_per_row = 0;
  ReadShares reads;
  // nullopt: another compaction style, or no database around the file.
  std::optional<FilePlace> place;
  // Time from being written to being compacted away; 0: not known.
  double lifetime_seconds = 0;
  // Lookups in the file's filter; 0: not known, or next to none.
  double questions_per_second = 0;
};

// The target: `filter_bytes` for each file if that is not 0, else the rate.
// With a level_allocation it holds for the files of all levels together.
struct FilterBudget {
  double false_positive_rate = 0.01;
  uint64_t filter_bytes = 0;
};

// False positive rates of the two sections.
struct SectionRates {
  double row = 1;
  double row_col = 1;
};

// The number of times that a read opens a file that does not have its key, on
// average.
struct WastedReads {
  double scan_absent_row = 0;
  double get_absent_row = 0;
  double get_absent_column = 0;  // in a row that exists

  double Sum() const {
    return scan_absent_row + get_absent_row + get_absent_column;
  }
};

// The wasted reads of one file, where a share `row_spread` of the files has the
// row of the read if that exists.
WastedReads PredictWastedReads(const SectionRates& rates, double row_spread);

// The bytes and rates of the file's sections, and the wasted reads.
struct Prediction {
  uint64_t row_bytes = 0;  // without some 100 bytes around the sections
  uint64_t row_col_bytes = 0;
  double row_rate = 1;
  double row_col_rate = 1;
  WastedReads wasted;  // per read, over all files that it considers

  uint64_t bytes() const { return row_bytes + row_col_bytes; }
};

struct FilterAlternative : FilterSpec {
  Prediction prediction;
};

struct Advice : FilterAlternative {
  // All filters that were weighed, with the advised one, in the same order for
  // each budget; those that do not fit it are left out. The types are NONE, ROW
  // and ROWCOL, the last two of each kind. Each kind has one rate and, if the
  // place is known, an allocation over its tree. Each of these has the equal
  // split and, for ROWCOL if not all files have every row, one with row_spread.
  std::vector<FilterAlternative> alternatives;
  size_t taken = 0;  // the index of the advised one
  // The grounds, with the numbers, as a paragraph for a person.
  std::string reason;
};

// The prediction of the model for a filter. The key_layout and
// bloom_before_level have no part in it. REQUIRES what Advise expects of its
// arguments, Problem(filter).empty(), a level_allocation that is unset or the
// tree of the place, and a type other than kRowPrefixFixedLength, whose
// prefixes the profile does not count.
Prediction Predict(const FileProfile& profile, const FilterSpec& filter);

// Error: a number out of its range; the message names it.
Result<Advice> Advise(const FileProfile& profile, const FilterBudget& budget);

}  // namespace rowbloom
