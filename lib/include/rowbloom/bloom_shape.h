// The size of a plain Bloom filter, one whose bits may lie anywhere in it, from
// the number of keys and the rate. (bloom_math.h is about blocked ones.)
//
// After n keys a filter of m bits and k hashes has the false positive rate
// p = (1 - e^(-kn/m))^k (B. H. Bloom, 1970), so that p takes
// m = -kn / ln(1 - p^(1/k)) bits, least near k = -log2 p. All functions are
// pure and thread-safe.
#pragma once

#include <cstdint>

#include "rowbloom/result.h"

namespace rowbloom {

struct BloomShape {
  uint64_t bits = 0;  // a multiple of 64
  int hashes = 0;
};

// 16 GiB of bits; or of anything else that a filter has so many of.
inline constexpr uint64_t kMaxFilterPlaces = uint64_t{1} << 37;

// The lowest rate that can be asked for: the hashes have bits for no less.
inline constexpr double kMinFilterRate = 1e-15;

// The least bits that give `keys` (0 counts as 1) the rate. Error: a rate
// outside [kMinFilterRate, 1), or more than kMaxFilterPlaces bits.
Result<BloomShape> BloomShapeFor(uint64_t keys, double false_positive_rate);

// The rate after `keys` distinct keys. REQUIRES shape.bits > 0, hashes > 0.
double FalsePositiveRate(const BloomShape& shape, uint64_t keys);

}  // namespace rowbloom
