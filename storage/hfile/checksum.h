// The checksums of HFile blocks: one for each `bytes_per_checksum` bytes of a
// block, counted from the first byte of its header. Pure and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rowbloom/hfile.h"

namespace rowbloom::hfile {

inline constexpr size_t kChecksumBytes = 4;

// The number of checksums that cover `byte_count` bytes. REQUIRES
// bytes_per_checksum > 0.
inline uint64_t ChecksumCount(uint64_t byte_count,
                              uint32_t bytes_per_checksum) {
  return (byte_count + bytes_per_checksum - 1) / bytes_per_checksum;
}

// kNull: 0, and that is what such files store.
uint32_t Checksum(HFileChecksum type, std::string_view bytes);

// The checksums of `bytes`, appended to `*out`, which may be where they are.
void AppendChecksums(HFileChecksum type, uint32_t bytes_per_checksum,
                     size_t covered_bytes, std::string* out);

}  // namespace rowbloom::hfile
