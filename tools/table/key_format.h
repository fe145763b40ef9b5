// KeyFormat formats keys and values of a file as text, and splits its keys.
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
  std::string_view row;  // in the form of keys
  std::string_view family;
  std::string_view qualifier;
};

// Keys of HFiles name a column, and then a version of it.
//
//   key = column, timestamp i64, type u8; all numbers big-endian
//   column = row length u16, row, family length u8, family, qualifier
//
// Returns views of the bytes; nullopt if they are no column.
std::optional<KeyParts> ParseHFileColumn(std::string_view bytes);
// "put", "delete-family", ...; "type 0x99" for a number that is none of them.
std::string HFileTypeName(uint8_t type);

// A timestamp: unsigned in RocksDB, signed in HBase.
struct Timestamp {
  uint64_t bits = 0;
  bool is_signed = false;
};
std::string ToString(const Timestamp& timestamp);

struct KeyFormat {
  bool hex = false;  // else printable, \xHH for other bytes
  KeyForm form = KeyForm::kUserKey;
  // The layout that splits keys into row and qualifier. HFiles need none, since
  // their keys have lengths.
  std::optional<KeyLayout> layout;
  std::string layout_problem;  // why the layout that the file names is not used
  size_t timestamp_bytes = 0;  // at the end of each user key
  std::string family;          // the one family of an HFile

  std::string Text(std::string_view bytes) const;
  // The text, cut to some 32 bytes.
  std::string ShortText(std::string_view bytes) const;
  std::string ValueText(const Property& property) const;
  // Formats a user key. That of an HFile has HBase's form,
  // row/family:qualifier/time/type.
  std::string KeyText(std::string_view user_key) const;
  // Formats a user key without the version: the timestamp, and an HFile's type.
  std::string ColumnText(std::string_view user_key) const;

  std::string_view WithoutTimestamp(std::string_view user_key) const;
  // nullopt if the key has none.
  std::optional<Timestamp> TimestampOf(std::string_view user_key) const;

  // Tells whether keys can be split.
  bool has_rows() const { return form == KeyForm::kHFile || layout; }
  // The name of the layout: "escaped", ..., "hfile". REQUIRES has_rows().
  std::string LayoutText() const;
  // Splits a key without its timestamp. nullopt: no layout, or outside it.
  std::optional<KeyParts> Split(std::string_view key) const;
  // Returns the application's row, from its bytes in a key. nullopt: outside
  // the layout. REQUIRES has_rows(), as the next two.
  std::optional<std::string> DecodeRow(std::string_view row_bytes) const;
  // Reverses DecodeRow. Error: the layout cannot hold the row.
  Result<std::string> EncodeRow(std::string_view row) const;
  // Returns the key without its timestamp, from the encoded row.
  std::string JoinKey(std::string_view row_bytes,
                      std::string_view qualifier) const;
  // DecodeRow as text.
  std::string RowText(std::string_view row_bytes) const;
};

}  // namespace rowbloom::table
