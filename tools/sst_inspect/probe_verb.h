// `sst_inspect probe`: what the filter of a file answers for a row or a cell.
//
// It prints what each section of the file's filter answers, the verdict, and
// whether the file really has it. The row is encoded with the key layout that
// the filter was built with. RocksDB's own filters are asked for the whole key,
// or for a row as the prefix that their extractor makes of it.
//
// A cell in a file with a partitioned filter is looked up in the first
// partition whose index key is not less than the cell's key, as a get of
// RocksDB does. A row is looked up in every partition that can hold a key of
// it, and may be there if one says so. Past the last index key the last
// partition is probed. With a comparator other than the bytewise one, all
// partitions of a rowbloom filter are probed.
//
// The exit code is kFinding when a filter block that was probed is damaged (its
// answer is then "may be there"), or says that something is not there which is;
// kFailed when the layout cannot hold the row.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tools/sst_inspect/file_args.h"

namespace rowbloom::sst_inspect {

// The key layout is for filters that do not name theirs.
struct ProbeArgs : FileArgs {
  // Row and qualifier are the application's, not as the key layout writes them.
  std::string row;
  std::optional<std::string> qualifier;  // nullopt: look up the row alone
  // A whole key as it is in the file, instead of row and qualifier.
  std::optional<std::string> key;
};

// The counts of the files that gave an answer.
struct ProbeCounts {
  size_t answered = 0;
  size_t may_be_there = 0;
  size_t really_there = 0;
};

}  // namespace rowbloom::sst_inspect
