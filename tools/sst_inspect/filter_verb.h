// `sst_inspect filter`: what the filter of a file is made of.
#pragma once

#include <iosfwd>
#include <string>

#include "tools/sst_inspect/report.h"

namespace rowbloom::sst_inspect {

struct FilterVerbOptions {
  bool partitions = false;  // also list each partition
};

// Prints the filter of one file: a few lines about the whole, then a table
// with a line per section, summed over the partitions of a partitioned filter.
// Holds one filter block in memory at a time. kFindings when a part of the
// filter is damaged, which `out` describes as a "problem:".
ExitCode PrintFilter(const std::string& path, const FilterVerbOptions& options,
                     std::ostream& out, std::ostream& err);

}  // namespace rowbloom::sst_inspect
