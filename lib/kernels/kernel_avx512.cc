// All probes at once: the lanes of one register compute the positions of a key,
// fetch their 32-bit words of the block and test their bits. Eight probes take
// half a register, which is faster than a whole one.
#if defined(__x86_64__)
// GCC 12 takes the undefined registers of its own intrinsics for mistakes (GCC
// bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

// As in kernel_avx2.cc.
#if defined(__clang__)
#pragma clang attribute push(                                      \
    __attribute__((target("avx512f,avx512dq,avx512vl,bmi,bmi2"))), \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512vl,bmi,bmi2")
#endif

#include "lib/kernels/kernel_parts.h"

namespace rowbloom {
namespace {

// The top 4 bits of a lane's product are the number of its word in the block,
// the next 5 that of its bit in the word. A rotation takes the rest of the
// count away; the bit goes to the top of its lane, from where it makes a mask.
inline bool HasFewBits(const std::byte* block, uint64_t hash, int probes) {
  const auto* const halves = reinterpret_cast<const __m256i*>(block);
  const __m256i product = _mm256_mullo_epi32(
      _mm256_set1_epi32(static_cast<int>(static_cast<uint32_t>(hash))),
      _mm256_load_si256(reinterpret_cast<const __m256i*>(kLaneMultipliers)));
  const __m256i words = _mm256_permutex2var_epi32(
      _mm256_loadu_si256(halves), _mm256_srli_epi32(product, 28),
      _mm256_loadu_si256(halves + 1));
  const __m256i found = _mm256_slli_epi32(
      _mm256_rorv_epi32(words, _mm256_srli_epi32(product, 23)), 31);
  const __mmask8 probed = _mm256_cmpgt_epi32_mask(
      _mm256_set1_epi32(probes), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  return _ktestc_mask8_u8(_mm256_movepi32_mask(found), probed) != 0;
}

// The same with a whole register, for any number of probes. Places and masks of
// the bits are the same in all blocks: a probe of one more fetches words and
// tests them, for which a whole register is as fast as half of one.
inline bool BlockHasBits(const std::byte* block, uint64_t hash, int probes) {
  const __m512i product = _mm512_mullo_epi32(
      _mm512_set1_epi32(static_cast<int>(static_cast<uint32_t>(hash))),
      _mm512_load_si512(kLaneMultipliers));
  const __m512i bits =
      _mm512_rolv_epi32(_mm512_set1_epi32(1), _mm512_srli_epi32(product, 23));
  const auto probed = static_cast<__mmask16>((1u << probes) - 1);
  const __m512i words = _mm512_permutexvar_epi32(_mm512_srli_epi32(product, 28),
                                                 _mm512_loadu_si512(block));
  return _mm512_mask_testn_epi32_mask(probed, words, bits) == 0;
}

// HasBits of one block.
inline bool FewOrMoreBits(const std::byte* block, uint64_t hash, int probes) {
  return probes <= 8 ? HasFewBits(block, hash, probes)
                     : BlockHasBits(block, hash, probes);
}

// Adds keys of up to kLanes probes. The block stays in a register. The mask of
// a probe is 1 << 31 shifted right by (last bit of the lane - position): in
// every lane but one that is 32 or more, which gives 0. A lane without a probe
// repeats the first one.
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
  // The positions go through memory: a compiler would move them from lane to
  // lane, which takes longer.
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

// AddGroup.
void AddTogether(std::byte* data, const uint64_t* hashes,
                 const uint32_t* offsets, int probes) {
  if (probes <= 4) return AddLanes<4>(data, hashes, offsets, probes);
  if (probes <= 8) return AddLanes<8>(data, hashes, offsets, probes);
  AddLanes<16>(data, hashes, offsets, probes);
}

// The parity of each lane, folded into its top bit, as a mask.
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
// masked load reads no memory outside its mask.
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

bool Avx512ColumnsGive(const RibbonPlace& place, uint32_t fingerprint) {
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
constinit const Kernel kAvx512Kernel =
    KernelOf<FewOrMoreBits, BlockHasBits, Avx512ColumnsGive, Add<AddTogether>>(
        "avx512");

}  // namespace rowbloom

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif  // __x86_64__
