// From a key to a hash, and from a hash to places in a filter.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "rowbloom/filter_secret.h"

namespace rowbloom {

struct Hash128 {
  uint64_t low;
  uint64_t high;
};

// XXH3-128, or with a secret SipHash-2-4-128.
Hash128 HashKey(const std::optional<FilterSecret>& secret,
                std::string_view key);

// A number in [0, count), as evenly as the hash allows: floor(hash * count /
// 2^64).
inline uint64_t Reduce(uint64_t hash, uint64_t count) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((Wide{hash} * count) >> 64);
}

// The places of a key in a plain Bloom filter. A linear congruential generator
// that starts at one half of the hash and adds the other: as cheap as adding
// alone (A. Kirsch, M. Mitzenmacher, "Less Hashing, Same Performance", 2008),
// but places do not stand at equal distances, which costs small filters some of
// their rate. Multiplier: G. Steele, S. Vigna, "Computationally easy,
// spectrally good multipliers for congruential pseudorandom number generators",
// 2021.
class Places {
 public:
  Places(const Hash128& hash, uint64_t count)
      : state_(hash.low), step_(hash.high), count_(count) {}

  uint64_t Next() {
    const uint64_t place = Reduce(state_, count_);
    state_ = state_ * 0xd1342543de82ef95 + step_;
    return place;
  }

 private:
  uint64_t state_;
  uint64_t step_;
  uint64_t count_;
};

}  // namespace rowbloom
