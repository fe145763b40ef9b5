// Sixteen probes at once, and the whole block in one register.
#include <immintrin.h>

#include "lib/kernels/block_index.h"
#include "lib/kernels/kernel.h"

namespace rowbloom {
namespace {

bool MayContain(const BloomBlocks& blocks, uint64_t hash) {
  const std::byte* block = blocks.data + BlockOffset(blocks, hash);
  const auto asked = static_cast<__mmask16>((1U << blocks.probes) - 1);
  const __m512i product = _mm512_mullo_epi32(
      _mm512_set1_epi32(static_cast<int>(static_cast<uint32_t>(hash))),
      _mm512_load_si512(kLaneMultipliers));
  // The top 4 bits are the word, the next 5 the bit in it. Shift counts are
  // taken modulo 32 by masking.
  const __m512i words = _mm512_permutexvar_epi32(_mm512_srli_epi32(product, 28),
                                                 _mm512_loadu_si512(block));
  const __m512i bits = _mm512_sllv_epi32(
      _mm512_set1_epi32(1),
      _mm512_and_si512(_mm512_srli_epi32(product, 23), _mm512_set1_epi32(31)));
  return _mm512_mask_testn_epi32_mask(asked, words, bits) == 0;
}

}  // namespace

constinit const BloomKernel kAvx512Kernel = {"avx512", MayContain, AddScalar,
                                             PrefetchBlock};

}  // namespace rowbloom
