// Hashes of keys, and the places in a filter that follow from a hash.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/bytes/integers.h"
#include "rowbloom/bloom_shape.h"
#include "rowbloom/filter_form.h"

namespace rowbloom {

// The two halves of a hash of 128 bits. `low` has bytes 0 to 7 of the hash as
// it is published, `high` bytes 8 to 15, each little-endian.
struct Hash128 {
  uint64_t low;
  uint64_t high;
};

// XXH3-128, or SipHash with a secret.
Hash128 HashKey(const std::optional<FilterSecret>& secret,
                std::string_view key);

// SipHash-2-4 with 128 bits of output: the hash of filters with a secret.
Hash128 SipHash(const FilterSecret& secret, std::string_view bytes);

// MurmurHash3 x64-128, seed 0, as Guava's Hashing.murmur3_128(): the hash of
// classic filters. Public domain algorithm by Austin Appleby (SMHasher,
// MurmurHash3_x64_128).
Hash128 Murmur3(std::string_view bytes);

// Calls `visit(place)` for each place of a key in a filter of the shape, until
// it returns false. Returns true if it never did.
//
// The places come from a linear congruential generator that starts at one half
// of the hash and adds the other. It is as cheap as adding alone (A. Kirsch, M.
// Mitzenmacher, "Less Hashing, Same Performance", 2008), which puts places at
// equal distances and so raises the rate of small filters. Multiplier: G.
// Steele, S. Vigna, "Computationally easy, spectrally good multipliers for
// congruential pseudorandom number generators", 2021.
template <typename Visit>
bool VisitPlaces(const Hash128& hash, const BloomShape& shape,
                 const Visit& visit) {
  uint64_t state = hash.low;
  for (int i = 0; i < shape.hashes; ++i) {
    if (!visit(HighProduct(state, shape.bits))) return false;
    state = state * 0xd1342543de82ef95 + hash.high;
  }
  return true;
}

}  // namespace rowbloom
