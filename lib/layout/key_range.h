// Ranges of keys, for layouts that keep the order of rows. Pure functions,
// thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "rowbloom/key_layout.h"

namespace rowbloom {

// Returns the end, exclusive, of the byte strings that start with `prefix`.
// Empty: there is no end, as the prefix is empty, or all of its bytes are ff.
std::string PrefixEnd(std::string_view prefix);

// Returns the end, exclusive, of the keys of a row whose qualifiers have at
// most `max_qualifier_bytes`.
std::string RowEnd(std::string_view row_bytes, size_t max_qualifier_bytes);

// Returns the smaller of two exclusive ends. An empty one is beyond all keys.
inline const std::string& EarlierEnd(const std::string& a,
                                     const std::string& b) {
  return a.empty() || (!b.empty() && b < a) ? b : a;
}

// The keys from `first`, inclusive, to `end`, exclusive. An empty `end` is
// beyond all keys.
struct KeyRange {
  std::string first;
  std::string end;
};

// Returns the keys of the rows from `start_row`, inclusive, to `stop_row`,
// exclusive, that start with `row_prefix`. An empty argument sets no limit, and
// the arguments need not be rows of the layout. nullopt: the layout has no such
// keys. REQUIRES that the layout is "escaped" or "fixed:N".
std::optional<KeyRange> RangeOfRows(const KeyLayout& layout,
                                    std::string_view start_row,
                                    std::string_view stop_row,
                                    std::string_view row_prefix);

}  // namespace rowbloom
