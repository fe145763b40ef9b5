// The limits of HBase: what it refuses, or takes for something else, of what a
// store may hold. Pure functions, thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/hfile_cell.h"

namespace rowbloom::hfile_transfer {

// HBase's rules for the name of a family (ColumnFamilyDescriptorBuilder's
// isLegalColumnFamilyName). InvalidArgument names the rule.
rocksdb::Status CheckFamilyName(std::string_view family);

// InvalidArgument: a cell of a store that HBase would misread; names it.
rocksdb::Status CheckCell(const HFileCellView& cell);

// "row "r", cell f:q", as text.
std::string DescribeCell(const HFileCellView& cell);

}  // namespace rowbloom::hfile_transfer
