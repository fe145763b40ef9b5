#include <bit>
#include <cstddef>
#include <cstdint>

#include "lib/bytes/little_endian.h"
#include "lib/standalone/key_hash.h"

namespace rowbloom {
namespace {

// The names of the paper, section 2.
struct State {
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

}  // namespace

Hash128 SipHash(const FilterSecret& secret, std::string_view bytes) {
  const auto* key = reinterpret_cast<const char*>(secret.data());
  const uint64_t k0 = LoadWord(key);
  const uint64_t k1 = LoadWord(key + 8);
  State state = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee,
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

}  // namespace rowbloom
