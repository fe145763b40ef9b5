// What HBase says of a file in its name: a store file that is bulk loaded, a
// reference to a half of one, a link to one. Pure functions, thread-safe.
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

// The number that a bulk load gave the file: HBase has it of all its cells,
// whatever the file says. None without "_SeqId_"; InvalidArgument, without a
// path, where no number follows it.
rocksdb::Status SequenceIdInName(std::string_view name,
                                 std::optional<int64_t>* sequence_id);

// Of a name of a reference or link: what it stands for, in words, and what to
// do about it. Empty for other names.
std::string DescribeReference(std::string_view name);

}  // namespace rowbloom::hfile_transfer
