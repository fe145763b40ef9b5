// What all kernels share. Everything here has internal linkage: a kernel file
// is compiled for its own instruction set, and the linker must not pick its
// copy of a function for a CPU that lacks it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/kernels/kernel.h"

namespace rowbloom {
namespace {

constexpr size_t kBlockBytes = 64;

// Powers of the 32-bit golden ratio: lane i multiplies the low half of a hash
// by power i and takes the top 9 bits as a position in the block.
alignas(64) constexpr uint32_t kLaneMultipliers[16] = {
    0x00000001, 0x9e3779b9, 0xe35e67b1, 0x734297e9, 0x35fbe861, 0xdeb7c719,
    0x0448b211, 0x3459b749, 0xab25f4c1, 0x52941879, 0x9c95e071, 0xf5ab9aa9,
    0x2d6ba521, 0x8bededd9, 0x9bfb72d1, 0x3ae1c209};

// The high half of hash * count: uniform over [0, count) without a division
// (D. Lemire, "Fast Random Integer Generation in an Interval", 2019).
inline size_t BlockOffset(const BloomBlocks& blocks, uint64_t hash) {
  __extension__ using Wide = unsigned __int128;
  const auto index = static_cast<uint64_t>(Wide{hash} * blocks.count >> 64);
  return static_cast<size_t>(index) * kBlockBytes;
}

// Starts loading a block that may lie across two cache lines.
// Always inline: GCC takes a function that only prefetches for one without
// effects, and drops its calls.
[[gnu::always_inline]] inline void PrefetchBlock(const BloomBlocks& blocks,
                                                 uint64_t hash) {
  const std::byte* block = blocks.data + BlockOffset(blocks, hash);
  __builtin_prefetch(block);
  __builtin_prefetch(block + kBlockBytes - 1);
}

}  // namespace
}  // namespace rowbloom
