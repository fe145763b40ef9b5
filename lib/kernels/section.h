// One section asked for a hash. A kernel file includes this after its
// MayContainFew, MayContainMany and ColumnsGive. Internal linkage throughout,
// for the reason in block_index.h.
#pragma once

#include "lib/kernels/block_index.h"
#include "lib/kernels/matcher.h"
#include "lib/kernels/ribbon_probe.h"

namespace rowbloom {
namespace {

inline bool MayContain(const BloomBlocks& blocks, uint64_t hash) {
  return blocks.probes <= kFewProbes ? MayContainFew(blocks, hash)
                                     : MayContainMany(blocks, hash);
}

// Whether Contains<kSections> can answer for this hash, as it can for nearly
// all. Contains<kMixed> always can.
template <Sections kSections>
[[gnu::always_inline]] inline bool CanAnswer(const RibbonFilter* ribbon,
                                             uint64_t hash) {
  return kSections != Sections::kRibbon || FirstLayerAnswers(*ribbon, hash);
}

// REQUIRES CanAnswer<kSections>.
template <Sections kSections>
[[gnu::always_inline]] inline bool Contains(const BloomBlocks& blocks,
                                            const RibbonFilter* ribbon,
                                            uint64_t hash) {
  if (kSections == Sections::kFewProbes) return MayContainFew(blocks, hash);
  if (kSections == Sections::kManyProbes) return MayContainMany(blocks, hash);
  if (kSections == Sections::kRibbon) {
    return FirstLayerMayContain<ColumnsGive>(*ribbon, hash);
  }
  return ribbon != nullptr ? AnyLayerMayContain<ColumnsGive>(*ribbon, hash)
                           : MayContain(blocks, hash);
}

// For any hash.
template <Sections kSections>
[[gnu::always_inline]] inline bool ContainsWithCare(const BloomBlocks& blocks,
                                                    const RibbonFilter* ribbon,
                                                    uint64_t hash) {
  if (CanAnswer<kSections>(ribbon, hash)) [[likely]] {
    return Contains<kSections>(blocks, ribbon, hash);
  }
  return Contains<Sections::kMixed>(blocks, ribbon, hash);
}

template <Sections kSections>
[[gnu::always_inline]] inline void Prefetch(const BloomBlocks& blocks,
                                            const RibbonFilter* ribbon,
                                            uint64_t hash) {
  if (kSections == Sections::kRibbon ||
      (kSections == Sections::kMixed && ribbon != nullptr)) {
    PrefetchRibbon(*ribbon, hash);
  } else {
    PrefetchBlock(blocks, hash);
  }
}

}  // namespace
}  // namespace rowbloom
