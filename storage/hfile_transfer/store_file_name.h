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

// The file that has the cells of a reference or link. A link names its table
// and region, a reference the region that was split or merged.
struct StoreFileTarget {
  // Empty ones are those of the reference.
  std::string name_space;
  std::string table;
  std::string region;
  std::string file;
  // The region that a reference was made of; empty: a link to a whole file.
  std::string parent;

  bool is_reference() const { return !parent.empty(); }
};

// Tells whether the text is hexadecimal digits, as HBase writes them, and not
// empty.
bool IsHex(std::string_view text);

// Finds the number that a bulk load gave the file, and with it all its cells.
// Names without "_SeqId_" have none. InvalidArgument, without a path: no number
// follows it.
rocksdb::Status SequenceIdInName(std::string_view name,
                                 std::optional<int64_t>* sequence_id);

// The target of a reference or link of this name; nullopt for other names.
std::optional<StoreFileTarget> TargetInName(std::string_view name);

// "file F of region R" and, if it is known, the table.
std::string Describe(const StoreFileTarget& target);

}  // namespace rowbloom::hfile_transfer
