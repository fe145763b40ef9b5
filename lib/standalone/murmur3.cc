#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "lib/bytes/little_endian.h"
#include "lib/standalone/key_hash.h"

namespace rowbloom {
namespace {

constexpr uint64_t kC1 = 0x87c37b91114253d5;
constexpr uint64_t kC2 = 0x4cf5ad432745937f;
constexpr size_t kBlockBytes = 16;

uint64_t MixLow(uint64_t word) { return std::rotl(word * kC1, 31) * kC2; }
uint64_t MixHigh(uint64_t word) { return std::rotl(word * kC2, 33) * kC1; }

uint64_t Finish(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
  return x ^ (x >> 33);
}

}  // namespace

Hash128 Murmur3(std::string_view bytes) {
  uint64_t low = 0;
  uint64_t high = 0;
  const char* data = bytes.data();
  size_t left = bytes.size();
  for (; left >= kBlockBytes; left -= kBlockBytes, data += kBlockBytes) {
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
  low = Finish(low);
  high = Finish(high);
  low += high;
  high += low;
  return {low, high};
}

}  // namespace rowbloom
