// Eight probes at a time: the lanes of registers compute the positions of a
// key, and one table lookup fetches their bytes from the block. Every AArch64
// CPU has these instructions, so that no pragma names them.
#if defined(__AARCH64EL__)
#include <arm_neon.h>

#include <algorithm>

#include "lib/kernels/kernel_parts.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

// The positions of kLanes probes: a byte of the block and a bit in it for each.
struct Positions {
  uint8x8_t bytes;
  uint8x8_t bits;
};

// The positions of the probes from `first` on. The top 6 bits of a product are
// the number of its byte in the block, the next 3 that of its bit in the byte.
inline Positions PositionsFrom(int first, uint64_t hash) {
  const auto low = static_cast<uint32_t>(hash);
  const uint32_t* const multipliers = kLaneMultipliers + first;
  const uint16x8_t top = vshrn_high_n_u32(
      vshrn_n_u32(vmulq_n_u32(vld1q_u32(multipliers), low), 16),
      vmulq_n_u32(vld1q_u32(multipliers + 4), low), 16);
  const uint8x8_t bit = vand_u8(vshrn_n_u16(top, 7), vdup_n_u8(7));
  return {vshr_n_u8(vshrn_n_u16(top, 8), 2),
          vshl_u8(vdup_n_u8(1), vreinterpret_s8_u8(bit))};
}

// Implements HasBitsFrom.
inline bool HasEight(int first, const std::byte* block, uint64_t hash,
                     int probes) {
  const Positions positions = PositionsFrom(first, hash);
  const uint8x8_t lanes = vcreate_u8(0x0706050403020100);
  const uint8x8_t probed =
      vclt_u8(lanes, vdup_n_u8(static_cast<uint8_t>(probes - first)));
  const uint8x8_t found = vqtbl4_u8(
      vld1q_u8_x4(reinterpret_cast<const uint8_t*>(block)), positions.bytes);
  const uint8x8_t missing = vbic_u8(vand_u8(positions.bits, probed), found);
  return vget_lane_u64(vreinterpret_u64_u8(missing), 0) == 0;
}

// Counts the set bits in each byte of the differences between the bits that two
// columns from `first` on give and the expected ones. Past the last column it
// takes the last pair again, so that no memory outside them is read.
inline uint8x16_t Wrong(const RibbonPlace& place, uint64_t first,
                        uint32_t fingerprint) {
  first = std::min(first, place.columns - 2);
  const auto met = [first](const std::byte* words, uint64_t equation) {
    const auto* const two = reinterpret_cast<const uint8_t*>(words + 8 * first);
    return vandq_u64(vreinterpretq_u64_u8(vld1q_u8(two)),
                     vdupq_n_u64(equation));
  };
  const uint64x2_t expected =
      vcombine_u64(vcreate_u64(fingerprint >> first & 1),
                   vcreate_u64(fingerprint >> (first + 1) & 1));
  return vcntq_u8(vreinterpretq_u8_u64(veorq_u64(
      expected,
      veorq_u64(met(place.first, place.low), met(place.second, place.high)))));
}

// A column gives its bit if the sum of its eight bytes is even.
inline bool EightGive(const RibbonPlace& place, uint64_t first,
                      uint32_t fingerprint) {
  const auto wrong = [&](uint64_t pair) {
    return Wrong(place, first + 2 * pair, fingerprint);
  };
  const uint8x16_t quarters =
      vpaddq_u8(vpaddq_u8(wrong(0), wrong(1)), vpaddq_u8(wrong(2), wrong(3)));
  const uint8x8_t sums =
      vpadd_u8(vget_low_u8(quarters), vget_high_u8(quarters));
  return (vget_lane_u64(vreinterpret_u64_u8(sums), 0) & 0x0101010101010101) ==
         0;
}

bool NeonColumnsGive(const RibbonPlace& place, uint32_t fingerprint) {
  if (place.columns < 2) return ColumnsGiveInTurn(place, fingerprint);
  return ColumnsGiveByEight<EightGive>(place, fingerprint);
}

// Implements AddGroup. Computes all positions, then sets the bits: a store to a
// block keeps the compiler from computing further positions before it.
void AddTogether(std::byte* data, const uint64_t* hashes,
                 const uint32_t* offsets, int probes) {
  static_assert(kMaxProbes % kLanes == 0);
  uint8_t bytes[kKeysTogether][kMaxProbes];
  uint8_t bits[kKeysTogether][kMaxProbes];
  for (int first = 0; first < probes; first += kLanes) {
    for (size_t i = 0; i < kKeysTogether; ++i) {
      const Positions positions = PositionsFrom(first, hashes[i]);
      vst1_u8(bytes[i] + first, positions.bytes);
      vst1_u8(bits[i] + first, positions.bits);
    }
  }
  for (size_t i = 0; i < kKeysTogether; ++i) {
    for (int probe = 0; probe < probes; ++probe) {
      data[offsets[i] + bytes[i][probe]] |=
          static_cast<std::byte>(bits[i][probe]);
    }
  }
}

}  // namespace
constinit const Kernel kNeonKernel =
    KernelOf<HasLanes<HasEight>, NeonColumnsGive, Add<AddTogether>>("neon");

}  // namespace rowbloom
#endif  // __AARCH64EL__
