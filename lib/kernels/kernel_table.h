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
    .may_match = Match<CountAnswer<true>, kSections, kKind>,
    .match_batch = MatchBatch<kSections, RowsOfLayout<kKind>>};

template <Sections kSections, Length kLength,
          class RowHash = RowHashByLibrary<kLength>, bool kCells = true>
constexpr MatchFunctions kFixedMatchFunctions = {
    .match = MatchFixed<ReturnAnswer, kSections, kLength, RowHash>,
    .may_match = MatchFixed<CountAnswer<kCells>, kSections, kLength, RowHash>,
    .match_batch = MatchBatch<kSections, FixedRows<kLength>>};

template <Sections kSections, class LargeRowHash>
constexpr MatchFunctionsByLayout kMatchFunctionsByLayout = {
    .escaped = kMatchFunctions<kSections, KeyLayout::Kind::kEscaped>,
    .delimited = kMatchFunctions<kSections, KeyLayout::Kind::kDelimited>,
    .length_prefixed =
        kMatchFunctions<kSections, KeyLayout::Kind::kLengthPrefixed>,
    .fixed_to_16 = kFixedMatchFunctions<kSections, Length::kTo16>,
    .fixed_to_32 = kFixedMatchFunctions<kSections, Length::kTo32>,
    .fixed_to_32_large =
        kFixedMatchFunctions<kSections, Length::kTo32, LargeRowHash>,
    .fixed_to_32_large_rows =
        kFixedMatchFunctions<kSections, Length::kTo32, LargeRowHash, false>,
    .fixed_more = kFixedMatchFunctions<kSections, Length::kMore>};

// LargeRowHash is for rows of 17 to 32 bytes in filters that no cache of a core
// holds.
template <class LargeRowHash = RowHashByLibrary<Length::kTo32>>
constexpr BloomKernel KernelOfThisFile(std::string_view name,
                                       decltype(BloomKernel::add) add) {
  using ByLibrary = RowHashByLibrary<Length::kTo32>;
  return {.name = name,
          .may_contain = MayContainMany,
          .ribbon_may_contain = AnyLayerMayContain<ColumnsGive>,
          .ribbon_solve = RibbonSolve,
          .add = add,
          .prefetch = PrefetchBlock,
          .match = {kMatchFunctionsByLayout<Sections::kFewProbes, LargeRowHash>,
                    kMatchFunctionsByLayout<Sections::kManyProbes, ByLibrary>,
                    kMatchFunctionsByLayout<Sections::kRibbon, ByLibrary>,
                    kMatchFunctionsByLayout<Sections::kMixed, ByLibrary>}};
}

}  // namespace
}  // namespace rowbloom
