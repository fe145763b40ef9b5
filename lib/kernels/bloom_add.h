// The loop that adds hashes to the blocks of a Bloom section.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/kernels/bloom_block.h"
#include "lib/kernels/kernel.h"

namespace rowbloom {
namespace {

constexpr size_t kKeysTogether = 8;

// Starts loading the blocks of kKeysTogether hashes and writes where they
// start. No section is larger than 32 bits can tell.
inline void FetchBlocks(const BloomBlocks& blocks, const uint64_t* hashes,
                        uint32_t* offsets) {
  for (size_t i = 0; i < kKeysTogether; ++i) {
    PrefetchBlock(blocks, hashes[i]);
    offsets[i] = static_cast<uint32_t>(BlockOffset(blocks, hashes[i]));
  }
}

// Sets the bits of kKeysTogether hashes whose blocks start at `offsets`, which
// are aligned to 32 bytes.
using AddGroup = void(std::byte* data, const uint64_t* hashes,
                      const uint32_t* offsets, int probes);

// Kernel::add. Blocks are fetched one group ahead, which hides a miss to
// memory behind the work on the other group.
template <AddGroup kAddGroup>
void Add(const BloomBlocks& blocks, std::byte* data, const uint64_t* hashes,
         size_t hash_count) {
  alignas(32) uint32_t offsets[2][kKeysTogether];
  const size_t whole = hash_count - hash_count % kKeysTogether;
  if (whole > 0) FetchBlocks(blocks, hashes, offsets[0]);
  for (size_t at = 0; at < whole; at += kKeysTogether) {
    const size_t turn = at / kKeysTogether % 2;
    if (at + kKeysTogether < whole) {
      FetchBlocks(blocks, hashes + at + kKeysTogether, offsets[1 - turn]);
    }
    kAddGroup(data, hashes + at, offsets[turn], blocks.probes);
  }
  AddScalar(blocks, data, hashes + whole, hash_count - whole);
}

}  // namespace
}  // namespace rowbloom
