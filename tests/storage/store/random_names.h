// Random rows and qualifiers for the model tests: few enough to be met again.
#pragma once

#include <cstdint>
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

}  // namespace rowbloom::test
