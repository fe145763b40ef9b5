// Setting the bits of eight keys at a time, while the blocks of the next eight
// are fetched. Internal linkage throughout, for the reason in block_index.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/kernels/block_index.h"
#include "lib/kernels/kernel.h"

namespace rowbloom {
namespace {

constexpr size_t kKeysTogether = 8;

// Where the blocks of kKeysTogether hashes start. No section is larger than
// 32 bits can tell.
inline void FetchBlocks(const BloomBlocks& blocks, const uint64_t* hashes,
                        uint32_t* offsets) {
  for (size_t i = 0; i < kKeysTogether; ++i) {
    const size_t offset = BlockOffset(blocks, hashes[i]);
    __builtin_prefetch(blocks.data + offset);
    __builtin_prefetch(blocks.data + offset + kBlockBytes - 1);
    offsets[i] = static_cast<uint32_t>(offset);
  }
}

// Sets the bits of kKeysTogether hashes whose blocks start at `offsets`, which
// are aligned to 32 bytes. Each kernel has its own.
void AddTogether(std::byte* data, const uint64_t* hashes,
                 const uint32_t* offsets, int probes);

// BloomKernel::add.
void Add(const BloomBlocks& blocks, std::byte* data, const uint64_t* hashes,
         size_t hash_count) {
  const int probes = blocks.probes;
  // Blocks are fetched one group ahead, to hide a miss to memory behind the
  // work on the other.
  alignas(32) uint32_t offsets[2][kKeysTogether];
  const size_t whole = hash_count - hash_count % kKeysTogether;
  if (whole > 0) FetchBlocks(blocks, hashes, offsets[0]);
  for (size_t at = 0; at < whole; at += kKeysTogether) {
    const size_t turn = at / kKeysTogether % 2;
    if (at + kKeysTogether < whole) {
      FetchBlocks(blocks, hashes + at + kKeysTogether, offsets[1 - turn]);
    }
    AddTogether(data, hashes + at, offsets[turn], probes);
  }
  AddScalar(blocks, data, hashes + whole, hash_count - whole);
}

}  // namespace
}  // namespace rowbloom
