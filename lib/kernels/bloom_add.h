// Setting bits, where a CPU has AVX2: the positions of eight keys' bits are
// computed in the lanes of one register. Internal linkage throughout, for the
// reason in block_index.h.
#pragma once

#include <immintrin.h>

#include "lib/kernels/block_index.h"
#include "lib/kernels/kernel.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

constexpr size_t kKeysTogether = 8;

// Where the blocks of kKeysTogether hashes start. No section is larger than
// 32 bits can tell.
inline void FetchBlocks(const BloomBlocks& blocks, const uint64_t* hashes,
                        uint32_t* offsets) {
  for (size_t i = 0; i < kKeysTogether; ++i) {
    const size_t offset = BlockOffset(blocks, hashes[i]);
    __builtin_prefetch(blocks.data + offset);
    __builtin_prefetch(blocks.data + offset + kBlockBytes - 1);
    offsets[i] = static_cast<uint32_t>(offset);
  }
}

// Sets the bits of kKeysTogether hashes whose blocks start at `offsets`.
inline void AddTogether(std::byte* data, const uint64_t* hashes,
                        const uint32_t* offsets, int probes) {
  // The low halves, in order.
  const __m256i low = _mm256_permute4x64_epi64(
      _mm256_castps_si256(_mm256_shuffle_ps(
          _mm256_loadu_ps(reinterpret_cast<const float*>(hashes)),
          _mm256_loadu_ps(reinterpret_cast<const float*>(hashes + 4)), 0x88)),
      0xd8);
  const __m256i starts =
      _mm256_load_si256(reinterpret_cast<const __m256i*>(offsets));
  // First all positions, then all bits: taking lanes from registers one by one
  // costs more than reading them from memory.
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

// BloomKernel::add.
void Add(const BloomBlocks& blocks, std::byte* data, const uint64_t* hashes,
         size_t hash_count) {
  const int probes = blocks.probes;
  // Blocks are fetched one group ahead, to hide a miss to memory behind the
  // work on the other.
  alignas(32) uint32_t offsets[2][kKeysTogether];
  const size_t whole = hash_count - hash_count % kKeysTogether;
  if (whole > 0) FetchBlocks(blocks, hashes, offsets[0]);
  for (size_t at = 0; at < whole; at += kKeysTogether) {
    const size_t turn = at / kKeysTogether % 2;
    if (at + kKeysTogether < whole) {
      FetchBlocks(blocks, hashes + at + kKeysTogether, offsets[1 - turn]);
    }
    AddTogether(data, hashes + at, offsets[turn], probes);
  }
  AddScalar(blocks, data, hashes + whole, hash_count - whole);
}

}  // namespace
}  // namespace rowbloom
