// The same as match.h for many keys at once. Internal linkage throughout, for
// the reason in block_index.h.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/kernels/match.h"
#include "lib/kernels/matcher.h"
#include "lib/kernels/section.h"
#include "lib/layout/row_rule.h"

namespace rowbloom {
namespace {

// Rows that MatchBatch finds by the layout.
struct AnyRows {
  static size_t Bytes(const Matcher& matcher, const KeyView& key) {
    return RowBytesOf(matcher.layout_kind, matcher.layout_parameter, key.data,
                      key.size);
  }
  static uint64_t Hash(const char* row, size_t size) {
    return XXH3_64bits(row, size);
  }
};

// Fixed rows of this length.
template <Length kLength>
struct FixedRows {
  static size_t Bytes(const Matcher& matcher, const KeyView& key) {
    const size_t row_bytes = matcher.layout_parameter;
    return key.size < row_bytes ? KeyLayout::kNoRow : row_bytes;
  }
  static uint64_t Hash(const char* row, size_t size) {
    return HashOf<kLength>(row, size, 0);
  }
};

// MatchFunctions::match_batch. Each pass does one thing for all keys, so that
// their cache misses overlap. REQUIRES count <= BatchAnswers::kMaxKeys.
template <Sections kSections, class Rows>
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
    row_bytes[i] = Rows::Bytes(matcher, key);
    if (row_bytes[i] == KeyLayout::kNoRow) continue;
    inside |= uint32_t{1} << i;
    hashes[i] = Rows::Hash(key.data, row_bytes[i]);
    Prefetch<kSections>(matcher.row, matcher.row_ribbon, hashes[i]);
  }

  // Adjacent keys of one row ask the ROW section once.
  uint32_t passed = 0;
  uint64_t asked_hash = 0;
  bool asked = false;
  bool asked_passed = false;
  for (uint32_t left = inside; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (!asked || hashes[i] != asked_hash) {
      asked_passed = ContainsWithCare<kSections>(matcher.row,
                                                 matcher.row_ribbon, hashes[i]);
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
    Prefetch<kSections>(matcher.row_col, matcher.row_col_ribbon, hashes[i]);
  }
  uint32_t cells_passed = 0;
  for (uint32_t left = cells; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const bool may = ContainsWithCare<kSections>(
        matcher.row_col, matcher.row_col_ribbon, hashes[i]);
    cells_passed |= uint32_t{may} << i;
  }
  answers->row_may = passed & ~cells;
  answers->row_col_may = cells_passed;
  answers->row_col_no = cells & ~cells_passed;
}

}  // namespace
}  // namespace rowbloom
