// The checksums of RocksDB's block-based table files (table/format.cc there).
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rowbloom::sst {

// The checksum function of a file. The values are in the footer of every file:
// never renumber.
enum class ChecksumType : uint8_t {
  kNone = 0,
  kCrc32c = 1,    // masked, since checksummed data may hold checksums
  kXxHash = 2,    // XXH32
  kXxHash64 = 3,  // low half of XXH64
  kXxh3 = 4,      // low half of XXH3-64; the last byte is mixed in separately
};

// Returns the type with this number, or nullopt.
std::optional<ChecksumType> ChecksumTypeFromByte(uint8_t value);

// "none", "crc32c", "xxhash", "xxhash64", "xxh3".
std::string_view ToString(ChecksumType type);

// Returns the checksum of `bytes`; those of a block end with its compression
// type. For kNone it is 0, which such files store.
uint32_t Checksum(ChecksumType type, std::string_view bytes);

// Returns the number that format_version 6 adds, modulo 2^32, to the checksum
// of a block or footer at `offset_bytes`. So bytes at the wrong offset fail
// their checksum. `base` is the footer's base context checksum; for 0 (older
// formats) the number is 0.
uint32_t ContextModifier(uint32_t base, uint64_t offset_bytes);

}  // namespace rowbloom::sst
