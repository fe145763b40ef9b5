// The blocks of a Bloom section, and the place of a hash in them, for all
// kernels. lib/block/FORMAT.md has the rule.
//
// Functions in headers of this folder have internal linkage or are always
// inlined: a kernel file is compiled for its own instruction set, and the
// linker must not use its copy of a function in code for all CPUs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/bytes/integers.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {

// An array of 512-bit blocks. No alignment is needed. REQUIRES count >= 1 and
// 1 <= probes <= kMaxProbes.
struct BloomBlocks {
  const std::byte* data;
  uint64_t count;
  int probes;
};

inline constexpr size_t kBlockBytes = kBloomBlockBytes;

namespace {

// Powers of the 32-bit golden ratio: lane i multiplies the low half of a hash
// by power i and takes the top 9 bits as a position in the block.
alignas(64) constexpr uint32_t kLaneMultipliers[16] = {
    0x00000001, 0x9e3779b9, 0xe35e67b1, 0x734297e9, 0x35fbe861, 0xdeb7c719,
    0x0448b211, 0x3459b749, 0xab25f4c1, 0x52941879, 0x9c95e071, 0xf5ab9aa9,
    0x2d6ba521, 0x8bededd9, 0x9bfb72d1, 0x3ae1c209};

// The bit of a probe in the block.
inline uint32_t BitOf(uint64_t hash, int probe) {
  return static_cast<uint32_t>(hash) * kLaneMultipliers[probe] >> 23;
}

inline size_t BlockOffset(const BloomBlocks& blocks, uint64_t hash) {
  return static_cast<size_t>(HighProduct(hash, blocks.count)) * kBlockBytes;
}

// Starts loading the block of a hash, which may lie across two cache lines. GCC
// assumes that a function which only prefetches has no effects, and drops its
// calls: this one is always inlined.
[[gnu::always_inline]] inline void PrefetchBlock(const BloomBlocks& blocks,
                                                 uint64_t hash) {
  const std::byte* block = blocks.data + BlockOffset(blocks, hash);
  __builtin_prefetch(block);
  __builtin_prefetch(block + kBlockBytes - 1);
}

}  // namespace
}  // namespace rowbloom
