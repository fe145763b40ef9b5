// Lookups of kernels that test eight probes at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/kernels/bloom_block.h"
#include "lib/kernels/kernel.h"

namespace rowbloom {
namespace {

constexpr int kLanes = 8;

// Tells whether the block has the bits of the probes from `first` on, kLanes at
// most.
using HasBitsFrom = bool(int first, const std::byte* block, uint64_t hash,
                         int probes);

template <HasBitsFrom kHasBitsFrom>
inline bool FewBits(const std::byte* block, uint64_t hash, int probes) {
  return kHasBitsFrom(0, block, hash, probes);
}

template <HasBitsFrom kHasBitsFrom>
inline bool MoreBits(const std::byte* block, uint64_t hash, int probes) {
  return kHasBitsFrom(0, block, hash, kLanes) &&
         kHasBitsFrom(kLanes, block, hash, probes);
}

// Kernel::may_contain.
template <HasBitsFrom kHasBitsFrom>
bool MayContain(const BloomBlocks& blocks, uint64_t hash) {
  const std::byte* block = blocks.data + BlockOffset(blocks, hash);
  return blocks.probes <= kLanes
             ? FewBits<kHasBitsFrom>(block, hash, blocks.probes)
             : MoreBits<kHasBitsFrom>(block, hash, blocks.probes);
}

// Kernel::sections_with.
template <HasBitsFrom kHasBitsFrom>
uint32_t FewOrMore(const BloomBlocks* sections, size_t count, uint64_t hash) {
  return sections[0].probes <= kLanes
             ? SectionsWith<FewBits<kHasBitsFrom>>(sections, count, hash)
             : SectionsWith<MoreBits<kHasBitsFrom>>(sections, count, hash);
}

}  // namespace
}  // namespace rowbloom
