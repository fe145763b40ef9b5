// KeyFormat: keys and values of a file as text, and how its keys split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rowbloom/key_layout.h"
#include "rowbloom/result.h"
#include "tools/table/table_file.h"

namespace rowbloom::table {

// A key without its timestamp.
struct KeyParts {
  std::string_view row;  // as in the key
  std::string_view family;
  std::string_view qualifier;
};

// Keys of HFiles: what names a column, and behind it what names a version.
//
//   key = column, timestamp i64, type u8; all numbers big-endian
//   column = row length u16, row, family length u8, family, qualifier
//
// The size of timestamp and type.
inline constexpr size_t kHFileKeySuffixBytes = 9;
// Views into the bytes; nullopt when they are no column.
std::optional<KeyParts> ParseHFileColumn(std::string_view bytes);
// "put", "delete-family", ...; "type 0x99" for a number that is none of them.
std::string HFileTypeName(uint8_t type);

// RocksDB's are unsigned, HBase's are not.
struct Timestamp {
  uint64_t bits = 0;
  bool is_signed = false;
};
std::string ToString(const Timestamp& timestamp);

struct KeyFormat {
  bool hex = false;  // else printable, \xHH for other bytes
  KeyForm form = KeyForm::kUserKey;
  // The layout that splits keys into row and qualifier. HFiles need none: they
  // say how their keys split.
  std::optional<KeyLayout> layout;
  std::string layout_problem;  // why the layout that the file names is not here
  size_t timestamp_bytes = 0;  // at the end of each user key
  std::string family;          // HFiles only, which have one each

  std::string Text(std::string_view bytes) const;
  // The text, cut to some 32 bytes.
  std::string ShortText(std::string_view bytes) const;
  std::string ValueText(const Property& property) const;
  // A user key; that of an HFile as HBase writes it,
  // row/family:qualifier/time/type.
  std::string KeyText(std::string_view user_key) const;
  // The same without what names a version.
  std::string ColumnText(std::string_view user_key) const;

  std::string_view WithoutTimestamp(std::string_view user_key) const;
  // nullopt where keys have none.
  std::optional<Timestamp> TimestampOf(std::string_view user_key) const;

  // Tells whether it is known how keys split.
  bool has_rows() const { return form == KeyForm::kHFile || layout; }
  // The name of the layout: "escaped", ..., "hfile". REQUIRES has_rows().
  std::string LayoutText() const;
  // Splits a key without its timestamp. nullopt: no layout, or outside it.
  std::optional<KeyParts> Split(std::string_view key) const;
  // The application's row, from the bytes in the key. nullopt: outside the
  // layout. REQUIRES has_rows(), as the next two.
  std::optional<std::string> DecodeRow(std::string_view row_bytes) const;
  // The reverse. Error: the layout cannot hold the row.
  Result<std::string> EncodeRow(std::string_view row) const;
  // The key without its timestamp, from the bytes of the row in it.
  std::string JoinKey(std::string_view row_bytes,
                      std::string_view qualifier) const;
  // DecodeRow as text.
  std::string RowText(std::string_view row_bytes) const;
};

}  // namespace rowbloom::table
