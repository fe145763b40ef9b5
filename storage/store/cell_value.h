// The value that RocksDB keeps for a cell of a family whose cell format is
// `latest`: a head of kCellHeadBytes, then the cell's value. FORMAT.md has the
// bytes. Pure functions, thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/bytes/little_endian.h"
#include "lib/bytes/text.h"

namespace rowbloom {

// The two ways to write the values of a family's cells; cell_versions.h has the
// other one.
enum class CellFormat : uint8_t { kLatest, kVersioned };

inline constexpr uint8_t kCellFormatVersion = 1;
inline constexpr size_t kCellHeadBytes = 9;

// The bytes that precede the value.
inline std::array<char, kCellHeadBytes> EncodeCellHead(uint64_t timestamp_ms) {
  std::array<char, kCellHeadBytes> head;
  head[0] = static_cast<char>(kCellFormatVersion);
  StoreWord(timestamp_ms, head.data() + 1);
  return head;
}

struct CellValue {
  uint64_t timestamp_ms = 0;
  std::string_view value;  // views into the stored bytes
};

// Reads what RocksDB returned. False: the bytes are not of this format.
inline bool DecodeCellValue(std::string_view stored, CellValue* cell) {
  if (stored.size() < kCellHeadBytes ||
      static_cast<uint8_t>(stored[0]) != kCellFormatVersion) {
    return false;
  }
  cell->timestamp_ms = LoadWord(stored.data() + 1);
  cell->value = stored.substr(kCellHeadBytes);
  return true;
}

// Tells what was expected, and what was found, in bytes that DecodeCellValue
// refused.
inline std::string ProblemOfCellValue(std::string_view stored) {
  if (stored.size() < kCellHeadBytes) {
    return Concat("expected a value of at least ", kCellHeadBytes,
                  " bytes, found ", stored.size());
  }
  return Concat("expected a value of format version ", kCellFormatVersion,
                ", found ", static_cast<uint8_t>(stored[0]));
}

}  // namespace rowbloom
