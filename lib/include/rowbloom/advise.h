// Which filter a kind of data wants: from the sizes of its files, where they
// are and what is asked of them, a type, a kind and their parameters, and what
// they and all others would do.
//
// The model. A read considers `files` sorted runs, of which some have its row
// if that exists. A filter of ROW alone has the rate r, one of ROWCOL the rates
// r and c, and a file is opened for nothing as section_split.h says; with ROW
// alone a get of a cell that an existing row lacks opens each file of the row,
// and a share r of the others. Where the tree is known its runs have the sizes
// of its levels, the rates of their allocation, and rows in proportion to their
// sizes: the last level has most. Reads of what exists are as good with each
// type but for those, and are left out.
//
// The type. Of each type that fits the limit of bytes, the one with the fewest
// wrong opens for the reads' shares is taken; but ROWCOL only where it has
// fewer than half of those of ROW with as many bits for each row, as it costs
// the bytes of all cells. So with the allocation over levels and the split of
// sections: what has the fewest wrong opens.
//
// The kind. A ribbon has the rate of a Bloom filter in 0.7 of the bytes, and
// takes several times as long to build and twice as long to ask. It is taken
// where the memory that it saves is worth more than the processor time:
//
//   saved bytes / kBytesPerCore  >  entries kBuildSecondsPerEntry / lifetime +
//                                   questions per second kAskSeconds
//
// both in cores, on a machine with kBytesPerCore of memory for each. At a rate
// of 0.01 that is a file that lives longer than twenty minutes and is asked
// less than some 4,500 times a second for each million of its entries. Where
// the lifetime is not known, files of the last level are taken to live for
// ever, and all others to live short: with kRibbon and bloom_before_level the
// number of the last level, every file of the tree gets the kind that is
// advised for it.
//
// Pure and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rowbloom/filter_spec.h"
#include "rowbloom/level_allocation.h"
#include "rowbloom/result.h"
#include "rowbloom/section_split.h"

namespace rowbloom {

// The kind's rule. Times are what kRibbon takes beyond kBloom, as measured
// (bench/results/filter_bench.txt), rounded.
inline constexpr double kBytesPerCore = 8.0 * (uint64_t{1} << 30);
inline constexpr double kBuildSecondsPerEntry = 50e-9;
inline constexpr double kAskSeconds = 10e-9;

// What is asked, by how often in proportion; each finite and at least 0.
struct ReadShares {
  double scan_absent_row = 1;
  double get_absent_row = 1;
  double get_absent_column = 1;  // of rows that exist
};

// Where a file is in a tree that leveled compaction keeps.
struct FilePlace {
  LevelShape tree;
  // 0 up to tree.levels, which is the last one: levels without data, as those
  // that dynamic_level_bytes leaves out, do not count.
  uint32_t level = 0;
};

// A file, or what is typical of many.
struct FileProfile {
  uint64_t rows = 0;   // distinct ones of the file
  uint64_t cells = 0;  // with a qualifier; keys that are bare rows are none
  // Sorted runs that a read considers, not all files of the tree. At least 1.
  // Where the place is known they are those of its tree, and this is not used.
  double files = 1;
  // Of these the runs with cells of a row that exists; 1 to all. 0: not known,
  // all of them are assumed.
  double files_per_row = 0;
  ReadShares reads;
  // Not known: other compaction, or no database around the file.
  std::optional<FilePlace> place;
  // From being written to being compacted away; 0: not known.
  double lifetime_seconds = 0;
  // That the file's filter is asked; 0: not known, or next to none.
  double questions_per_second = 0;
};

// What to aim at: `filter_bytes` of each file if that is not 0, else the rate.
// kOptimal keeps to it over the files of all levels together.
struct FilterBudget {
  double false_positive_rate = 0.01;
  uint64_t filter_bytes = 0;
};

// What a filter does.
struct Prediction {
  uint64_t row_bytes = 0;  // of the file; without some 100 bytes around them
  uint64_t row_col_bytes = 0;
  double row_rate = 1;  // of the file
  double row_col_rate = 1;
  WrongOpens opens;  // per read, over all files that it considers

  uint64_t bytes() const { return row_bytes + row_col_bytes; }
};

struct FilterAlternative : FilterSpec {
  Prediction prediction;
};

struct Advice : FilterAlternative {
  // All that were weighed, this one too, and the same ones in the same order
  // for each budget but for those that do not fit it: NONE, ROW, ROWCOL; of
  // each kBloom, kRibbon; of each one rate and, where the place is known, an
  // allocation over its tree; of each the equal split and, of ROWCOL where not
  // all files have every row, one with row_spread.
  std::vector<FilterAlternative> alternatives;
  size_t taken = 0;  // which of them this is
  // Why, with the numbers, as a paragraph for a person.
  std::string reason;
};

// What the model says of a filter. The key_layout and bloom_before_level have
// no part in it. REQUIRES what Advise expects of its arguments,
// Problem(filter).empty(), a level_allocation that is unset or the tree of the
// place, and a type other than kRowPrefixFixedLength, whose prefixes the
// profile does not count.
Prediction Predict(const FileProfile& profile, const FilterSpec& filter);

// Error: a number out of its range; the message names it.
Result<Advice> Advise(const FileProfile& profile, const FilterBudget& budget);

}  // namespace rowbloom
