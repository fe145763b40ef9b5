#include "lib/kernels/matcher.h"

#include "lib/kernels/block_index.h"

namespace rowbloom {

BloomSection::BloomSection(const BloomBlocks& blocks) : BloomBlocks(blocks) {
  for (int i = 0; i < kFewLanes; ++i) {
    multipliers[static_cast<size_t>(i)] = kLaneMultipliers[i < probes ? i : 0];
  }
}

}  // namespace rowbloom
