#include "lib/kernels/kernel_parts.h"

namespace rowbloom {
namespace {

// Makes all probes, without a branch on their bits: a CPU cannot predict the
// first probe that fails, and a misprediction costs more than the probes that a
// branch would save.
inline bool BlockHasBits(const std::byte* block, uint64_t hash, int probes) {
  std::byte found{1};
  for (int i = 0; i < probes; ++i) {
    const uint32_t bit = BitOf(hash, i);
    found &= block[bit / 8] >> bit % 8;
  }
  return found != std::byte{};
}

}  // namespace

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

constinit const Kernel kScalarKernel =
    KernelOf<BlockHasBits, ColumnsGiveInTurn, AddScalar>("scalar");

}  // namespace rowbloom
