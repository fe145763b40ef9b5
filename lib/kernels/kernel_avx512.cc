// All probes at once: the lanes of one register compute the positions of a key,
// fetch their 32-bit words of the block and test their bits.
#if defined(__x86_64__)
// GCC 12 warns of undefined registers in its own intrinsics (GCC bug 105593).
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

#include "lib/kernels/avx2_add.h"
#include "lib/kernels/kernel_parts.h"

namespace rowbloom {
namespace {

// Implements HasBits. The top 4 bits of a lane's product are the number of its
// word in the block, the next 5 that of its bit in the word.
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

// Lanes past the last column count as right. A masked load reads no memory
// outside its mask.
inline bool EightGive(const RibbonPlace& place, uint64_t first,
                      uint32_t fingerprint) {
  const uint32_t lanes =
      _bzhi_u32(0xff, static_cast<uint32_t>(place.columns - first));
  const auto mask = static_cast<__mmask8>(lanes);
  const __m512i met =
      (_mm512_maskz_loadu_epi64(mask, place.first + 8 * first) &
       _mm512_set1_epi64(static_cast<int64_t>(place.low))) ^
      (_mm512_maskz_loadu_epi64(mask, place.second + 8 * first) &
       _mm512_set1_epi64(static_cast<int64_t>(place.high)));
  const __mmask8 parities = _mm512_movepi64_mask(Parities(met));
  return ((parities ^ fingerprint >> first) & lanes) == 0;
}

}  // namespace
constinit const Kernel kAvx512Kernel =
    KernelOf<BlockHasBits, ColumnsGiveByEight<EightGive>, Add<AddTogether>>(
        "avx512");

}  // namespace rowbloom

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif  // __x86_64__
