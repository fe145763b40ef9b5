// Ranges of keys, for layouts that keep the order of rows. Pure functions,
// thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "rowbloom/key_layout.h"

namespace rowbloom {

// The end, exclusive, of the byte strings that start with `prefix`. Empty:
// there is none, as it is all ff, or empty.
std::string PrefixEnd(std::string_view prefix);

// The end, exclusive, of the keys of a row, whose qualifiers have at most
// `max_qualifier_bytes`.
std::string RowEnd(std::string_view row_bytes, size_t max_qualifier_bytes);

// The end, exclusive, that comes first. An empty one is beyond all keys.
inline const std::string& EarlierEnd(const std::string& a,
                                     const std::string& b) {
  return a.empty() || (!b.empty() && b < a) ? b : a;
}

// The keys from `first` on up to, but without, `end`; an empty `end` is beyond
// all keys.
struct KeyRange {
  std::string first;
  std::string end;
};

// The keys of the rows from `start_row` on up to, but without, `stop_row`, that
// start with `row_prefix`; an empty argument limits nothing, and none has to be
// a row. nullopt: the layout has no such keys. REQUIRES that the layout is
// "escaped" or "fixed:N".
std::optional<KeyRange> RangeOfRows(const KeyLayout& layout,
                                    std::string_view start_row,
                                    std::string_view stop_row,
                                    std::string_view row_prefix);

}  // namespace rowbloom
