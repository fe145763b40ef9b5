// All probes at once: eight in half a register, which is faster where a CPU has
// to share its wide units, or sixteen in a whole one.
#include <immintrin.h>

#include "lib/kernels/block_index.h"
#include "lib/kernels/bloom_add.h"
#include "lib/kernels/kernel.h"

namespace rowbloom {
namespace {

// The top 4 bits of a lane's product are the number of its word in the block,
// the next 5 that of its bit in the word. A rotation takes the rest of the
// count away; the bit goes to the top of its lane, from where it makes a mask.
// Lanes are compared with the number of probes, which takes no general
// register.
inline bool MayContainFew(const BloomBlocks& blocks, uint64_t hash) {
  const auto* halves =
      reinterpret_cast<const __m256i*>(blocks.data + BlockOffset(blocks, hash));
  const __m256i product = _mm256_mullo_epi32(
      _mm256_set1_epi32(static_cast<int>(static_cast<uint32_t>(hash))),
      _mm256_load_si256(reinterpret_cast<const __m256i*>(kLaneMultipliers)));
  const __m256i words = _mm256_permutex2var_epi32(
      _mm256_loadu_si256(halves), _mm256_srli_epi32(product, 28),
      _mm256_loadu_si256(halves + 1));
  const __m256i found = _mm256_slli_epi32(
      _mm256_rorv_epi32(words, _mm256_srli_epi32(product, 23)), 31);
  const __mmask8 asked =
      _mm256_cmpgt_epi32_mask(_mm256_set1_epi32(blocks.probes),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  return _ktestc_mask8_u8(_mm256_movepi32_mask(found), asked) != 0;
}

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

// The parity of each lane, as a mask: 0x6996 has the parities of all four-bit
// numbers.
inline __mmask8 Parities(__m512i x) {
  x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
  x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 16));
  x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 8));
  x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 4));
  const __m512i parity = _mm512_srlv_epi64(
      _mm512_set1_epi64(0x6996), _mm512_and_si512(x, _mm512_set1_epi64(15)));
  return _mm512_test_epi64_mask(parity, _mm512_set1_epi64(1));
}

// Eight columns at once. A masked load does not touch what it leaves out.
inline bool ColumnsGive(const RibbonPlace& place, uint32_t fingerprint) {
  constexpr int kColumns = 8;
  const __m512i low = _mm512_set1_epi64(static_cast<int64_t>(place.low));
  const __m512i high = _mm512_set1_epi64(static_cast<int64_t>(place.high));
  uint32_t wrong = 0;
  for (int i = 0; i < place.columns; i += kColumns) {
    const int left = place.columns - i;
    const auto lanes =
        static_cast<__mmask8>(left >= kColumns ? 0xff : (1U << left) - 1);
    const __m512i met = _mm512_xor_si512(
        _mm512_and_si512(_mm512_maskz_loadu_epi64(lanes, place.first + 8 * i),
                         low),
        _mm512_and_si512(_mm512_maskz_loadu_epi64(lanes, place.second + 8 * i),
                         high));
    wrong |= (Parities(met) ^ fingerprint >> i) & lanes;
  }
  return wrong == 0;
}

}  // namespace
}  // namespace rowbloom

#include "lib/kernels/kernel_table.h"

namespace rowbloom {

constinit const BloomKernel kAvx512Kernel = KernelOfThisFile("avx512", Add);

}  // namespace rowbloom
