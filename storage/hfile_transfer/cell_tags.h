// The tags that HBase gives a cell beside its value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace rowbloom::hfile_transfer {

// The tags of a cell, as far as they concern an import.
struct CellTags {
  // The value is in another file, which it names, of this table.
  bool is_mob_reference = false;
  std::string mob_table;
  // The first TTL, as HBase takes it.
  std::optional<int64_t> ttl_ms;
  // Only some users see the cell.
  bool has_visibility_label = false;
  // The kinds of all other tags, visibility labels among them, for messages.
  std::string names;
};

// Reads the bytes that HFileCellView::tags has. InvalidArgument: they are no
// tags, or a TTL is no number. Thread-safe.
rocksdb::Status ParseTags(std::string_view bytes, CellTags* tags);

// The bytes of a TTL as the only tag: TagType.TTL_TAG_TYPE of HBase.
std::string EncodeTtlTag(uint64_t ttl_ms);

}  // namespace rowbloom::hfile_transfer
