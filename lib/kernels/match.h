// Key in, answer out: splitting, hashing and probing without a call that
// returns.
//
// A lookup in a large filter waits for memory, and how many lookups a CPU has
// under way meanwhile depends on how many registers each of them writes: it has
// room for two or three hundred values that are not final yet. So these
// functions write few, save and restore none, and are compiled for each case.
// Internal linkage throughout, for the reason in block_index.h.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>

#include "lib/kernels/matcher.h"
#include "lib/kernels/section.h"
#include "lib/layout/row_rule.h"

namespace rowbloom {
namespace {

// The members of a KeyView, each read where it is needed.
inline const char* DataOf(const void* key) {
  const char* data;
  __builtin_memcpy(&data, static_cast<const std::byte*>(key), sizeof(data));
  return data;
}
inline size_t SizeOf(const void* key) {
  size_t size;
  __builtin_memcpy(&size,
                   static_cast<const std::byte*>(key) + offsetof(KeyView, size),
                   sizeof(size));
  return size;
}

// Hashing differs by length, and a function for one of these spans needs so few
// registers that it saves none.
enum class Length { kTo16, kTo32, kMore };

// REQUIRES a size of that length.
template <Length kLength>
[[gnu::always_inline]] inline uint64_t HashOf(const char* bytes, size_t size,
                                              uint64_t seed) {
  if (kLength == Length::kTo16 && size > 16) __builtin_unreachable();
  if (kLength == Length::kTo32 && (size <= 16 || size > 32)) {
    __builtin_unreachable();
  }
  return XXH3_64bits_withSeed(bytes, size, seed);
}

// See hash_lanes.h.
inline uint64_t Again(uint64_t hash) { return hash; }

// How a row is hashed. The other way is RowHashInLanes.
template <Length kLength>
struct RowHashByLibrary {
  [[gnu::always_inline]] static uint64_t Of(const char* bytes, size_t size,
                                            uint64_t /*length_term*/) {
    return HashOf<kLength>(bytes, size, 0);
  }
};

// What comes of an answer: it is returned, without a jump, as whether a key is
// there cannot be foreseen.
struct ReturnAnswer {
  using Result = Answer;
  static constexpr bool kCells = true;  // a ROWCOL section may be there

  static Answer Of(const Matcher& /*matcher*/, Answer no, bool may) {
    return static_cast<Answer>(static_cast<int>(no) + static_cast<int>(may));
  }
  static Answer OfOutside(const Matcher& /*matcher*/) {
    return Answer::kOutside;
  }
  static bool AsksCellFirst(const Matcher& /*matcher*/) { return false; }
};

// Or it is counted, and returned is whether the key may be there. Jumps, where
// an index would do: RocksDB jumps on the answer anyway, and a CPU that
// foresees it need not wait for the filter's memory to count.
//
// It also learns the order in which to ask. ROW rules out absent rows, with a
// smaller section and without the cell's hash; where rows are there and cells
// are not, ROWCOL alone would do. kOrderSlot counts the cells that ROWCOL ruled
// out since ROW last ruled out a row, modulo kTurns. ROW comes first while
// there are fewer than kWasted, so at least in that share of the turns: then it
// gets to say whether things have changed.
template <bool kHasCells>
struct CountAnswer {
  using Result = bool;
  static constexpr bool kCells = kHasCells;
  static constexpr uint64_t kWasted = 4;
  static constexpr uint64_t kTurns = 64;

  [[gnu::always_inline]] static bool Of(const Matcher& matcher, Answer no,
                                        bool may) {
    if (may) return Count(matcher, static_cast<Answer>(Slot(no) + 1), true);
    return Count(matcher, no, false);
  }
  [[gnu::always_inline]] static bool OfOutside(const Matcher& matcher) {
    return Count(matcher, Answer::kOutside, true);
  }
  [[gnu::always_inline]] static bool AsksCellFirst(const Matcher& matcher) {
    return StripedCounters::ThreadOwnsOne() &&
           matcher.counters->Own().Get(kOrderSlot) >= kWasted;
  }

