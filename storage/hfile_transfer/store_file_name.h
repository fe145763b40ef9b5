// HBase's names tell a store file that was bulk loaded, a reference to a half
// of one, and a link to one. Pure functions, thread-safe.
//
//   file       hexadecimal digits [_SeqId_ digits _]
//   link       [namespace =] table = region - file
//   reference  (file | link) . region
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace rowbloom::hfile_transfer {

// Finds the number that a bulk load gave the file, and with it all its cells.
// Names without "_SeqId_" have none. InvalidArgument, without a path: no number
// follows it.
rocksdb::Status SequenceIdInName(std::string_view name,
                                 std::optional<int64_t>* sequence_id);

// Says in words what a reference or link of this name stands for, and what to
// do about it. Empty for other names.
std::string DescribeReference(std::string_view name);

}  // namespace rowbloom::hfile_transfer
