// Stride(most): the steps in which a test goes through all places of something:
// all calls of an opening, all bytes of a file. At full scale it is 1; below,
// by ROWBLOOM_TEST_SCALE, a test takes each n-th place, with n at most `most`.
//
//   for (size_t at = 0; at < bytes.size(); at += Stride(5)) { ... }
#pragma once

#include <algorithm>
#include <cstdint>

#include "tests/support/random.h"

namespace rowbloom::test {

inline uint64_t Stride(uint64_t most) {
  constexpr uint64_t kFull = 1000;
  return std::clamp<uint64_t>(kFull / Scaled(kFull), 1, most);
}

}  // namespace rowbloom::test
