// The end of the row in a key, for each layout but the custom ones.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "rowbloom/key_layout.h"

namespace rowbloom {

inline constexpr char kEscape = '\x00';
inline constexpr char kEscapedZero = '\xff';
inline constexpr char kTerminator = '\x01';

// Returns the place of the first `wanted` from `at` on, or `size`. Rows are
// short: a call of memchr would cost more than the search. Their lengths vary,
// and a CPU cannot predict them: a byte within the first 32 is found without a
// branch on its place.
inline size_t FindByte(const char* data, size_t at, size_t size, char wanted) {
#if defined(__SSE2__)
  constexpr size_t kVectorBytes = sizeof(__m128i);
  if (size - at >= kVectorBytes) {
    const auto matches = [data, wanted](size_t from) {
      __m128i bytes;
      std::memcpy(&bytes, data + from, kVectorBytes);
      return static_cast<uint32_t>(
          _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted))));
    };
    // The second vector overlaps the first if there are too few bytes for two.
    const size_t past =
        size - at < 2 * kVectorBytes ? size : at + 2 * kVectorBytes;
    const size_t second = past - kVectorBytes;
    const uint32_t found = matches(at) | matches(second) << (second - at);
    if (found != 0) return at + static_cast<size_t>(std::countr_zero(found));
    at = past;
  }
#endif
  if constexpr (std::endian::native == std::endian::little) {
    constexpr uint64_t kOnes = 0x0101010101010101;
    const uint64_t pattern = kOnes * static_cast<unsigned char>(wanted);
    for (; size - at >= 8; at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, data + at, 8);
      word ^= pattern;
      // The lowest byte of 0x80 marks the first zero byte.
      const uint64_t zeros = (word - kOnes) & ~word & kOnes << 7;
      if (zeros != 0) {
        return at + static_cast<size_t>(std::countr_zero(zeros)) / 8;
      }
    }
  }
  while (at < size && data[at] != wanted) ++at;
  return at;
}

// Counts the bytes up to and including the terminator 00 01; 00 FF encodes a
// zero byte.
inline size_t EscapedRowBytes(const char* key, size_t size) {
  for (size_t at = 0;; at += 2) {
    at = FindByte(key, at, size, kEscape);
    if (size - at < 2) return KeyLayout::kNoRow;
    if (key[at + 1] == kTerminator) return at + 2;
    if (key[at + 1] != kEscapedZero) return KeyLayout::kNoRow;
  }
}

// Returns the bytes of the row, or kNoRow; custom layouts get kNoRow.
// `parameter` is the layout's. The branches are predicted well, as the layout
// of one file is constant; a switch would be an indirect jump.
inline size_t RowBytesOf(KeyLayout::Kind kind, uint32_t parameter,
                         const char* key, size_t size) {
  using Kind = KeyLayout::Kind;
  if (kind == Kind::kFixed) {
    // A layout of 0 or too many bytes has no rows.
    return parameter - 1 < KeyLayout::kMaxRowBytes && size >= parameter
               ? parameter
               : KeyLayout::kNoRow;
  }
  if (kind == Kind::kEscaped) return EscapedRowBytes(key, size);
  if (kind == Kind::kDelimited) {
    const size_t at = FindByte(key, 0, size, static_cast<char>(parameter));
    return at == size ? KeyLayout::kNoRow : at + 1;
  }
  if (kind == Kind::kCustom || size < 2) return KeyLayout::kNoRow;
  const size_t row = size_t{static_cast<unsigned char>(key[0])} << 8 |
                     static_cast<unsigned char>(key[1]);
  return size - 2 < row ? KeyLayout::kNoRow : 2 + row;
}

}  // namespace rowbloom
