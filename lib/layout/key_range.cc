#include "lib/layout/key_range.h"

#include <algorithm>

namespace rowbloom {
namespace {

// Returns the first key of the rows from `row` on. It is empty for an empty
// `row`, and also if there are no such rows.
std::string FirstKey(const KeyLayout& layout, std::string_view row) {
  if (row.empty()) return {};
  const auto fixed = layout.FixedRowBytes();
  if (!fixed) return *layout.EncodeRow(row);
  if (row.size() <= *fixed) return std::string(row);
  // The bound lies between two rows.
  return PrefixEnd(row.substr(0, *fixed));
}

// The bytes that the keys of rows with this prefix start with.
std::string KeyPrefix(const KeyLayout& layout, std::string_view prefix) {
  if (prefix.empty() || layout.FixedRowBytes()) return std::string(prefix);
  constexpr size_t kTerminatorBytes = 2;
  std::string key = *layout.EncodeRow(prefix);
  key.resize(key.size() - kTerminatorBytes);
  return key;
}

}  // namespace

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) {
    end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  }
  return end;
}

std::string RowEnd(std::string_view row_bytes, size_t max_qualifier_bytes) {
  std::string end = PrefixEnd(row_bytes);
  if (!end.empty()) return end;
  // Only the last row of a layout of fixed width is all ff: its keys are the
  // last ones.
  end = row_bytes;
  end.append(max_qualifier_bytes + 1, '\xff');
  return end;
}

std::optional<KeyRange> RangeOfRows(const KeyLayout& layout,
                                    std::string_view start_row,
                                    std::string_view stop_row,
                                    std::string_view row_prefix) {
  const auto fixed = layout.FixedRowBytes();
  if (fixed && row_prefix.size() > *fixed) return std::nullopt;
  KeyRange range{FirstKey(layout, start_row), FirstKey(layout, stop_row)};
  // No row is that large.
  if (range.first.empty() && !start_row.empty()) return std::nullopt;
  const std::string prefix = KeyPrefix(layout, row_prefix);
  const std::string prefix_end = PrefixEnd(prefix);
  range.first = std::max(range.first, prefix);
  range.end = EarlierEnd(range.end, prefix_end);
  if (!range.end.empty() && range.end <= range.first) return std::nullopt;
  return range;
}

}  // namespace rowbloom
