// The rules of the filter kind `ribbon` that building and asking share:
// lib/block/FORMAT.md gives them in full. Internal linkage throughout, for the
// reason in block_index.h.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace rowbloom {

// One of the systems of equations that make up a filter.
struct RibbonLayer {
  uint32_t blocks = 0;      // of 64 slots
  uint32_t first_wide = 0;  // blocks from here on have one more column
  uint32_t words_at = 0;    // offset of its columns in the payload
  uint32_t limits_at = 0;   // offset of its limits; the last layer has none
};

// A payload, parsed and checked.
struct RibbonFilter {
  static constexpr size_t kMaxLayers = 6;

  const std::byte* payload = nullptr;
  uint8_t columns = 0;  // of narrow blocks
  uint8_t layer_count = 0;
  uint8_t seed = 0;  // of the last layer
  RibbonLayer layers[kMaxLayers];
};

// A layer's system in echelon form, by slot: the coefficients of the row that
// starts there, from the lowest bit on, and its fingerprint; both zero where
// none does.
struct RibbonSystem {
  const uint64_t* rows;
  const uint32_t* fingerprints;
};

namespace {

constexpr uint32_t kSlotsOfBlock = 64;  // and bits of an equation
constexpr uint32_t kSlotsOfBucket = 128;
// Which keys of a bucket its two-bit limit sends to the next layer: those that
// start before this slot of it.
constexpr uint32_t kLimits[4] = {0, 21, 51, kSlotsOfBucket};

inline uint64_t HighProduct(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(Wide{a} * b >> 64);
}

// Another hash of a key, unless the salt is 0: kNextLayer takes it to the next
// layer, the seed of the last layer to another place in that.
constexpr uint64_t kNextLayer = 256;
inline uint64_t Remix(uint64_t hash, uint64_t salt) {
  if (salt == 0) return hash;
  constexpr uint64_t kMultiplier = 0x0e9846af9b1a615d;
  uint64_t x = hash + salt * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 32) * kMultiplier;
  x = (x ^ x >> 32) * kMultiplier;
  return x ^ x >> 28;
}

// The first of the 64 slots that a key's equation is about.
inline uint64_t FirstSlot(uint64_t hash, uint32_t blocks) {
  return HighProduct(hash,
                     uint64_t{blocks} * kSlotsOfBlock - (kSlotsOfBlock - 1));
}
// Which of them, from the lowest bit on; always the first.
inline uint64_t Coefficients(uint64_t hash) {
  const uint64_t product = hash * 0x9e3779b97f4a7c15;
  return (product ^ product >> 32) | 1;
}
// What their exclusive or shall be, a bit for each column.
constexpr int kFingerprintBits = 24;
inline uint32_t Fingerprint(uint64_t hash) {
  return static_cast<uint32_t>((hash ^ hash >> 29) * 0xd6e8feb86659fd93 >>
                               (64 - kFingerprintBits));
}

inline uint32_t Limit(const std::byte* limits, uint64_t bucket) {
  const auto four = static_cast<uint32_t>(limits[bucket / 4]);
  return kLimits[four >> (bucket % 4 * 2) & 3];
}

inline uint64_t LoadWord(const std::byte* from) {
  uint64_t word = 0;
  __builtin_memcpy(&word, from, sizeof(word));
  if constexpr (std::endian::native == std::endian::big) {
    word = __builtin_bswap64(word);
  }
  return word;
}

// Words of a layer before `block`.
inline uint64_t WordsBefore(const RibbonLayer& layer, int columns,
                            uint64_t block) {
  const uint64_t wide = block > layer.first_wide ? block - layer.first_wide : 0;
  return block * static_cast<uint64_t>(columns) + wide;
}

// Where the equation of a key meets the columns: it has `low` in the words from
// `first` on and `high` in those from `second` on.
struct RibbonPlace {
  const std::byte* first;
  const std::byte* second;
  uint64_t low;
  uint64_t high;
  int columns;
};

inline RibbonPlace PlaceOf(const RibbonFilter& filter, const RibbonLayer& layer,
                           uint64_t hash, uint64_t slot) {
  const uint64_t block = slot / kSlotsOfBlock;
  const auto shift = static_cast<int>(slot % kSlotsOfBlock);
  const uint64_t coefficients = Coefficients(hash);
  RibbonPlace place;
  place.columns = filter.columns + (block >= layer.first_wide ? 1 : 0);
  place.first = filter.payload + layer.words_at +
                8 * WordsBefore(layer, filter.columns, block);
  // An equation that ends with its block needs no other; the last block has
  // only such.
  place.second = shift == 0 ? place.first : place.first + 8 * place.columns;
  place.low = coefficients << shift;
  place.high = shift == 0 ? 0 : coefficients >> (kSlotsOfBlock - shift);
  return place;
}

// Starts loading what the first layer needs. Always inline, as PrefetchBlock.
[[gnu::always_inline]] inline void PrefetchRibbon(const RibbonFilter& filter,
                                                  uint64_t hash) {
  const RibbonLayer& layer = filter.layers[0];
  const uint64_t first =
      filter.layer_count == 1 ? Remix(hash, filter.seed) : hash;
  const uint64_t block = FirstSlot(first, layer.blocks) / kSlotsOfBlock;
  const std::byte* words = filter.payload + layer.words_at +
                           8 * WordsBefore(layer, filter.columns, block);
  __builtin_prefetch(words);
  // Two blocks of columns: three cache lines cover up to 8 columns, whatever
  // their alignment.
  __builtin_prefetch(words + 64);
  __builtin_prefetch(words + 16 * filter.columns - 1);
}

// Whether the columns give the fingerprint: what a kernel without instructions
// for it takes as its ColumnsGive.
inline bool ColumnsGiveScalar(const RibbonPlace& place, uint32_t fingerprint) {
  uint32_t wrong = 0;
  for (int i = 0; i < place.columns; ++i) {
    const uint64_t met = (LoadWord(place.first + 8 * i) & place.low) ^
                         (LoadWord(place.second + 8 * i) & place.high);
    wrong |=
        static_cast<uint32_t>(__builtin_parityll(met)) ^ (fingerprint >> i & 1);
  }
  return wrong == 0;
}

// Whether the layer that is responsible for the key gives its fingerprint.
template <bool Gives(const RibbonPlace&, uint32_t)>
inline bool RibbonMayContain(const RibbonFilter& filter, uint64_t hash) {
  const RibbonLayer* layer = filter.layers;
  const RibbonLayer* const last = layer + filter.layer_count - 1;
  for (; layer != last; ++layer) {
    const uint64_t slot = FirstSlot(hash, layer->blocks);
    if (slot % kSlotsOfBucket >=
        Limit(filter.payload + layer->limits_at, slot / kSlotsOfBucket)) {
      return Gives(PlaceOf(filter, *layer, hash, slot), Fingerprint(hash));
    }
    hash = Remix(hash, kNextLayer);
  }
  hash = Remix(hash, filter.seed);
  return Gives(PlaceOf(filter, *last, hash, FirstSlot(hash, last->blocks)),
               Fingerprint(hash));
}

}  // namespace
}  // namespace rowbloom
