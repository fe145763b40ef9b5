// The keys that a filter block indexes (BloomType, named as in HBase) and the
// data structure that holds each of its sections (FilterKind).
#pragma once

#include <cstdint>
#include <string_view>

#include "rowbloom/result.h"

namespace rowbloom {

// The parts of a key that the filter of a file can answer for.
//
//   kNone                 no filter
//   kRow                  the row: a row scan and a get skip files without it
//   kRowCol               the row, and row + qualifier: a get must pass both
//   kRowPrefixFixedLength the first N bytes of the row: scans over rows that
//                         share them, and gets, skip files without them
//
// The values reach disk only through their names. Never rename.
enum class BloomType : uint8_t {
  kNone,
  kRow,
  kRowCol,
  kRowPrefixFixedLength,
};

// HBase's spelling: "NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH".
std::string_view ToString(BloomType type);

// Inverse of ToString, any letter case. Error: the text is none of the names;
// the message lists them.
Result<BloomType> BloomTypeFromString(std::string_view text);

// The data structure of a section. The values are on disk: never renumber.
enum class FilterKind : uint8_t {
  // Blocked Bloom filter: every key sets its bits within one 512-bit block.
  kBloom = 1,
  // Bumped ribbon filter: within some 2 % of the fewest bytes that a filter of
  // its rate can have, where kBloom has 50 % more; slower to build and to
  // probe. A section that would be smaller as kBloom becomes that.
  kRibbon = 2,
};

// Slots for each key of a ribbon filter. More make filters larger and building
// faster: doc/benchmarks.md says by how much. Fewer than this save next to
// nothing.
inline constexpr double kRibbonSlotsPerKey = 0.97;

// "bloom", "ribbon".
std::string_view ToString(FilterKind kind);

// Inverse of ToString. Error: the text is none of the names.
Result<FilterKind> FilterKindFromString(std::string_view text);

}  // namespace rowbloom
