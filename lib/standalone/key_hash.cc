#include "lib/standalone/key_hash.h"

#include <algorithm>
#include <bit>

#include "lib/block/hash.h"

namespace rowbloom {
namespace {

// The state of SipHash, with the names of the paper, section 2.
struct SipState {
  uint64_t v0, v1, v2, v3;

  void Rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32) + v3;
      v2 += v1;
      v3 = std::rotl(v3, 21) ^ v0;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  }

  void Absorb(uint64_t word) {
    v3 ^= word;
    Rounds(2);
    v0 ^= word;
  }

  uint64_t Sum() const { return v0 ^ v1 ^ v2 ^ v3; }
};

constexpr uint64_t kMurmur1 = 0x87c37b91114253d5;
constexpr uint64_t kMurmur2 = 0x4cf5ad432745937f;

uint64_t MixLow(uint64_t word) {
  return std::rotl(word * kMurmur1, 31) * kMurmur2;
}

uint64_t MixHigh(uint64_t word) {
  return std::rotl(word * kMurmur2, 33) * kMurmur1;
}

uint64_t FinishMurmur(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
  return x ^ (x >> 33);
}

}  // namespace

Hash128 HashKey(const std::optional<FilterSecret>& secret,
                std::string_view key) {
  if (secret) return SipHash(*secret, key);
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  return {hash.low64, hash.high64};
}

Hash128 SipHash(const FilterSecret& secret, std::string_view bytes) {
  const uint64_t k0 = LoadWord(secret.data());
  const uint64_t k1 = LoadWord(secret.data() + 8);
  SipState state = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee,
                    k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573};
  const char* data = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, data += 8) state.Absorb(LoadWord(data));
  state.Absorb(LoadBytes(data, left) | uint64_t{bytes.size()} << 56);

  state.v2 ^= 0xee;
  state.Rounds(4);
  const uint64_t low = state.Sum();
  state.v1 ^= 0xdd;
  state.Rounds(4);
  return {low, state.Sum()};
}

Hash128 Murmur3(std::string_view bytes) {
  uint64_t low = 0;
  uint64_t high = 0;
  const char* data = bytes.data();
  size_t left = bytes.size();
  for (; left >= 16; left -= 16, data += 16) {
    low ^= MixLow(LoadWord(data));
    low = (std::rotl(low, 27) + high) * 5 + 0x52dce729;
    high ^= MixHigh(LoadWord(data + 8));
    high = (std::rotl(high, 31) + low) * 5 + 0x38495ab5;
  }
  low ^= MixLow(LoadBytes(data, std::min<size_t>(left, 8)));
  if (left > 8) high ^= MixHigh(LoadBytes(data + 8, left - 8));

  low ^= bytes.size();
  high ^= bytes.size();
  low += high;
  high += low;
  low = FinishMurmur(low);
  high = FinishMurmur(high);
  low += high;
  high += low;
  return {low, high};
}

}  // namespace rowbloom
