// XXH3-64 with seed 0 of 17 to 32 bytes, as libxxhash computes it (XXH3 of
// version 0.8, section "input lengths 17 to 128" of its specification:
// github.com/Cyan4973/xxHash, doc/xxhash_spec.md), in lanes of vector registers
// as far as they can.
//
// For filters that no cache holds: the fewer general registers a lookup writes,
// the more lookups a CPU has under way while it waits for memory (match.h), and
// this writes 11 where the library's function writes 25. Internal linkage, for
// the reason in block_index.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace rowbloom {
namespace {

// A hash in the lower lane.
struct LaneHash {
  __m128i lanes;

  operator uint64_t() const {
    return static_cast<uint64_t>(_mm_cvtsi128_si64(lanes));
  }
};

// Taken from its lane a second time, not kept in a general register.
[[gnu::always_inline]] inline LaneHash Again(LaneHash hash) {
  __asm__("" : "+v"(hash.lanes));
  return hash;
}

// The first 32 bytes of XXH3's default secret.
alignas(16) constexpr uint64_t kHashSecret[4] = {
    0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de,
    0x1f67b3b7a4a44072};

// The factor of XXH3's last mixing, in one lane only: a compiler would make
// equal ones of a general register.
alignas(16) constexpr uint64_t kHashFactor[2] = {0x165667919e3779f9, 0};

[[gnu::always_inline]] inline __m128i LoadLanes(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

// The halves of the product of both lanes, xored into the lower one.
[[gnu::always_inline]] inline __m128i FoldedProduct(__m128i lanes) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{static_cast<uint64_t>(_mm_cvtsi128_si64(lanes))} *
                       static_cast<uint64_t>(_mm_extract_epi64(lanes, 1));
  return _mm_xor_si128(
      _mm_cvtsi64_si128(static_cast<int64_t>(static_cast<uint64_t>(product))),
      _mm_cvtsi64_si128(static_cast<int64_t>(product >> 64)));
}

// How a row of 17 to 32 bytes is hashed. `length_term` is Matcher::LengthTerm
// of its size.
struct RowHashInLanes {
  [[gnu::always_inline]] static LaneHash Of(const char* bytes, size_t size,
                                            uint64_t length_term) {
    const __m128i first =
        _mm_xor_si128(LoadLanes(bytes), LoadLanes(kHashSecret));
    __m128i last =
        _mm_xor_si128(LoadLanes(bytes + size - 16), LoadLanes(kHashSecret + 2));
    __m128i sum = FoldedProduct(first);
    // One product after the other, in the same registers.
    __asm__("" : "+v"(sum), "+v"(last));
    sum = _mm_add_epi64(_mm_add_epi64(sum, FoldedProduct(last)),
                        _mm_cvtsi64_si128(static_cast<int64_t>(length_term)));
    sum = _mm_xor_si128(sum, _mm_srli_epi64(sum, 37));
    sum = _mm_mullo_epi64(sum, LoadLanes(kHashFactor));
    sum = _mm_xor_si128(sum, _mm_srli_epi64(sum, 32));
    return {sum};
  }
};

}  // namespace
}  // namespace rowbloom
