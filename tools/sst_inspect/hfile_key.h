// Keys of HFiles as the verbs know them: what names a column, and behind it
// what names a version of it.
//
//   key = column, timestamp i64, type u8; all numbers big-endian
//   column = row length u16, row, family length u8, family, qualifier
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rowbloom::sst_inspect {

// Timestamp and type.
inline constexpr size_t kHFileKeySuffixBytes = 9;

struct HFileColumn {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
};

// Views into the bytes; nullopt when they are no column.
std::optional<HFileColumn> ParseHFileColumn(std::string_view bytes);
// REQUIRES that row and family fit into their lengths.
std::string HFileColumnBytes(const HFileColumn& column);

// REQUIRES kHFileKeySuffixBytes bytes of a key.
int64_t TimestampOfHFileKey(std::string_view key);
uint8_t TypeOfHFileKey(std::string_view key);

// "put", "delete-family", ...; "type 0x99" for a number that is none of them.
std::string HFileTypeName(uint8_t type);

}  // namespace rowbloom::sst_inspect
