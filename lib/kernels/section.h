// One section asked for a hash. A kernel file includes this after its
// MayContainFew, which may take a hash in a form of its own, MayContainMany and
// ColumnsGive. Internal linkage throughout, for the reason in block_index.h.
#pragma once

#include "lib/kernels/block_index.h"
#include "lib/kernels/matcher.h"
#include "lib/kernels/ribbon_probe.h"

namespace rowbloom {
namespace {

// Whether Contains<kSections> can answer for this hash, as it can for nearly
// all. Contains<kMixed> always can.
template <Sections kSections>
[[gnu::always_inline]] inline bool CanAnswer(const RibbonFilter* ribbon,
                                             uint64_t hash) {
  return kSections != Sections::kRibbon || FirstLayerAnswers(*ribbon, hash);
}

// REQUIRES CanAnswer<kSections>.
template <Sections kSections, class Hash>
[[gnu::always_inline]] inline bool Contains(const BloomSection& blocks,
                                            const RibbonFilter* ribbon,
                                            const Hash& hash) {
  if (kSections == Sections::kFewProbes) return MayContainFew(blocks, hash);
  if (kSections == Sections::kManyProbes) return MayContainMany(blocks, hash);
  if (kSections == Sections::kRibbon) {
    return FirstLayerMayContain<ColumnsGive>(*ribbon, hash);
  }
  return ribbon != nullptr ? AnyLayerMayContain<ColumnsGive>(*ribbon, hash)
                           : MayContainMany(blocks, hash);
}

// For any hash.
template <Sections kSections>
[[gnu::always_inline]] inline bool ContainsWithCare(const BloomSection& blocks,
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