 private:
  static constexpr size_t Slot(Answer answer) {
    return static_cast<size_t>(answer);
  }
  [[gnu::always_inline]] static bool Count(const Matcher& matcher,
                                           Answer answer, bool may) {
    if (!StripedCounters::ThreadOwnsOne()) [[unlikely]] {
      return CountWithCare(matcher.counters, Slot(answer), may);
    }
    StripedCounters::Stripe& own = matcher.counters->Own();
    own.Increment(Slot(answer));
    if (kCells && answer == Answer::kRowNo) own.Set(kOrderSlot, 0);
    if (answer == Answer::kRowColNo || answer == Answer::kCellNo) {
      own.Set(kOrderSlot, (own.Get(kOrderSlot) + 1) % kTurns);
    }
    return may;
  }
  [[gnu::noinline, gnu::cold]] static bool CountWithCare(
      StripedCounters* counters, size_t slot, bool may) {
    counters->Add(slot, 1);
    return may;
  }
};

// Of a cell whose row may be there.
template <class To, Sections kSections, Length kLength>
[[gnu::noinline, gnu::flatten]] typename To::Result MatchCell(
    const Matcher& matcher, const char* qualifier, size_t size,
    uint64_t row_hash) {
  const uint64_t hash = HashOf<kLength>(qualifier, size, row_hash);
  if (!CanAnswer<kSections>(matcher.row_col_ribbon, hash)) [[unlikely]] {
    return MatchCell<To, Sections::kMixed, kLength>(matcher, qualifier, size,
                                                    row_hash);
  }
  return To::Of(
      matcher, Answer::kRowColNo,
      Contains<kSections>(matcher.row_col, matcher.row_col_ribbon, hash));
}

// Of a cell whose row was not asked for.
template <class To, Sections kSections, Length kLength>
[[gnu::noinline, gnu::flatten]] typename To::Result MatchCellFirst(
    const Matcher& matcher, const char* qualifier, size_t size,
    uint64_t row_hash) {
  const uint64_t hash = HashOf<kLength>(qualifier, size, row_hash);
  if (!ContainsWithCare<kSections>(matcher.row_col, matcher.row_col_ribbon,
                                   hash)) {
    return To::Of(matcher, Answer::kCellNo, false);
  }
  if (!ContainsWithCare<kSections>(matcher.row, matcher.row_ribbon, row_hash)) {
    return To::Of(matcher, Answer::kRowNo, false);
  }
  return To::Of(matcher, Answer::kRowColNo, true);
}

// The function for cells of this length.
template <auto kTo16, auto kTo32, auto kMore>
[[gnu::always_inline]] inline auto Dispatch(const Matcher& matcher,
                                            const char* qualifier, size_t size,
                                            uint64_t row_hash) {
  if (size <= 16) return kTo16(matcher, qualifier, size, row_hash);
  if (size <= 32) return kTo32(matcher, qualifier, size, row_hash);
  return kMore(matcher, qualifier, size, row_hash);
}

template <class To, Sections kSections, Length kLength>
typename To::Result MatchRow(const Matcher& matcher, const void* key,
                             size_t row_bytes);

// Of a key that starts with a row of `row_bytes`. REQUIRES row_bytes > 0.
template <class To, Sections kSections, Length kLength, class RowHash>
[[gnu::always_inline]] inline typename To::Result MatchRowInline(
    const Matcher& matcher, const void* key, size_t row_bytes,
    uint64_t length_term) {
  const auto row_hash = RowHash::Of(DataOf(key), row_bytes, length_term);
  if (To::kCells && To::AsksCellFirst(matcher) && matcher.has_row_col &&
      SizeOf(key) > row_bytes) {
    return Dispatch<MatchCellFirst<To, kSections, Length::kTo16>,
                    MatchCellFirst<To, kSections, Length::kTo32>,
                    MatchCellFirst<To, kSections, Length::kMore>>(
        matcher, DataOf(key) + row_bytes, SizeOf(key) - row_bytes,
        Again(row_hash));
  }
  if (!CanAnswer<kSections>(matcher.row_ribbon, row_hash)) [[unlikely]] {
    return MatchRow<To, Sections::kMixed, kLength>(matcher, key, row_bytes);
  }
  const bool may =
      Contains<kSections>(matcher.row, matcher.row_ribbon, row_hash);
  // Apart from the end of keys without a cell, so that absent rows, the usual
  // ones, take one jump.
  if (!may) return To::Of(matcher, Answer::kRowNo, false);
  if (!To::kCells) return To::Of(matcher, Answer::kRowNo, true);
  // Read again: what is kept since the beginning costs absent rows registers.
  __asm__("" : "+r"(key));
  const char* const cell = DataOf(key) + row_bytes;
  const size_t size = SizeOf(key) - row_bytes;
  if (size == 0 || !matcher.has_row_col) {
    return To::Of(matcher, Answer::kRowNo, true);
  }
  return Dispatch<MatchCell<To, kSections, Length::kTo16>,
                  MatchCell<To, kSections, Length::kTo32>,
                  MatchCell<To, kSections, Length::kMore>>(matcher, cell, size,
                                                           Again(row_hash));
}

// The same with a call, where the row was just found.
template <class To, Sections kSections, Length kLength>
[[gnu::noinline, gnu::flatten]] typename To::Result MatchRow(
    const Matcher& matcher, const void* key, size_t row_bytes) {
  return MatchRowInline<To, kSections, kLength, RowHashByLibrary<kLength>>(
      matcher, key, row_bytes, 0);
}

// Out of the way of other keys.
template <class To>
[[gnu::noinline, gnu::cold]] typename To::Result Outside(
    const Matcher& matcher) {
  return To::OfOutside(matcher);
}

// MatchFunctions::match and may_match, for fixed rows of this length.
template <class To, Sections kSections, Length kLength, class RowHash>
[[gnu::flatten]] typename To::Result MatchFixed(const Matcher& matcher,
                                                const void* key) {
  const size_t row_bytes = matcher.layout_parameter;
  if (SizeOf(key) < row_bytes) [[unlikely]]
    return Outside<To>(matcher);
  return MatchRowInline<To, kSections, kLength, RowHash>(
      matcher, key, row_bytes, matcher.row_length_term);
}

// The same for other layouts.
template <class To, Sections kSections, KeyLayout::Kind kKind>
[[gnu::flatten]] typename To::Result Match(const Matcher& matcher,
                                           const void* key) {
  const size_t row_bytes =
      RowBytesOf(kKind, matcher.layout_parameter, DataOf(key), SizeOf(key));
  if (row_bytes == KeyLayout::kNoRow) return To::OfOutside(matcher);
  if (row_bytes <= 16) {
    return MatchRow<To, kSections, Length::kTo16>(matcher, key, row_bytes);
  }
  if (row_bytes <= 32) {
    return MatchRow<To, kSections, Length::kTo32>(matcher, key, row_bytes);
  }
  return MatchRow<To, kSections, Length::kMore>(matcher, key, row_bytes);
}

}  // namespace
}  // namespace rowbloom
