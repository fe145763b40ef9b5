#include <bit>

#include "lib/kernels/block_index.h"
#include "lib/kernels/kernel.h"

namespace rowbloom {
namespace {

uint32_t BitOf(uint64_t hash, int probe) {
  return (static_cast<uint32_t>(hash) * kLaneMultipliers[probe]) >> 23;
}

// All probes, without a branch: where an absent key fails cannot be foreseen,
// and a wrong guess costs more than the probes that it saves.
inline bool MayContainMany(const BloomBlocks& blocks, uint64_t hash) {
  const std::byte* block = blocks.data + BlockOffset(blocks, hash);
  std::byte found{1};
  for (int i = 0; i < blocks.probes; ++i) {
    const uint32_t bit = BitOf(hash, i);
    found &= block[bit / 8] >> bit % 8;
  }
  return found != std::byte{};
}

// The probed bit as the lowest one. In words of 32 bits, whose number and bit
// are shifts of the product.
inline uint32_t Probed(const std::byte* block, uint64_t hash, int probe) {
  const uint32_t product =
      static_cast<uint32_t>(hash) * kLaneMultipliers[probe];
  uint32_t word;
  __builtin_memcpy(&word, block + (product >> 28) * sizeof(word), sizeof(word));
  if constexpr (std::endian::native == std::endian::big) {
    word = __builtin_bswap32(word);
  }
  return word >> (product >> 23 & 31);
}

// Comparisons with the number of probes are foreseen. A first jump on what was
// found comes where so few absent keys get through that the guess is seldom
// wrong.
[[gnu::always_inline]] inline bool MayContainFew(const BloomSection& blocks,
                                                 uint64_t hash) {
  constexpr int kMostlyEnough = 3;
  const std::byte* block = blocks.data + BlockOffset(blocks, hash);
  uint32_t found = Probed(block, hash, 0);
#pragma GCC unroll 8
  for (int i = 1; i < kFewLanes; ++i) {
    if (i == kMostlyEnough && (found & 1) == 0) return false;
    if (i < blocks.probes) found &= Probed(block, hash, i);
  }
  return (found & 1) != 0;
}

inline bool ColumnsGive(const RibbonPlace& place, uint32_t fingerprint) {
  return ColumnsGiveScalar(place, fingerprint);
}

}  // namespace
}  // namespace rowbloom

#include "lib/kernels/kernel_table.h"

namespace rowbloom {

void AddScalar(const BloomBlocks& blocks, std::byte* data,
               const uint64_t* hashes, size_t hash_count) {
  // Far enough ahead to hide a miss to memory behind the work on other keys.
  constexpr size_t kAhead = 12;
  for (size_t i = 0; i < hash_count; ++i) {
    if (i + kAhead < hash_count) PrefetchBlock(blocks, hashes[i + kAhead]);
    std::byte* block = data + BlockOffset(blocks, hashes[i]);
    for (int probe = 0; probe < blocks.probes; ++probe) {
      const uint32_t bit = BitOf(hashes[i], probe);
      block[bit / 8] |= std::byte{1} << bit % 8;
    }
  }
}

constinit const BloomKernel kScalarKernel =
    KernelOfThisFile<>("scalar", AddScalar);

}  // namespace rowbloom
