// The table of the kernel file that includes this, after its MayContainFew,
// MayContainMany and ColumnsGive. Internal linkage throughout, for the reason
// in block_index.h.
#pragma once

#include "lib/kernels/kernel.h"
#include "lib/kernels/match.h"
#include "lib/kernels/match_batch.h"
#include "lib/kernels/ribbon_solve.h"

namespace rowbloom {
namespace {

template <Sections kSections, KeyLayout::Kind kKind>
constexpr MatchFunctions kMatchFunctions = {
    .match = Match<ReturnAnswer, kSections, kKind>,
    .may_match = Match<CountAnswer, kSections, kKind>,
    .match_batch = MatchBatch<kSections>};

template <Sections kSections>
constexpr MatchFunctionsByLayout kMatchFunctionsByLayout = {
    kMatchFunctions<kSections, KeyLayout::Kind::kEscaped>,
    kMatchFunctions<kSections, KeyLayout::Kind::kFixed>,
    kMatchFunctions<kSections, KeyLayout::Kind::kDelimited>,
    kMatchFunctions<kSections, KeyLayout::Kind::kLengthPrefixed>};

constexpr BloomKernel KernelOfThisFile(std::string_view name,
                                       decltype(BloomKernel::add) add) {
  return {.name = name,
          .may_contain = MayContain,
          .ribbon_may_contain = AnyLayerMayContain<ColumnsGive>,
          .ribbon_solve = RibbonSolve,
          .add = add,
          .prefetch = PrefetchBlock,
          .match = {kMatchFunctionsByLayout<Sections::kFewProbes>,
                    kMatchFunctionsByLayout<Sections::kManyProbes>,
                    kMatchFunctionsByLayout<Sections::kRibbon>,
                    kMatchFunctionsByLayout<Sections::kMixed>}};
}

}  // namespace
}  // namespace rowbloom
