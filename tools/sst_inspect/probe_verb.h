// `sst_inspect probe`: what the filter of a file answers for a row or a cell.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/report.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

struct ProbeVerbOptions {
  // As the application has them, not as the key layout writes them.
  std::string row;
  std::optional<std::string> qualifier;  // nullopt: ask for the row alone
  // A whole key as it is in the file, instead of row and qualifier.
  std::optional<std::string> key;
  // For filters that do not name their layout; empty: as the file's prefix
  // extractor says.
  std::string key_layout;
};

// Over the files that gave an answer.
struct ProbeCounts {
  size_t answered = 0;
  size_t may_be_there = 0;
  size_t really_there = 0;
};

// Prints what each section of the file's filter answers, the verdict, and
// whether the file really has it. The row is encoded with the key layout that
// the filter was built with. RocksDB's own filters are asked for the whole key,
// or for a row as the prefix that their extractor makes of it.
//
// Of a partitioned filter, a cell asks the first partition whose index key is
// not less than the cell's key, as a get of RocksDB does. A row asks every
// partition that can hold a key of it, and may be there if one says so. Past
// the last index key both ask the last partition. With a comparator other than
// the bytewise one, both ask all partitions of a rowbloom filter.
//
// kFindings when a filter block that was asked is damaged (its answer is then
// "may be there"), or says that something is not there which is;
// kUnreadable when the layout cannot hold the row.
ExitCode PrintProbe(const TableFile& file, const ProbeVerbOptions& options,
                    const Output& output, ProbeCounts* counts);

}  // namespace rowbloom::sst_inspect
