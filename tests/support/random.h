// Repeatable randomness for tests. The seed is ROWBLOOM_SEED, or a constant
// when that is not set; main.cc prints it when a test fails, which can be run
// again so. ROWBLOOM_TEST_SCALE (default 1.0) stretches or shortens the long
// tests.
//
//   Random random(SeedFromEnv());
//   for (uint64_t i = 0; i < Scaled(50'000); ++i) { ... random.Below(10) ... }
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace rowbloom::test {

inline uint64_t SeedFromEnv() {
  const char* text = std::getenv("ROWBLOOM_SEED");
  return text == nullptr ? 20220407 : std::strtoull(text, nullptr, 0);
}

// `count` times ROWBLOOM_TEST_SCALE, at least 1.
inline uint64_t Scaled(uint64_t count) {
  const char* text = std::getenv("ROWBLOOM_TEST_SCALE");
  const double scale = text == nullptr ? 1.0 : std::strtod(text, nullptr);
  return std::max<uint64_t>(
      1, static_cast<uint64_t>(static_cast<double>(count) * scale));
}

// The output function of SplitMix64 (Steele, Lea, Flood, "Fast Splittable
// Pseudorandom Number Generators", 2014). A bijection: xorshifts and odd
// multiplications can be undone.
constexpr uint64_t Mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Eight bytes that look random and differ for every `index`, as both steps are
// bijections. Another `stream` gives another order of the same 2^64 keys.
inline std::string DistinctKey(uint64_t index, uint64_t stream = 0) {
  const uint64_t x = Mix64(index * 0x9e3779b97f4a7c15 + Mix64(stream));
  std::string key(8, '\0');
  for (int i = 0; i < 8; ++i) key[i] = static_cast<char>(x >> (8 * i));
  return key;
}

// SplitMix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() { return Mix64(state_ += 0x9e3779b97f4a7c15); }

  // In [0, bound). REQUIRES bound > 0. The bias is below bound / 2^64.
  uint64_t Below(uint64_t bound) { return Next() % bound; }

  // True once in `n` times on average. REQUIRES n > 0.
  bool OneIn(uint64_t n) { return Below(n) == 0; }

  std::string Bytes(size_t byte_count) {
    std::string bytes(byte_count, '\0');
    for (char& byte : bytes) byte = static_cast<char>(Next());
    return bytes;
  }

 private:
  uint64_t state_;
};

}  // namespace rowbloom::test
