// The arithmetic of blocked Bloom filters: false positive rate <-> bits per
// key, for filters that put all bits of a key into one 512-bit block.
// doc/planning.md has the model. All functions are pure, thread-safe and never
// fail.
#pragma once

#include <cstdint>

namespace rowbloom {

// One block of the `bloom` filter kind.
inline constexpr int kBloomBlockBits = 512;
inline constexpr int kBloomBlockBytes = kBloomBlockBits / 8;

// Limits of the `bloom` filter kind. 64 bits per key give a rate of about 1e-8;
// spending more cannot be told from never being wrong.
inline constexpr double kMinBitsPerKey = 1.0;
inline constexpr double kMaxBitsPerKey = 64.0;
inline constexpr int kMaxProbes = 16;

// Tells whether `rate` is a usable target: inside (0, 1), not NaN.
bool IsFalsePositiveRate(double rate);

// The probability that an absent key passes a block-wise filled filter with
// `bits_per_key` > 0 and 1 <= `probes` <= kMaxProbes. Large filters: the number
// of keys per block is taken as Poisson distributed.
double BlockedFalsePositiveRate(double bits_per_key, int probes);

// The same for a given filter: `keys` distinct keys in `blocks` blocks, which
// matters when there are few (the distribution is then binomial).
// No keys: 0. No blocks: 1.
double BlockedFalsePositiveRate(uint64_t keys, uint64_t blocks, int probes);

// The number of probes that gives the lowest rate at `bits_per_key`.
int BestProbes(double bits_per_key);

// The rate of a filter with `bits_per_key` (clamped to [kMinBitsPerKey,
// kMaxBitsPerKey]) and the best number of probes. Strictly decreasing.
double FalsePositiveRate(double bits_per_key);

// Inverse of FalsePositiveRate: the bits per key that reach `rate`, clamped to
// [kMinBitsPerKey, kMaxBitsPerKey]. REQUIRES IsFalsePositiveRate(rate).
double BitsPerKey(double rate);

}  // namespace rowbloom
