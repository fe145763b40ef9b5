// 64-bit words in memory and in bytes, least significant byte first.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rowbloom {

inline uint64_t LittleEndian(uint64_t word) {
  if constexpr (std::endian::native == std::endian::big) {
    word = __builtin_bswap64(word);
  }
  return word;
}

inline uint64_t LoadWord(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return LittleEndian(word);
}

inline void StoreWord(uint64_t word, char* to) {
  word = LittleEndian(word);
  std::memcpy(to, &word, sizeof(word));
}

// The word of at most 8 bytes; missing bytes are zero.
inline uint64_t LoadBytes(const char* from, size_t byte_count) {
  uint64_t word = 0;
  if (byte_count > 0) std::memcpy(&word, from, byte_count);
  return LittleEndian(word);
}

}  // namespace rowbloom
