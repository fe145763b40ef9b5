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
template <KeyLayout::Kind kKind>
struct RowsOfLayout {
  static constexpr bool kCompare = true;
  static size_t Bytes(const Matcher& matcher, const KeyView& key) {
    return RowBytesOf(kKind, matcher.layout_parameter, key.data, key.size);
  }
  static uint64_t Hash(const char* row, size_t size) {
    return XXH3_64bits(row, size);
  }
};

// Fixed rows of this length.
template <Length kLength>
struct FixedRows {
  static constexpr bool kCompare = false;  // hashed as soon as compared
  static size_t Bytes(const Matcher& matcher, const KeyView& key) {
    const size_t row_bytes = matcher.layout_parameter;
    return key.size < row_bytes ? KeyLayout::kNoRow : row_bytes;
  }
  static uint64_t Hash(const char* row, size_t size) {
    return HashOf<kLength>(row, size, 0);
  }
};

// Whether two keys start with the same row of this size; false for sizes that
// would take longer to compare than to hash again.
inline bool SameRow(const char* a, const char* b, size_t size) {
  if (size < 8 || size > 32) return false;
  const auto differ = [a, b](size_t at) {
    uint64_t x;
    uint64_t y;
    __builtin_memcpy(&x, a + at, sizeof(x));
    __builtin_memcpy(&y, b + at, sizeof(y));
    return x ^ y;
  };
  // Rows that differ mostly do so at the end. Words overlap where the size is
  // none of theirs.
  if (differ(size - 8) != 0 || differ(0) != 0) return false;
  return size <= 16 || (differ(8) | differ(size - 16)) == 0;
}

// Key i of an array of pointers to keys. As bytes: pointers and keys may be of
// another class.
inline KeyView KeyAt(const void* key_pointers, size_t i) {
  const void* pointer;
  __builtin_memcpy(
      &pointer,
      static_cast<const std::byte*>(key_pointers) + i * sizeof(pointer),
      sizeof(pointer));
  KeyView key;
  __builtin_memcpy(&key, pointer, sizeof(key));
  return key;
}

// Finds and hashes the rows of all keys, and starts loading their blocks.
// Returns which keys have one, as bits. If the first two keys are of one row,
// as where columns of a row are asked for, each is compared with the one before
// it, and finding and hashing is for those that differ.
template <Sections kSections, class Rows>
[[gnu::always_inline]] inline uint32_t HashRows(const Matcher& matcher,
                                                const void* key_pointers,
                                                size_t count, uint64_t* hashes,
                                                size_t* row_bytes) {
  uint32_t inside = 0;
  size_t last = count;  // key with a row; count: none yet
  bool compare = Rows::kCompare;
  for (size_t i = 0; i < count; ++i) {
    const KeyView key = KeyAt(key_pointers, i);
    if (compare && last != count) {
      // No row starts with another one, so that equal bytes are equal rows.
      if (row_bytes[last] <= key.size &&
          SameRow(KeyAt(key_pointers, last).data, key.data, row_bytes[last])) {
        inside |= uint32_t{1} << i;
        row_bytes[i] = row_bytes[last];
        hashes[i] = hashes[last];
        continue;
      }
      compare = i > 1;
    }
    row_bytes[i] = Rows::Bytes(matcher, key);
    if (row_bytes[i] == KeyLayout::kNoRow) continue;
    inside |= uint32_t{1} << i;
    hashes[i] = Rows::Hash(key.data, row_bytes[i]);
    Prefetch<kSections>(matcher.row, matcher.row_ribbon, hashes[i]);
    last = i;
  }
  return inside;
}

// MatchFunctions::match_batch. Each pass does one thing for all keys, so that
// their cache misses overlap. REQUIRES count <= BatchAnswers::kMaxKeys.
template <Sections kSections, class Rows>
void MatchBatch(const Matcher& matcher, const void* key_pointers, size_t count,
                BatchAnswers* answers) {
  uint64_t hashes[BatchAnswers::kMaxKeys];
  size_t row_bytes[BatchAnswers::kMaxKeys];
  const uint32_t inside = HashRows<kSections, Rows>(matcher, key_pointers,
                                                    count, hashes, row_bytes);

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
    const KeyView key = KeyAt(key_pointers, static_cast<size_t>(i));
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
