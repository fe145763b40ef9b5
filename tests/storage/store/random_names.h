// Random choices of the model tests: rows and qualifiers, few enough to be met
// again, and options.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <string>

#include "rowbloom/key_layout.h"
#include "tests/support/random.h"

namespace rowbloom::test {

// Bytes that the escaped layout treats specially are as likely as all others
// together.
inline std::string RandomName(size_t byte_count, Random* random) {
  constexpr char kSpecial[] = {'\x00', '\x01', '\xff', 'a'};
  std::string bytes(byte_count, '\0');
  for (char& byte : bytes) byte = kSpecial[random->Below(4)];
  return bytes;
}

// A row of the layout, of up to `most_bytes` where that is free.
inline std::string RandomRowOf(const KeyLayout& layout, uint64_t most_bytes,
                               Random* random) {
  const auto fixed = layout.FixedRowBytes();
  return RandomName(fixed ? *fixed : 1 + random->Below(most_bytes), random);
}

// StoreOptions::front_filter_limit_bytes: none, room for some files, or no
// limit.
inline uint64_t RandomFrontFilterLimit(Random* random) {
  constexpr uint64_t kLimits[] = {0, 4096,
                                  std::numeric_limits<uint64_t>::max()};
  return kLimits[random->Below(std::size(kLimits))];
}

}  // namespace rowbloom::test
