// Numbers of the filter block's format; FORMAT.md gives them their meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lib/bytes/integers.h"
#include "rowbloom/key_layout.h"

namespace rowbloom::format {

inline constexpr std::string_view kHead = "ROWBLOOM";
// The first byte is the marker -100: RocksDB 7 to 11 reserve its range, and
// answer "may match" for it.
inline constexpr std::string_view kTail = "\x9cRWBL";
inline constexpr uint8_t kVersion = 1;

inline constexpr size_t kEntryBytes = 24;
inline constexpr size_t kTrailerBytes = 14;
inline constexpr size_t kMinBlockBytes =
    kHead.size() + kTrailerBytes + kTail.size();

// Payloads of kind bloom with at least this many bytes start at a multiple of
// kAlignment from the start of the block.
inline constexpr uint64_t kAlignedFromBytes = uint64_t{1} << 16;
inline constexpr size_t kAlignment = 64;

// Tags of attributes, each followed by a length byte and as many bytes.
inline constexpr uint8_t kColumnFamilyTag = 1;
inline constexpr uint8_t kLevelTag = 2;
inline constexpr uint8_t kWholeKeysTag = 3;
inline constexpr size_t kMaxAttributeBytes = 255;

// The trailer, unchecked, and its place in the block.
struct Trailer {
  size_t at = 0;
  uint64_t checksum = 0;
  size_t layout_bytes = 0;
  size_t attribute_bytes = 0;
  size_t section_count = 0;
  uint8_t version = 0;

  size_t DirectoryBytes() const {
    return section_count * kEntryBytes + attribute_bytes + layout_bytes;
  }
};

// REQUIRES block.size() >= kMinBlockBytes.
inline Trailer GetTrailer(std::string_view block) {
  const size_t at = block.size() - kTail.size() - kTrailerBytes;
  return {.at = at,
          .checksum = GetFixed(block, at, 8),
          .layout_bytes = GetFixed(block, at + 8, 2),
          .attribute_bytes = GetFixed(block, at + 10, 2),
          .section_count = GetFixed(block, at + 12, 1),
          .version = static_cast<uint8_t>(GetFixed(block, at + 13, 1))};
}

// Returns the bytes that a ROWPREFIX section indexes for a row: the first
// `prefix_length` bytes of the row itself, or all of a shorter row, after the
// length that some layouts put before it.
inline std::string_view RowPrefix(const KeyLayout& layout,
                                  std::string_view row_bytes,
                                  uint32_t prefix_length) {
  return row_bytes.substr(0, layout.RowOffset() + prefix_length);
}

}  // namespace rowbloom::format
