// The loops that all kernels share, around the few functions that each
// instruction set implements itself. Every kernel file compiles them; linkage
// is internal, for the reason in bloom_block.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lib/bytes/integers.h"
#include "lib/kernels/bloom_block.h"
#include "lib/kernels/kernel.h"
#include "lib/kernels/ribbon_equation.h"

namespace rowbloom {
namespace {

// Tells whether a block has the bits of a hash.
using HasBits = bool(const std::byte* block, uint64_t hash, int probes);

constexpr int kLanes = 8;
// Tells the same of the probes from `first` on, kLanes at most.
using HasBitsFrom = bool(int first, const std::byte* block, uint64_t hash,
                         int probes);

// Implements HasBits by kLanes probes at a time.
template <HasBitsFrom kHasBitsFrom>
inline bool HasLanes(const std::byte* block, uint64_t hash, int probes) {
  if (probes <= kLanes) return kHasBitsFrom(0, block, hash, probes);
  return kHasBitsFrom(0, block, hash, kLanes) &&
         kHasBitsFrom(kLanes, block, hash, probes);
}

// Implements Kernel::may_contain.
template <HasBits kHasBits>
bool MayContain(const BloomBlocks& blocks, uint64_t hash) {
  return kHasBits(blocks.data + BlockOffset(blocks, hash), hash, blocks.probes);
}

// Implements Kernel::sections_with. Values that depend on the hash alone are
// computed once, and all blocks are fetched before the first is tested.
template <HasBits kHasBits>
uint32_t SectionsWith(const BloomBlocks* sections, size_t count,
                      uint64_t hash) {
  const int probes = sections[0].probes;
  const std::byte* blocks[Kernel::kMaxMany];
  for (size_t i = 0; i < count; ++i) {
    PrefetchBlock(sections[i], hash);
    blocks[i] = sections[i].data + BlockOffset(sections[i], hash);
  }
  uint32_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    found |= uint32_t{kHasBits(blocks[i], hash, probes)} << i;
  }
  return found;
}

// Implements Kernel::may_contain_many and ribbon_may_contain_many by the
// function for one hash.
template <typename Section, bool kMayContain(const Section&, uint64_t)>
uint32_t Many(const Section& section, const uint64_t* hashes, size_t count) {
  uint32_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    found |= uint32_t{kMayContain(section, hashes[i])} << i;
  }
  return found;
}

constexpr size_t kKeysTogether = 8;

// Starts loading the blocks of kKeysTogether hashes and writes their offsets,
// which fit 32 bits in any section.
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

// Implements Kernel::add. Blocks are fetched one group ahead, so that a cache
// miss overlaps with the work on the other group.
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

// Tells whether the columns of a place give a fingerprint.
using ColumnsGive = bool(const RibbonPlace& place, uint32_t fingerprint);

// Implements ColumnsGive by eight columns at a time: kEightGive tests those
// from `first` on.
template <bool kEightGive(const RibbonPlace& place, uint64_t first,
                          uint32_t fingerprint)>
inline bool ColumnsGiveByEight(const RibbonPlace& place, uint32_t fingerprint) {
  for (uint64_t first = 0;; first += 8) {
    const bool give = kEightGive(place, first, fingerprint);
    if (first + 8 >= place.columns) return give;
    // Most absent keys end here, and present ones never.
    if (!give) return false;
  }
}

// The parity of each lane of 64 bits, folded into its top bit.
template <typename Vector>
inline Vector Parities(Vector x) {
  x ^= x << 32;
  x ^= x << 16;
  x ^= x << 8;
  x ^= x << 4;
  x ^= x << 2;
  return x ^ x << 1;
}

// Implements ColumnsGive without special instructions.
inline bool ColumnsGiveInTurn(const RibbonPlace& place, uint32_t fingerprint) {
  uint32_t wrong = 0;
  for (uint64_t i = 0; i < place.columns; ++i) {
    const uint64_t met = (LoadWord(place.first + 8 * i) & place.low) ^
                         (LoadWord(place.second + 8 * i) & place.high);
    wrong |=
        static_cast<uint32_t>(__builtin_parityll(met)) ^ (fingerprint >> i & 1);
  }
  return wrong == 0;
}

// Implements Kernel::ribbon_may_contain: finds the layer that answers for the
// key, and tells whether it gives the key's fingerprint.
template <ColumnsGive kColumnsGive>
bool RibbonMayContain(const RibbonFilter& filter, uint64_t hash) {
  const RibbonLayer* layer = filter.layers;
  const RibbonLayer* const last = layer + filter.layer_count - 1;
  uint64_t slot = 0;
  for (;; ++layer) {
    if (layer == last) {
      hash = Remix(hash, filter.seed);
      slot = FirstSlot(hash, layer->starts);
      break;
    }
    slot = FirstSlot(hash, layer->starts);
    if (LayerAnswers(*layer, slot)) break;
    hash = Remix(hash, kNextLayer);
  }
  return kColumnsGive(PlaceOf(*layer, filter.columns, hash, slot),
                      Fingerprint(hash));
}

// Makes the table of a kernel from the functions that it implements itself.
template <HasBits kHasBits, ColumnsGive kColumnsGive, auto kAdd>
constexpr Kernel KernelOf(std::string_view name) {
  return {
      .name = name,
      .may_contain = MayContain<kHasBits>,
      .may_contain_many = Many<BloomBlocks, MayContain<kHasBits>>,
      .sections_with = SectionsWith<kHasBits>,
      .ribbon_may_contain = RibbonMayContain<kColumnsGive>,
      .ribbon_may_contain_many =
          Many<RibbonFilter, RibbonMayContain<kColumnsGive>>,
      .add = kAdd,
  };
}

}  // namespace
}  // namespace rowbloom
