#include "storage/hfile/bloom_hash.h"

#include <bit>
#include <cstddef>

#include "storage/format/coding.h"

namespace rowbloom::hfile {
namespace {

// Loads up to four bytes, with zeros after them.
uint32_t LoadTail(std::string_view bytes) {
  return static_cast<uint32_t>(LoadBytes(bytes.data(), bytes.size()));
}

uint32_t Jenkins(std::string_view bytes, uint32_t seed) {
  const auto start = 0xdeadbeef + static_cast<uint32_t>(bytes.size()) + seed;
  uint32_t a = start;
  uint32_t b = start;
  uint32_t c = start;
  // The last block, full or not, is mixed in another way.
  while (bytes.size() > 12) {
    a += LoadFixed<uint32_t>(bytes.data());
    b += LoadFixed<uint32_t>(bytes.data() + 4);
    c += LoadFixed<uint32_t>(bytes.data() + 8);
    a = (a - c) ^ std::rotl(c, 4), c += b;
    b = (b - a) ^ std::rotl(a, 6), a += c;
    c = (c - b) ^ std::rotl(b, 8), b += a;
    a = (a - c) ^ std::rotl(c, 16), c += b;
    b = (b - a) ^ std::rotl(a, 19), a += c;
    c = (c - b) ^ std::rotl(b, 4), b += a;
    bytes.remove_prefix(12);
  }
  if (bytes.empty()) return c;
  a += LoadTail(bytes.substr(0, 4));
  if (bytes.size() > 4) b += LoadTail(bytes.substr(4, 4));
  if (bytes.size() > 8) c += LoadTail(bytes.substr(8));
  c = (c ^ b) - std::rotl(b, 14);
  a = (a ^ c) - std::rotl(c, 11);
  b = (b ^ a) - std::rotl(a, 25);
  c = (c ^ b) - std::rotl(b, 16);
  a = (a ^ c) - std::rotl(c, 4);
  b = (b ^ a) - std::rotl(a, 14);
  return (c ^ b) - std::rotl(b, 24);
}

uint32_t Murmur(std::string_view bytes, uint32_t seed) {
  constexpr uint32_t kMultiplier = 0x5bd1e995;
  constexpr int kShift = 24;
  uint32_t h = seed ^ static_cast<uint32_t>(bytes.size());
  while (bytes.size() >= 4) {
    uint32_t k = LoadFixed<uint32_t>(bytes.data()) * kMultiplier;
    k = (k ^ k >> kShift) * kMultiplier;
    h = h * kMultiplier ^ k;
    bytes.remove_prefix(4);
  }
  if (!bytes.empty()) {
    // Signed: a byte over 0x7f flips the bits above it, too.
    for (size_t i = bytes.size(); i-- > 0;) {
      h ^= static_cast<uint32_t>(static_cast<int8_t>(bytes[i])) << (8 * i);
    }
    h *= kMultiplier;
  }
  h = (h ^ h >> 13) * kMultiplier;
  return h ^ h >> 15;
}

uint32_t Murmur3(std::string_view bytes, uint32_t seed) {
  const auto scrambled = [](uint32_t k) {
    return std::rotl(k * 0xcc9e2d51, 15) * 0x1b873593;
  };
  const auto length = static_cast<uint32_t>(bytes.size());
  uint32_t h = seed;
  while (bytes.size() >= 4) {
    h = std::rotl(h ^ scrambled(LoadFixed<uint32_t>(bytes.data())), 13) * 5 +
        0xe6546b64;
    bytes.remove_prefix(4);
  }
  if (!bytes.empty()) h ^= scrambled(LoadTail(bytes));
  h ^= length;
  h = (h ^ h >> 16) * 0x85ebca6b;
  h = (h ^ h >> 13) * 0xc2b2ae35;
  return h ^ h >> 16;
}

}  // namespace

uint32_t BloomHash(HFileHash hash, std::string_view bytes, uint32_t seed) {
  switch (hash) {
    case HFileHash::kJenkins:
      return Jenkins(bytes, seed);
    case HFileHash::kMurmur:
      return Murmur(bytes, seed);
    case HFileHash::kMurmur3:
      return Murmur3(bytes, seed);
  }
  return 0;
}

}  // namespace rowbloom::hfile

namespace rowbloom {

std::string_view ToString(HFileHash hash) {
  switch (hash) {
    case HFileHash::kJenkins:
      return "jenkins";
    case HFileHash::kMurmur:
      return "murmur";
    case HFileHash::kMurmur3:
      return "murmur3";
  }
  return "unknown hash";
}

}  // namespace rowbloom
