// Back substitution for the filter kind `ribbon`. Every kernel compiles it:
// the parity of a word is one instruction where the CPU has it. Linkage is
// internal, for the reason in bloom_block.h.
#pragma once

#include "lib/bytes/integers.h"
#include "lib/kernels/ribbon_equation.h"

namespace rowbloom {
namespace {

// Kernel::ribbon_solve. Registers hold some columns at a time. The loop goes
// from the last slot to the first, since the row of a slot has coefficients for
// it and the next 63.
void RibbonSolve(const RibbonSystem& system, const RibbonShape& layer,
                 int columns, std::byte* words) {
  constexpr int kTogether = 4;
  const int most = columns + (layer.first_wide < layer.blocks ? 1 : 0);
  for (int first = 0; first < most; first += kTogether) {
    // Bit k: the unknown of the slot k after the one just solved.
    uint64_t known[kTogether] = {};
    for (uint32_t block = layer.blocks; block-- > 0;) {
      const size_t start = size_t{block} * kSlotsOfBlock;
      for (size_t slot = start + kSlotsOfBlock; slot-- > start;) {
        const uint64_t others = system.rows[slot] >> 1;
        const uint32_t fingerprint = system.fingerprints[slot] >> first;
        for (int i = 0; i < kTogether; ++i) {
          const auto sum =
              static_cast<uint32_t>(__builtin_parityll(known[i] & others));
          known[i] = known[i] << 1 | ((sum ^ fingerprint >> i) & 1);
        }
      }
      uint64_t is_wide = 0;
      std::byte* to = words + 8 * WordsBefore(layer.first_wide,
                                              static_cast<uint64_t>(columns),
                                              block, &is_wide);
      const int count = columns + static_cast<int>(is_wide);
      for (int i = 0; i < kTogether && first + i < count; ++i) {
        StoreWord(known[i], to + 8 * (first + i));
      }
    }
  }
}

}  // namespace
}  // namespace rowbloom
