// Repeatable randomness for benchmarks.
#pragma once

#include <cstdint>

namespace rowbloom::bench {

// SplitMix64 (Steele, Lea, Flood, 2014): the same numbers with every library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // A bijection: xorshifts and odd multiplications can be undone.
  static constexpr uint64_t Mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  uint64_t Next() { return Mix(state_ += 0x9e3779b97f4a7c15); }
  // REQUIRES bound > 0.
  uint64_t Below(uint64_t bound) { return Next() % bound; }

 private:
  uint64_t state_;
};

}  // namespace rowbloom::bench
