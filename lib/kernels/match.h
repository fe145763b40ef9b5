// Key in, answer out: splitting, hashing and probing in one function, so that a
// question costs one call. A kernel file includes this after its MayContain
// and its ColumnsGive.
// Internal linkage throughout, for the reason in block_index.h.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/kernels/block_index.h"
#include "lib/kernels/kernel.h"
#include "lib/kernels/matcher.h"
#include "lib/kernels/ribbon_solve.h"
#include "lib/layout/row_rule.h"

namespace rowbloom {
namespace {

// A section of either kind. With kBloom it is one of kind bloom: functions
// without the code for ribbons in them need fewer registers, and a CPU has more
// questions under way at once.
template <bool kBloom>
[[gnu::always_inline]] inline bool Contains(const BloomBlocks& blocks,
                                            const RibbonFilter* ribbon,
                                            uint64_t hash) {
  return kBloom || ribbon == nullptr
             ? MayContain(blocks, hash)
             : RibbonMayContain<ColumnsGive>(*ribbon, hash);
}

template <bool kBloom>
[[gnu::always_inline]] inline void Prefetch(const BloomBlocks& blocks,
                                            const RibbonFilter* ribbon,
                                            uint64_t hash) {
  if (kBloom || ribbon == nullptr) {
    PrefetchBlock(blocks, hash);
  } else {
    PrefetchRibbon(*ribbon, hash);
  }
}

// One function, calls in it included: a call costs more than most of its parts.
template <bool kBloom>
[[gnu::flatten]] Answer Match(const Matcher& matcher, const char* key,
                              size_t size) {
  const size_t row_bytes =
      RowBytesOf(matcher.layout_kind, matcher.layout_parameter, key, size);
  if (row_bytes == KeyLayout::kNoRow) return Answer::kOutside;
  const uint64_t row_hash = XXH3_64bits(key, row_bytes);
  const bool row_may =
      Contains<kBloom>(matcher.row, matcher.row_ribbon, row_hash);
  if (row_bytes == size || !matcher.has_row_col) {
    // Chosen without a jump: whether a key is there cannot be foreseen.
    return static_cast<Answer>(static_cast<int>(Answer::kRowNo) -
                               static_cast<int>(row_may));
  }
  if (!row_may) return Answer::kRowNo;
  const uint64_t hash =
      XXH3_64bits_withSeed(key + row_bytes, size - row_bytes, row_hash);
  return static_cast<Answer>(
      static_cast<int>(Answer::kRowColNo) -
      static_cast<int>(
          Contains<kBloom>(matcher.row_col, matcher.row_col_ribbon, hash)));
}

// Each pass does one thing for all keys, so that their cache misses overlap.
// REQUIRES count <= BatchAnswers::kMaxKeys.
template <bool kBloom>
void MatchBatch(const Matcher& matcher, const void* key_pointers, size_t count,
                BatchAnswers* answers) {
  // As bytes: pointers and keys may be of another class.
  const auto key_at = [key_pointers](size_t i) {
    const void* pointer;
    __builtin_memcpy(
        &pointer,
        static_cast<const std::byte*>(key_pointers) + i * sizeof(pointer),
        sizeof(pointer));
    KeyView key;
    __builtin_memcpy(&key, pointer, sizeof(key));
    return key;
  };
  uint64_t hashes[BatchAnswers::kMaxKeys];
  size_t row_bytes[BatchAnswers::kMaxKeys];
  uint32_t inside = 0;
  for (size_t i = 0; i < count; ++i) {
    const KeyView key = key_at(i);
    row_bytes[i] = RowBytesOf(matcher.layout_kind, matcher.layout_parameter,
                              key.data, key.size);
    if (row_bytes[i] == KeyLayout::kNoRow) continue;
    inside |= uint32_t{1} << i;
    hashes[i] = XXH3_64bits(key.data, row_bytes[i]);
    Prefetch<kBloom>(matcher.row, matcher.row_ribbon, hashes[i]);
  }

  // Adjacent keys of one row ask the ROW section once.
  uint32_t passed = 0;
  uint64_t asked_hash = 0;
  bool asked = false;
  bool asked_passed = false;
  for (uint32_t left = inside; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (!asked || hashes[i] != asked_hash) {
      asked_passed =
          Contains<kBloom>(matcher.row, matcher.row_ribbon, hashes[i]);
      asked_hash = hashes[i];
      asked = true;
    }
    passed |= uint32_t{asked_passed} << i;
  }
  answers->row_no = inside & ~passed;
  if (!matcher.has_row_col) {
    answers->row_may = passed;
    answers->row_col_may = answers->row_col_no = 0;
    return;
  }

  uint32_t cells = 0;
  for (uint32_t left = passed; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const KeyView key = key_at(static_cast<size_t>(i));
    if (row_bytes[i] == key.size) continue;
    cells |= uint32_t{1} << i;
    hashes[i] = XXH3_64bits_withSeed(key.data + row_bytes[i],
                                     key.size - row_bytes[i], hashes[i]);
    Prefetch<kBloom>(matcher.row_col, matcher.row_col_ribbon, hashes[i]);
  }
  uint32_t cells_passed = 0;
  for (uint32_t left = cells; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const bool may =
        Contains<kBloom>(matcher.row_col, matcher.row_col_ribbon, hashes[i]);
    cells_passed |= uint32_t{may} << i;
  }
  answers->row_may = passed & ~cells;
  answers->row_col_may = cells_passed;
  answers->row_col_no = cells & ~cells_passed;
}

// The table of the kernel file that includes this.
constexpr BloomKernel KernelOfThisFile(std::string_view name,
                                       decltype(BloomKernel::add) add) {
  return {.name = name,
          .may_contain = MayContain,
          .ribbon_may_contain = RibbonMayContain<ColumnsGive>,
          .ribbon_solve = RibbonSolve,
          .add = add,
          .prefetch = PrefetchBlock,
          .match_bloom = {Match<true>, MatchBatch<true>},
          .match_any = {Match<false>, MatchBatch<false>}};
}

}  // namespace
}  // namespace rowbloom
