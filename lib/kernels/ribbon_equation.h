// The rules of the filter kind `ribbon` that building and probing share;
// lib/block/FORMAT.md gives them in full. Linkage is internal, for the reason
// in bloom_block.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/bytes/integers.h"

namespace rowbloom {

// A layer, one of the systems of equations that make up a filter.
struct RibbonLayer {
  const std::byte* words = nullptr;   // the columns of its first block
  const std::byte* limits = nullptr;  // the last layer has none
  uint64_t starts = 0;                // slots that an equation may start at
  uint64_t first_wide = 0;  // blocks from here on have one more column
};

// A payload, parsed and checked, which has to outlive this.
struct RibbonFilter {
  static constexpr size_t kMaxLayers = 6;

  RibbonLayer layers[kMaxLayers];
  uint64_t columns = 0;  // each narrow block's
  uint8_t layer_count = 0;
  uint8_t seed = 0;  // the last layer's
};

namespace {

constexpr uint32_t kSlotsOfBlock = 64;  // and bits of an equation
constexpr uint32_t kSlotsOfBucket = 128;
// The slot in its bucket that each two-bit limit represents: keys that start
// before this slot go to the next layer.
constexpr uint32_t kLimits[4] = {0, 21, 51, kSlotsOfBucket};

// Remix returns another hash of a key, unless the salt is 0. The salt is
// kNextLayer for the next layer, and the seed for the last layer.
constexpr uint64_t kNextLayer = 256;
inline uint64_t Remix(uint64_t hash, uint64_t salt) {
  if (salt == 0) return hash;
  constexpr uint64_t kMultiplier = 0x0e9846af9b1a615d;
  uint64_t x = hash + salt * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 32) * kMultiplier;
  x = (x ^ x >> 32) * kMultiplier;
  return x ^ x >> 28;
}

// Returns the number of slots that an equation may start at, so that it ends
// within its layer.
inline uint64_t Starts(uint32_t blocks) {
  return uint64_t{blocks} * kSlotsOfBlock - (kSlotsOfBlock - 1);
}
// The first of the 64 slots of a key's equation.
inline uint64_t FirstSlot(uint64_t hash, uint64_t starts) {
  return HighProduct(hash, starts);
}
// Returns the slots that the equation adds up, the first one in the lowest bit.
// The first is always among them.
inline uint64_t Coefficients(uint64_t hash) {
  const uint64_t product = hash * 0x9e3779b97f4a7c15;
  return (product ^ product >> 32) | 1;
}
// The fingerprint is the exclusive or of these slots, with a bit for each
// column.
constexpr int kFingerprintBits = 24;
inline uint32_t Fingerprint(uint64_t hash) {
  return static_cast<uint32_t>((hash ^ hash >> 29) * 0xd6e8feb86659fd93 >>
                               (64 - kFingerprintBits));
}

// Tells whether a layer that is not the last answers for keys that start at
// `slot`.
inline bool LayerAnswers(const RibbonLayer& layer, uint64_t slot) {
  const uint64_t bucket = slot / kSlotsOfBucket;
  const auto four = static_cast<uint32_t>(layer.limits[bucket / 4]);
  return slot % kSlotsOfBucket >= kLimits[four >> (bucket % 4 * 2) & 3];
}

// Returns the number of words of a layer before `block`. *is_wide is 1 if the
// block itself has one column more, else 0. There is no branch, since a CPU
// cannot predict the block of a key.
inline uint64_t WordsBefore(uint64_t first_wide, uint64_t columns,
                            uint64_t block, uint64_t* is_wide) {
  const uint64_t past = block - first_wide;
  const uint64_t is_narrow = past >> 63;
  *is_wide = 1 - is_narrow;
  return block * columns + (past & (is_narrow - 1));
}

// The place of a key's equation in the columns: its coefficients are `low` for
// the words from `first` on and `high` for those from `second` on.
struct RibbonPlace {
  const std::byte* first;
  const std::byte* second;
  uint64_t low;
  uint64_t high;
  uint64_t columns;
};

inline RibbonPlace PlaceOf(const RibbonLayer& layer, uint64_t columns,
                           uint64_t hash, uint64_t slot) {
  const uint64_t shift = slot % kSlotsOfBlock;
  const uint64_t coefficients = Coefficients(hash);
  uint64_t is_wide = 0;
  const uint64_t words =
      WordsBefore(layer.first_wide, columns, slot / kSlotsOfBlock, &is_wide);
  RibbonPlace place;
  place.columns = columns + is_wide;
  place.first = layer.words + 8 * words;
  place.low = coefficients << shift;
  if (shift == 0) [[unlikely]] {
    // An equation that ends with its block needs no other block. In the last
    // block all of them do.
    place.second = place.first;
    place.high = 0;
  } else {
    place.second = place.first + 8 * place.columns;
    place.high = coefficients >> (kSlotsOfBlock - shift);
  }
  return place;
}

// Starts loading the words of the first layer. Always inlined, as
// PrefetchBlock.
[[gnu::always_inline]] inline void PrefetchRibbon(const RibbonFilter& filter,
                                                  uint64_t hash) {
  const RibbonLayer& layer = filter.layers[0];
  const uint64_t first =
      filter.layer_count == 1 ? Remix(hash, filter.seed) : hash;
  uint64_t is_wide = 0;
  const std::byte* words =
      layer.words +
      8 * WordsBefore(layer.first_wide, filter.columns,
                      FirstSlot(first, layer.starts) / kSlotsOfBlock, &is_wide);
  __builtin_prefetch(words);
  // An equation needs two blocks. Three cache lines cover both if they have up
  // to 8 columns, whatever their alignment.
  __builtin_prefetch(words + 64);
  __builtin_prefetch(words + 16 * filter.columns - 1);
}

}  // namespace
}  // namespace rowbloom
