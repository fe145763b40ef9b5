// Integers in bytes, least significant byte first, and their bits.
//
// Functions that kernel files use are always inlined: otherwise the linker
// might choose a copy with instructions that not every CPU has.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rowbloom {

[[gnu::always_inline]] inline uint64_t LittleEndian(uint64_t word) {
  if constexpr (std::endian::native == std::endian::big) {
    word = __builtin_bswap64(word);
  }
  return word;
}

[[gnu::always_inline]] inline uint64_t LoadWord(const void* from) {
  uint64_t word;
  __builtin_memcpy(&word, from, sizeof(word));
  return LittleEndian(word);
}

[[gnu::always_inline]] inline void StoreWord(uint64_t word, void* to) {
  word = LittleEndian(word);
  __builtin_memcpy(to, &word, sizeof(word));
}

// Loads a word of at most 8 bytes; the missing ones are zero.
[[gnu::always_inline]] inline uint64_t LoadBytes(const void* from,
                                                 size_t byte_count) {
  uint64_t word = 0;
  if (byte_count > 0) __builtin_memcpy(&word, from, byte_count);
  return LittleEndian(word);
}

// floor(a * b / 2^64): for a uniform hash `a`, uniform over [0, b) (D. Lemire,
// "Fast Random Integer Generation in an Interval", 2019).
[[gnu::always_inline]] inline uint64_t HighProduct(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(Wide{a} * b >> 64);
}

// Appends the low `bytes` bytes of `value`, 8 at most.
inline void PutFixed(std::string* out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    *out += static_cast<char>(value >> (8 * i) & 0xff);
  }
}

// The number in the `bytes` bytes at `offset`. REQUIRES that `in` has them.
inline uint64_t GetFixed(std::string_view in, size_t offset, size_t bytes) {
  return LoadBytes(in.data() + offset, bytes);
}

// The number of bits that are set.
inline uint64_t BitsSet(std::string_view bytes) {
  int64_t set = 0;
  for (; bytes.size() >= sizeof(uint64_t);
       bytes.remove_prefix(sizeof(uint64_t))) {
    set += std::popcount(LoadWord(bytes.data()));
  }
  set += std::popcount(LoadBytes(bytes.data(), bytes.size()));
  return static_cast<uint64_t>(set);
}

}  // namespace rowbloom
