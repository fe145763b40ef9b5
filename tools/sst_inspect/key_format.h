// KeyFormat: keys and values of a file as text, and how its keys split.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/key_layout.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

struct KeyFormat {
  bool hex = false;                 // else printable, \xHH for other bytes
  std::optional<KeyLayout> layout;  // how keys split into row and qualifier
  size_t timestamp_bytes = 0;       // at the end of each user key

  std::string Text(std::string_view bytes) const;
  // At most some 32 bytes of it.
  std::string ShortText(std::string_view bytes) const;

  std::string_view WithoutTimestamp(std::string_view user_key) const;
  // nullopt where keys have none.
  std::optional<uint64_t> TimestampOf(std::string_view user_key) const;

  // Of a key without its timestamp. nullopt: no layout, or outside it.
  std::optional<SplitKey> Split(std::string_view key) const;
  // The application's row, from the bytes in the key.
  std::string RowText(std::string_view row_bytes) const;
};

// What a file's own keys want: `layout_id` if that is not empty, else the
// layout that its filter or its prefix extractor names; none if neither does or
// the layout is not known here. Error: InvalidArgument for a bad layout_id.
rocksdb::Status FormatOf(const TableFile& file, const std::string& layout_id,
                         bool hex, KeyFormat* format);

}  // namespace rowbloom::sst_inspect
