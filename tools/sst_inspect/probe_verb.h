// `sst_inspect probe`: what the filter of a file answers for a row or a cell.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>

#include "tools/sst_inspect/report.h"

namespace rowbloom::sst_inspect {

struct ProbeVerbOptions {
  // As the application has them, not as the key layout writes them.
  std::string row;
  std::optional<std::string> qualifier;  // nullopt: ask for the row alone
};

// Over the files that gave an answer.
struct ProbeCounts {
  size_t answered = 0;
  size_t may_be_there = 0;
};

// Prints what each section of the file's filter answers, and the verdict. The
// row is encoded with the key layout that the filter was built with.
//
// Of a partitioned filter, a cell asks the first partition whose index key is
// not less than the cell's key, as a get of RocksDB does. A row asks every
// partition that can hold a key of it, and may be there if one says so. Past
// the last index key both ask the last partition. With a comparator other than
// the bytewise one, both ask all partitions.
//
// kFindings when a filter block that was asked is damaged (its answer is then
// "may be there"); kUnreadable when the layout cannot hold the row.
ExitCode PrintProbe(const std::string& path, const ProbeVerbOptions& options,
                    std::ostream& out, std::ostream& err, ProbeCounts* counts);

}  // namespace rowbloom::sst_inspect
