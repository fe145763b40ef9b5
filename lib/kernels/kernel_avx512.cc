// All probes at once: eight in half a register, which is faster where a CPU has
// to share its wide units, or sixteen in a whole one.
#include <immintrin.h>

#include "lib/kernels/block_index.h"
#include "lib/kernels/bloom_add.h"
#include "lib/kernels/hash_lanes.h"
#include "lib/kernels/kernel.h"

namespace rowbloom {
namespace {

// The top 4 bits of a lane's product are the number of its word in the block,
// the next 5 that of its bit in the word. A rotation takes the rest of the
// count away; the bit goes to the top of its lane, from where it makes a mask.
inline bool TestFew(const BloomSection& blocks, uint64_t hash,
                    __m256i low_halves) {
  const auto* halves =
      reinterpret_cast<const __m256i*>(blocks.data + BlockOffset(blocks, hash));
  const __m256i product = _mm256_mullo_epi32(
      low_halves, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(
                      blocks.multipliers.data())));
  const __m256i words = _mm256_permutex2var_epi32(
      _mm256_loadu_si256(halves), _mm256_srli_epi32(product, 28),
      _mm256_loadu_si256(halves + 1));
  const __m256i found = _mm256_slli_epi32(
      _mm256_rorv_epi32(words, _mm256_srli_epi32(product, 23)), 31);
  const __mmask8 all = _mm256_movepi32_mask(found);
  return _kortestc_mask8_u8(all, all) != 0;
}

inline bool MayContainFew(const BloomSection& blocks, uint64_t hash) {
  return TestFew(
      blocks, hash,
      _mm256_set1_epi32(static_cast<int>(static_cast<uint32_t>(hash))));
}

inline bool MayContainFew(const BloomSection& blocks, const LaneHash& hash) {
  return TestFew(blocks, hash, _mm256_broadcastd_epi32(hash.lanes));
}

// Lanes are compared with the number of probes, which takes no general
// register.
inline bool MayContainMany(const BloomBlocks& blocks, uint64_t hash) {
  const __m512i product = _mm512_mullo_epi32(
      _mm512_set1_epi32(static_cast<int>(static_cast<uint32_t>(hash))),
      _mm512_load_si512(kLaneMultipliers));
  const __m512i words = _mm512_permutexvar_epi32(
      _mm512_srli_epi32(product, 28),
      _mm512_loadu_si512(blocks.data + BlockOffset(blocks, hash)));
  const __m512i found = _mm512_slli_epi32(
      _mm512_rorv_epi32(words, _mm512_srli_epi32(product, 23)), 31);
  const __mmask16 asked = _mm512_cmpgt_epi32_mask(
      _mm512_set1_epi32(blocks.probes),
      _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  return _ktestc_mask16_u8(_mm512_movepi32_mask(found), asked) != 0;
}

// Adds keys of up to kLanes probes: the block in a register, where bit p comes
// from a shift in each word, by more than it has but in the one of the bit. A
// lane without a probe repeats the first one.
template <int kLanes>
inline void AddLanes(std::byte* data, const uint64_t* hashes,
                     const uint32_t* offsets, int probes) {
  const __m512i multipliers = _mm512_mask_mov_epi32(
      _mm512_set1_epi32(static_cast<int>(kLaneMultipliers[0])),
      static_cast<__mmask16>((1u << probes) - 1),
      _mm512_load_si512(kLaneMultipliers));
  alignas(64) uint32_t positions[kKeysTogether][16];
  for (size_t i = 0; i < kKeysTogether; ++i) {
    const __m512i product = _mm512_mullo_epi32(
        _mm512_set1_epi32(static_cast<int>(static_cast<uint32_t>(hashes[i]))),
        multipliers);
    _mm512_store_si512(positions[i], _mm512_srli_epi32(product, 23));
  }
  // A compiler would take them from lane to lane instead, which takes longer.
  asm volatile("" : "+m"(positions));
  const __m512i top_bit = _mm512_set1_epi32(INT32_MIN);
  const __m512i last_bits =
      _mm512_setr_epi32(31, 63, 95, 127, 159, 191, 223, 255, 287, 319, 351, 383,
                        415, 447, 479, 511);
  for (size_t i = 0; i < kKeysTogether; ++i) {
    __m512i words = _mm512_loadu_si512(data + offsets[i]);
#pragma GCC unroll 16
    for (int lane = 0; lane < kLanes; ++lane) {
      const __m512i distance = _mm512_sub_epi32(
          last_bits, _mm512_set1_epi32(static_cast<int>(positions[i][lane])));
      words = _mm512_or_si512(words, _mm512_srlv_epi32(top_bit, distance));
    }
    _mm512_storeu_si512(data + offsets[i], words);
  }
}

void AddTogether(std::byte* data, const uint64_t* hashes,
                 const uint32_t* offsets, int probes) {
  if (probes <= 4) return AddLanes<4>(data, hashes, offsets, probes);
  if (probes <= 8) return AddLanes<8>(data, hashes, offsets, probes);
  AddLanes<16>(data, hashes, offsets, probes);
}

// The parity of each lane, as a mask: folded into the top bit, which takes no
// constants.
inline __mmask8 Parities(__m512i x) {
  x = _mm512_xor_si512(x, _mm512_slli_epi64(x, 32));
  x = _mm512_xor_si512(x, _mm512_slli_epi64(x, 16));
  x = _mm512_xor_si512(x, _mm512_slli_epi64(x, 8));
  x = _mm512_xor_si512(x, _mm512_slli_epi64(x, 4));
  x = _mm512_xor_si512(x, _mm512_slli_epi64(x, 2));
  x = _mm512_xor_si512(x, _mm512_slli_epi64(x, 1));
  return _mm512_movepi64_mask(x);
}

// Not zero if any of eight columns from `first` on gives the wrong bit. A
// masked load does not touch what it leaves out.
inline uint32_t WrongColumns(const RibbonPlace& place, uint64_t first,
                             uint32_t fingerprint) {
  const uint32_t lanes =
      _bzhi_u32(0xff, static_cast<uint32_t>(place.columns - first));
  const auto mask = static_cast<__mmask8>(lanes);
  const __m512i met = _mm512_xor_si512(
      _mm512_and_si512(_mm512_maskz_loadu_epi64(mask, place.first + 8 * first),
                       _mm512_set1_epi64(static_cast<int64_t>(place.low))),
      _mm512_and_si512(_mm512_maskz_loadu_epi64(mask, place.second + 8 * first),
                       _mm512_set1_epi64(static_cast<int64_t>(place.high))));
  return (Parities(met) ^ fingerprint >> first) & lanes;
}

inline bool ColumnsGive(const RibbonPlace& place, uint32_t fingerprint) {
  constexpr uint64_t kTogether = 8;
  const uint32_t wrong = WrongColumns(place, 0, fingerprint);
  if (place.columns <= kTogether) return wrong == 0;
  // Most absent keys end here, and present ones never.
  if (wrong != 0) return false;
  if (WrongColumns(place, kTogether, fingerprint) != 0) return false;
  return place.columns <= 2 * kTogether ||
         WrongColumns(place, 2 * kTogether, fingerprint) == 0;
}

}  // namespace
}  // namespace rowbloom

#include "lib/kernels/kernel_table.h"

namespace rowbloom {

constinit const BloomKernel kAvx512Kernel =
    KernelOfThisFile<RowHashInLanes>("avx512", Add);

}  // namespace rowbloom
