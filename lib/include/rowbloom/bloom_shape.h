// The size of a plain Bloom filter, in which the bits of a key may lie
// anywhere. (bloom_math.h is about blocked ones.) After n keys a filter of m
// bits and k hashes has the false positive rate (1 - e^(-kn/m))^k (B. H. Bloom,
// 1970). All functions are pure and thread-safe.
#pragma once

#include <cstdint>

#include "rowbloom/result.h"

namespace rowbloom {

struct BloomShape {
  uint64_t bits = 0;  // a multiple of 64
  int hashes = 0;
};

// The most bits, counters or slots of a filter: 16 GiB of bits.
inline constexpr uint64_t kMaxFilterPlaces = uint64_t{1} << 37;

// The lowest target rate: the hashes do not have enough bits for a lower one.
inline constexpr double kMinFilterRate = 1e-15;

// The fewest bits that give `keys` (0 counts as 1) the rate. Error: a rate
// outside [kMinFilterRate, 1), or more than kMaxFilterPlaces bits.
Result<BloomShape> BloomShapeFor(uint64_t keys, double false_positive_rate);

// The rate after `keys` distinct keys. REQUIRES shape.bits > 0, hashes > 0.
double FalsePositiveRate(const BloomShape& shape, uint64_t keys);

}  // namespace rowbloom
