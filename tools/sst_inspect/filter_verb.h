// `sst_inspect filter`: what the filter of a file is made of.
#pragma once

#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/report.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

struct FilterVerbOptions {
  bool partitions = false;  // list each partition, too
};

// Prints the filter of one file, rowbloom's or RocksDB's own: a few lines about
// the whole, then a table with a line per section, summed over the partitions
// of a partitioned filter. Holds one filter block in memory at a time.
// kFindings when a part of the filter is damaged, which is described as a
// "problem:".
ExitCode PrintFilter(const TableFile& file, const FilterVerbOptions& options,
                     const Output& output);

}  // namespace rowbloom::sst_inspect
