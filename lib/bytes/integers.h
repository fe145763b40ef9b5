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

// std::popcount of a word for processors that may lack the instruction, where
// the compiler's own is a table (H. S. Warren, "Hacker's Delight", 5-1).
inline uint64_t BitsSetIn(uint64_t word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return word * 0x0101010101010101 >> 56;
}

// The number of bits that are set.
inline uint64_t BitsSet(std::string_view bytes) {
  uint64_t set = 0;
  for (; bytes.size() >= sizeof(uint64_t);
       bytes.remove_prefix(sizeof(uint64_t))) {
    set += BitsSetIn(LoadWord(bytes.data()));
  }
  return set + BitsSetIn(LoadBytes(bytes.data(), bytes.size()));
}

}  // namespace rowbloom
