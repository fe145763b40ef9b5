// The checksums of RocksDB's block-based table files (table/format.cc there).
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rowbloom::sst {

// The function that a file's checksums come from. The values are in the footer
// of every file: never renumber.
enum class ChecksumType : uint8_t {
  kNone = 0,
  kCrc32c = 1,    // masked, as checksums of data that holds checksums are
  kXxHash = 2,    // XXH32
  kXxHash64 = 3,  // low half
  kXxh3 = 4,      // low half of XXH3-64, the last byte mixed in apart
};

// The type with this number, or nullopt.
std::optional<ChecksumType> ChecksumTypeFromByte(uint8_t value);

// "none", "crc32c", "xxhash", "xxhash64", "xxh3".
std::string_view ToString(ChecksumType type);

// The checksum of `bytes`; for a block these end with its compression type.
// kNone: 0, and that is what such files store.
uint32_t Checksum(ChecksumType type, std::string_view bytes);

// The number that format_version 6 adds, modulo 2^32, to the checksum of a
// block or footer at `offset_bytes`, so that bytes which belong elsewhere are
// found out. `base` is the footer's base context checksum; 0 (older formats)
// adds nothing.
uint32_t ContextModifier(uint32_t base, uint64_t offset_bytes);

}  // namespace rowbloom::sst
