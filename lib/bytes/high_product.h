// The high half of a product, which maps a hash to a range without a division.
#pragma once

#include <cstdint>

namespace rowbloom {

// floor(a * b / 2^64): for a uniform hash `a`, uniform over [0, b) (D. Lemire,
// "Fast Random Integer Generation in an Interval", 2019). Always inlined, as
// kernel files use it.
[[gnu::always_inline]] inline uint64_t HighProduct(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(Wide{a} * b >> 64);
}

}  // namespace rowbloom
