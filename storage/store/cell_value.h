// The value that RocksDB keeps for a cell of a family whose cell format is
// `latest`: a head of kCellHeadBytes, then the cell's value. FORMAT.md has the
// bytes. Pure functions, thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rowbloom {

inline constexpr uint8_t kCellFormatVersion = 1;
inline constexpr size_t kCellHeadBytes = 9;

// What precedes the value.
std::array<char, kCellHeadBytes> EncodeCellHead(uint64_t timestamp_ms);

struct CellValue {
  uint64_t timestamp_ms = 0;
  std::string_view value;  // views into the stored bytes
};

// Reads what RocksDB returned. False: the bytes are not of this format, and
// *problem says what was expected and what was found.
bool DecodeCellValue(std::string_view stored, CellValue* cell,
                     std::string* problem);

}  // namespace rowbloom
