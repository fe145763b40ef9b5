// The checksums of HFile blocks: one for each `bytes_per_checksum` bytes of a
// block, counted from the first byte of its header. Pure and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rowbloom::hfile {

// The values are on disk: never renumber.
enum class ChecksumType : uint8_t { kNull = 0, kCrc32 = 1, kCrc32c = 2 };

inline constexpr size_t kChecksumBytes = 4;

// The number of checksums that cover `byte_count` bytes. REQUIRES
// bytes_per_checksum > 0.
inline uint64_t ChecksumCount(uint64_t byte_count,
                              uint32_t bytes_per_checksum) {
  return (byte_count + bytes_per_checksum - 1) / bytes_per_checksum;
}

// Returns 0 for kNull; such files store zeros.
uint32_t Checksum(ChecksumType type, std::string_view bytes);

// Appends to `*out` the checksums of its last `covered_bytes` bytes.
void AppendChecksums(ChecksumType type, uint32_t bytes_per_checksum,
                     size_t covered_bytes, std::string* out);

}  // namespace rowbloom::hfile
