#include "lib/kernels/block_index.h"
#include "lib/kernels/kernel.h"

namespace rowbloom {
namespace {

uint32_t BitOf(uint64_t hash, int probe) {
  return (static_cast<uint32_t>(hash) * kLaneMultipliers[probe]) >> 23;
}

bool MayContain(const BloomBlocks& blocks, uint64_t hash) {
  const std::byte* block = blocks.data + BlockOffset(blocks, hash);
  // All probes, without a branch: where an absent key fails cannot be foreseen,
  // and a wrong guess costs more than the probes that it saves.
  std::byte found{1};
  for (int i = 0; i < blocks.probes; ++i) {
    const uint32_t bit = BitOf(hash, i);
    found &= block[bit / 8] >> bit % 8;
  }
  return found != std::byte{};
}

inline bool ColumnsGive(const RibbonPlace& place, uint32_t fingerprint) {
  return ColumnsGiveScalar(place, fingerprint);
}

}  // namespace
}  // namespace rowbloom

#include "lib/kernels/match.h"

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
    KernelOfThisFile("scalar", AddScalar);

}  // namespace rowbloom
