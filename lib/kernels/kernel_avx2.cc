// Eight probes at a time: each lane of one register computes a position of the
// key, fetches its 32-bit word of the block and tests its bit.
#if defined(__x86_64__)
#include <immintrin.h>

// All functions from here on, including those of this folder's headers, are
// compiled for these instructions. A pragma is used because a build of RocksDB
// has no flags for a single file of a plugin.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), \
                             apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2")
#endif

#include "lib/kernels/avx2_add.h"
#include "lib/kernels/kernel_parts.h"

namespace rowbloom {
namespace {

// Implements HasBitsFrom. The top 4 bits of a lane's product are the number of
// its word in the block, the next 5 that of its bit in the word.
inline bool HasEight(int first, const std::byte* block, uint64_t hash,
                     int probes) {
  const __m256i product = _mm256_mullo_epi32(
      _mm256_set1_epi32(static_cast<int>(static_cast<uint32_t>(hash))),
      _mm256_load_si256(
          reinterpret_cast<const __m256i*>(kLaneMultipliers + first)));
  const __m256i word = _mm256_srli_epi32(product, 28);
  const __m256i bit = _mm256_srli_epi32(_mm256_slli_epi32(product, 4), 27);
  const __m256i probed =
      _mm256_cmpgt_epi32(_mm256_set1_epi32(probes - first),
                         _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  const __m256i bits = _mm256_sllv_epi32(_mm256_srli_epi32(probed, 31), bit);

  const auto* halves = reinterpret_cast<const __m256i*>(block);
  const __m256i low =
      _mm256_permutevar8x32_epi32(_mm256_loadu_si256(halves), word);
  const __m256i high =
      _mm256_permutevar8x32_epi32(_mm256_loadu_si256(halves + 1), word);
  // The top bit of a product picks the half.
  const __m256i found = _mm256_castps_si256(
      _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high),
                       _mm256_castsi256_ps(product)));
  return _mm256_testc_si256(found, bits) != 0;
}

// The top bit of each lane.
inline uint32_t TopBits(__m256i x) {
  return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(x)));
}

// Returns a nonzero value if any of four columns from `first` on gives the
// wrong bit. A masked load reads no memory outside its mask.
inline uint32_t WrongColumns(const RibbonPlace& place, uint64_t first,
                             uint32_t fingerprint) {
  const __m256i lanes = _mm256_cmpgt_epi64(
      _mm256_set1_epi64x(static_cast<int64_t>(place.columns - first)),
      _mm256_setr_epi64x(0, 1, 2, 3));
  const auto load = [lanes, first](const std::byte* from) {
    return _mm256_maskload_epi64(
        reinterpret_cast<const long long*>(from + 8 * first), lanes);
  };
  const __m256i met = (load(place.first) &
                       _mm256_set1_epi64x(static_cast<int64_t>(place.low))) ^
                      (load(place.second) &
                       _mm256_set1_epi64x(static_cast<int64_t>(place.high)));
  return (TopBits(Parities(met)) ^ fingerprint >> first) & TopBits(lanes);
}

inline bool EightGive(const RibbonPlace& place, uint64_t first,
                      uint32_t fingerprint) {
  return (WrongColumns(place, first, fingerprint) |
          WrongColumns(place, first + 4, fingerprint)) == 0;
}

}  // namespace
constinit const Kernel kAvx2Kernel =
    KernelOf<HasLanes<HasEight>, ColumnsGiveByEight<EightGive>,
             Add<AddTogether>>("avx2");

}  // namespace rowbloom

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif  // __x86_64__
