// What a kernel needs to answer for whole keys at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/kernels/ribbon_probe.h"
#include "lib/kernels/striped_counters.h"
#include "rowbloom/key_layout.h"

namespace rowbloom {

// An array of 512-bit blocks. No alignment is needed. REQUIRES count >= 1 and
// 1 <= probes <= kMaxProbes.
struct BloomBlocks {
  const std::byte* data;
  uint64_t count;
  int probes;
};

inline constexpr int kFewLanes = 8;  // lanes of a 256-bit register

// The blocks of a filter's section.
struct BloomSection : BloomBlocks {
  BloomSection() = default;
  explicit BloomSection(const BloomBlocks& blocks);

  // What the probes multiply a hash by, if they are few, and in what is left
  // the first one again: so all lanes can be asked, and no mask is needed.
  std::array<uint32_t, kFewLanes> multipliers{};
};

// The filter of a file with a ROW and perhaps a ROWCOL section, both to be
// trusted and not empty, and with a layout that is not custom and, if fixed,
// has rows of 1 to KeyLayout::kMaxRowBytes. Other blocks go the long way of
// FilterBlock.
struct Matcher {
  void SetLayout(KeyLayout::Kind kind, uint32_t parameter) {
    layout_kind = kind;
    layout_parameter = parameter;
    row_length_term = LengthTerm(parameter);
  }
  // What the hash of a row of 17 to 32 bytes starts with, see hash_lanes.h.
  static constexpr uint64_t LengthTerm(size_t row_bytes) {
    return row_bytes * 0x9e3779b185ebca87;
  }

  KeyLayout::Kind layout_kind;
  uint32_t layout_parameter;
  uint64_t row_length_term;  // of fixed rows
  bool has_row_col;
  BloomSection row;
  BloomSection row_col;
  // Of sections of kind ribbon; else null.
  const RibbonFilter* row_ribbon;
  const RibbonFilter* row_col_ribbon;
  // By Answer, and kOrderSlot: for MatchFunctions::may_match alone.
  StripedCounters* counters;
};

// What functions are compiled for: less code needs fewer registers.
enum class Sections {
  kFewProbes,   // of kind bloom, each of at most kFewLanes
  kManyProbes,  // of kind bloom
  kRibbon,      // of several layers each
  kMixed,       // any
};
inline constexpr size_t kSectionsCases = 4;

inline Sections SectionsOf(const Matcher& matcher) {
  const auto of = [](const BloomBlocks& blocks, const RibbonFilter* ribbon) {
    if (ribbon != nullptr) {
      return ribbon->layer_count > 1 ? Sections::kRibbon : Sections::kMixed;
    }
    return blocks.probes <= kFewLanes ? Sections::kFewProbes
                                      : Sections::kManyProbes;
  };
  const Sections row = of(matcher.row, matcher.row_ribbon);
  if (!matcher.has_row_col) return row;
  const Sections row_col = of(matcher.row_col, matcher.row_col_ribbon);
  if (row == row_col) return row;
  const bool ribbon =
      matcher.row_ribbon != nullptr || matcher.row_col_ribbon != nullptr;
  return ribbon ? Sections::kMixed : Sections::kManyProbes;
}

// Which section had the last word on a key, and what it was.
enum class Answer : uint8_t {
  kRowNo,
  kRowMay,  // next to kRowNo, as the two below are: match.h counts on it
  kRowColNo,
  kRowColMay,
  kOutside,  // of the layout: may match
  kCellNo,   // of ROWCOL, and ROW was not asked: of MatchFunctions::may_match
};
inline constexpr size_t kAnswers = 6;

// In the counters of a Matcher, behind those of answers: what a thread knows of
// the order in which to ask. Not of interest when added up.
inline constexpr size_t kOrderSlot = kAnswers;
static_assert(kOrderSlot < StripedCounters::kSlots);

// A key as RocksDB's Slice has it. Functions take one as a pointer to void:
// what it points to may be of another class with the same members.
struct KeyView {
  const char* data;
  size_t size;
};

// The answers for a batch of keys: bit i of one mask for key i, and of none for
// a key outside the layout.
struct BatchAnswers {
  static constexpr size_t kMaxKeys = 32;

  uint32_t row_may = 0;
  uint32_t row_no = 0;
  uint32_t row_col_may = 0;
  uint32_t row_col_no = 0;
};

}  // namespace rowbloom
