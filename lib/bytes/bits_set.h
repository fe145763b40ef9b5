// The number of bits of some bytes that are set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace rowbloom {

// Eight bytes at a time, in sums of 2, 4 and 8 bits, then of the bytes:
// std::popcount is a call for each where a build may not assume the
// instruction, and filters have megabytes.
inline uint64_t BitsSet(std::string_view bytes) {
  uint64_t set = 0;
  while (!bytes.empty()) {
    const size_t taken = std::min(bytes.size(), sizeof(uint64_t));
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), taken);
    bytes.remove_prefix(taken);
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    set += word * 0x0101010101010101 >> 56;
  }
  return set;
}

}  // namespace rowbloom
