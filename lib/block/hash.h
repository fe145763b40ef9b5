// The hashes of filter entries, as FORMAT.md has them: a row is hashed once for
// both sections, and row and qualifier need not be adjacent in memory.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>
#if XXH_VERSION_NUMBER < 800
#error "rowbloom needs xxHash 0.8: XXH3 of older ones gives other hashes"
#endif

#include <cstdint>
#include <string_view>

namespace rowbloom {

// Inputs of more bytes are hashed by a call, not inline.
inline constexpr size_t kInlineHashBytes = 32;

[[gnu::noinline]] inline uint64_t HashLong(std::string_view bytes,
                                           uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

inline uint64_t HashRow(std::string_view row_bytes) {
  if (row_bytes.size() > kInlineHashBytes) [[unlikely]]
    return HashLong(row_bytes, 0);
  return XXH3_64bits(row_bytes.data(), row_bytes.size());
}

inline uint64_t HashRowCol(uint64_t row_hash, std::string_view qualifier) {
  if (qualifier.size() > kInlineHashBytes) [[unlikely]]
    return HashLong(qualifier, row_hash);
  return XXH3_64bits_withSeed(qualifier.data(), qualifier.size(), row_hash);
}

// The checksum of stored bytes, against damage.
inline uint64_t Checksum(std::string_view bytes, uint64_t seed = 0) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace rowbloom
