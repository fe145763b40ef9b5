// The head of Guava's BloomFilter.writeTo: the strategy, the number of hashes,
// and the number of 64-bit words, a big-endian int. The words follow,
// big-endian, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace rowbloom::guava {

inline constexpr size_t kHeadBytes = 6;
inline constexpr uint64_t kMaxWords = std::numeric_limits<int32_t>::max();
inline constexpr int kMaxHashes = 255;
inline constexpr uint8_t kStrategies = 2;

struct Head {
  uint8_t strategy;
  uint8_t hashes;
  uint32_t words;
};

// REQUIRES bytes.size() >= kHeadBytes.
inline Head ReadHead(std::string_view bytes) {
  const auto byte = [bytes](size_t at) {
    return static_cast<uint8_t>(bytes[at]);
  };
  return {byte(0), byte(1),
          uint32_t{byte(2)} << 24 | uint32_t{byte(3)} << 16 |
              uint32_t{byte(4)} << 8 | byte(5)};
}

inline bool LooksLikeIt(std::string_view bytes) {
  if (bytes.size() < kHeadBytes) return false;
  const Head head = ReadHead(bytes);
  return head.strategy < kStrategies && head.hashes > 0 && head.words > 0 &&
         bytes.size() == kHeadBytes + uint64_t{head.words} * 8;
}

}  // namespace rowbloom::guava
