// KeyLayout says how a RocksDB key splits into a row and a qualifier.
//
// A layout is a small value, cheap to copy and immutable; all functions are
// const and safe to call from any number of threads. A key is always
//
//     key = row bytes + qualifier bytes
//
// where the row bytes include whatever the layout uses to mark the row's end
// (terminator, delimiter, length). So the row bytes are a prefix of the key,
// they are what a prefix_extractor returns, and every key that starts with them
// is of this row.
//
//   KeyLayout layout = KeyLayout::Delimited(':');
//   layout.Split("user_1001:tags")->row;        // "user_1001:"
//   layout.Split("user_1001:tags")->qualifier;  // "tags"
//   layout.Split("no delimiter");               // nullopt: outside the layout
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rowbloom/result.h"

namespace rowbloom {

// The two parts of a key. Both view into the key; row + qualifier == key.
struct SplitKey {
  std::string_view row;
  std::string_view qualifier;
};

// Returns how many leading bytes of `key` are its row, or nullopt when the key
// is outside the layout. Must be pure, thread-safe, and decide by those leading
// bytes alone: if it returns n for a key, it returns n for every key that
// starts with the same n bytes, and for those n bytes themselves. Otherwise
// keys that were not indexed lie among those of a row, and are lost. Exceptions
// pass through the functions of this library; the filter policy takes them for
// "may match".
using RowSplitter = std::function<std::optional<size_t>(std::string_view key)>;

class KeyLayout {
 public:
  enum class Kind : uint8_t {
    kEscaped,
    kFixed,
    kDelimited,
    kLengthPrefixed,
    kCustom
  };

  // Longest row of FixedRow and LengthPrefixed, in bytes.
  static constexpr uint32_t kMaxRowBytes = 65535;

  // "escaped": the row ends with 00 01 and has each 00 inside written 00 FF.
  // Any bytes are possible and encoded rows sort as the rows do.
  static KeyLayout Escaped() { return KeyLayout(Kind::kEscaped); }

  // "fixed:N": the row is the first `row_bytes` bytes. REQUIRES
  // 1 <= row_bytes <= kMaxRowBytes; with any other number every key is outside
  // the layout, and FromString(ToString()) reports it.
  static KeyLayout FixedRow(uint32_t row_bytes) {
    return KeyLayout(Kind::kFixed, row_bytes);
  }

  // "delimited:C": the row goes up to and includes the first byte `delimiter`.
  static KeyLayout Delimited(char delimiter) {
    return KeyLayout(Kind::kDelimited, static_cast<unsigned char>(delimiter));
  }

  // "u16": a 2-byte big-endian length, then that many bytes of row, as in
  // HBase's KeyValue and in Pegasus.
  static KeyLayout LengthPrefixed() { return KeyLayout(Kind::kLengthPrefixed); }

  // Makes "custom:NAME" known in this process, for good: files name the layout
  // that they were built with. Error: the name is empty, longer than 64 bytes,
  // has characters other than letters, digits, '_', '-' and '.', or is taken.
  // Thread-safe.
  static Result<KeyLayout> RegisterCustom(std::string_view name,
                                          RowSplitter splitter);

  // Parses what ToString prints: "escaped", "fixed:N", "delimited:C" (C one
  // byte, or 0xHH), "u16", "custom:NAME" with a registered NAME. Error: any
  // other text; the message says what was expected.
  static Result<KeyLayout> FromString(std::string_view text);

  // The layout's id: round-trips through FromString, at most 71 bytes of
  // printable ASCII, free of the characters that RocksDB's option strings use.
  std::string ToString() const;

  // Splits a key, or a bare row (whose qualifier is empty). Total: any bytes
  // give an answer. nullopt: the key is outside the layout.
  std::optional<SplitKey> Split(std::string_view key) const;

  // Split(key)->row.size(), or kNoRow when the key is outside the layout. For
  // hot paths.
  size_t RowBytes(std::string_view key) const;
  static constexpr size_t kNoRow = std::string_view::npos;

  // The row bytes of a key for an application's own row: adds terminator,
  // delimiter or length. Error: the layout cannot hold this row (a wrong
  // length, a delimiter inside); custom layouts take the bytes as they are and
  // check that they are exactly one row.
  Result<std::string> EncodeRow(std::string_view row) const;
  // The same onto the end of `key`, which an error leaves as it was. REQUIRES
  // that `row` does not view into *key.
  [[nodiscard]] std::optional<Error> AppendRow(std::string_view row,
                                               std::string* key) const;

  // Inverse of EncodeRow. nullopt: `row_bytes` is not exactly one row.
  std::optional<std::string> DecodeRow(std::string_view row_bytes) const;
  // The same into *row, whose memory is used again. False: *row is unspecified.
  // REQUIRES that `row_bytes` does not view into *row.
  [[nodiscard]] bool DecodeRow(std::string_view row_bytes,
                               std::string* row) const;

  // Tells whether encoded rows sort as the rows themselves do.
  bool PreservesRowOrder() const {
    return kind_ == Kind::kEscaped || kind_ == Kind::kFixed;
  }

  // Bytes before the row's own first byte: 2 for "u16", else 0.
  size_t RowOffset() const { return kind_ == Kind::kLengthPrefixed ? 2 : 0; }

  Kind kind() const { return kind_; }
  // N for "fixed:N", the byte for "delimited:C", else 0.
  uint32_t parameter() const { return parameter_; }

  // The bytes of every row for "fixed:N", which are N; else nullopt.
  std::optional<uint32_t> FixedRowBytes() const {
    if (kind_ != Kind::kFixed) return std::nullopt;
    return parameter_;
  }

  friend bool operator==(const KeyLayout& a, const KeyLayout& b) {
    return a.kind_ == b.kind_ && a.parameter_ == b.parameter_ &&
           a.custom_ == b.custom_;
  }

 private:
  struct CustomLayout;
  struct CustomRegistry;

  explicit KeyLayout(Kind kind, uint32_t parameter = 0)
      : kind_(kind), parameter_(parameter) {}

  Kind kind_;
  uint32_t parameter_;  // kFixed: row bytes; kDelimited: the byte
  std::shared_ptr<const CustomLayout> custom_;
};

}  // namespace rowbloom
