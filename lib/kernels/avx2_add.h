// Addition of hashes by AVX2. The AVX-512 kernel uses it, too: wider registers
// build filters no faster.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>

#include "lib/kernels/kernel_parts.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

// Implements AddGroup. The lanes of a register compute the positions of one
// probe for all keys.
inline void AddTogether(std::byte* data, const uint64_t* hashes,
                        const uint32_t* offsets, int probes) {
  // The low halves of the hashes, in order.
  const __m256i low = _mm256_permute4x64_epi64(
      _mm256_castps_si256(_mm256_shuffle_ps(
          _mm256_loadu_ps(reinterpret_cast<const float*>(hashes)),
          _mm256_loadu_ps(reinterpret_cast<const float*>(hashes + 4)), 0x88)),
      0xd8);
  const __m256i starts =
      _mm256_load_si256(reinterpret_cast<const __m256i*>(offsets));
  // All positions are stored before bits are set: taking lanes from registers
  // one by one costs more than reading them from memory.
  alignas(32) uint32_t bytes[kMaxProbes][kKeysTogether];
  alignas(32) uint32_t bits[kMaxProbes][kKeysTogether];
  for (int probe = 0; probe < probes; ++probe) {
    const __m256i product = _mm256_mullo_epi32(
        low, _mm256_set1_epi32(static_cast<int>(kLaneMultipliers[probe])));
    _mm256_store_si256(
        reinterpret_cast<__m256i*>(bytes[probe]),
        _mm256_add_epi32(starts, _mm256_srli_epi32(product, 26)));
    _mm256_store_si256(
        reinterpret_cast<__m256i*>(bits[probe]),
        _mm256_sllv_epi32(_mm256_set1_epi32(1),
                          _mm256_and_si256(_mm256_srli_epi32(product, 23),
                                           _mm256_set1_epi32(7))));
  }
  for (int probe = 0; probe < probes; ++probe) {
    for (size_t i = 0; i < kKeysTogether; ++i) {
      data[bytes[probe][i]] |= static_cast<std::byte>(bits[probe][i]);
    }
  }
}

}  // namespace
}  // namespace rowbloom
#endif  // __x86_64__
