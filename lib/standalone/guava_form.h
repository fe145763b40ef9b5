// The parts that follow Guava's BloomFilter: the head of its writeTo, and the
// places of a key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "lib/standalone/key_hash.h"
#include "rowbloom/classic_bloom_filter.h"

namespace rowbloom::guava {

// The head has the strategy, the number of hashes, and the number of 64-bit
// words as a big-endian int. The words follow, big-endian, too.
inline constexpr size_t kHeadBytes = 6;

// Empty, or why the bytes are not of Guava's form, with the offset.
std::string Problem(std::string_view bytes);

// Calls `visit(place)` for each place of the hash, as Guava's strategies do,
// until it returns false. Returns true if it never did.
template <typename Visit>
bool VisitPlaces(const Hash128& hash, ClassicStrategy strategy, int hashes,
                 uint64_t bits, const Visit& visit) {
  if (strategy == ClassicStrategy::kMurmur128Mitz32) {
    const auto first = static_cast<uint32_t>(hash.low);
    const auto step = static_cast<uint32_t>(hash.low >> 32);
    uint32_t sum = first;
    for (int i = 0; i < hashes; ++i) {
      sum += step;
      // Java's ~ of a negative int.
      const uint32_t place = (sum >> 31) != 0 ? ~sum : sum;
      if (!visit(place % bits)) return false;
    }
    return true;
  }
  constexpr auto kSignless =
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  uint64_t sum = hash.low;
  for (int i = 0; i < hashes; ++i, sum += hash.high) {
    if (!visit((sum & kSignless) % bits)) return false;
  }
  return true;
}

}  // namespace rowbloom::guava
