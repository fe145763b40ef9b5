#include "tests/stress/key_space.h"

#include <array>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <utility>

namespace rowbloom::stress {
namespace {

constexpr uint32_t kFixedRowBytes = 8;
// Rows lie apart, so that few share the first six digits.
constexpr uint32_t kStride = 37;

const std::array<std::string, 8>& Qualifiers() {
  static const std::array<std::string, 8> qualifiers = {
      "",
      "a",
      "b",
      "c",
      std::string(1, '\0'),
      "\xff\xff",
      ":has/other|delimiters",
      "a long qualifier of more than sixteen bytes"};
  return qualifiers;
}

}  // namespace

const std::vector<KeyLayout>& Layouts() {
  static const std::vector<KeyLayout> layouts = {
      KeyLayout::Escaped(), KeyLayout::FixedRow(kFixedRowBytes),
      KeyLayout::Delimited(':'), KeyLayout::LengthPrefixed(),
      *KeyLayout::RegisterCustom(
          "up_to_slash_or_bar",
          [](std::string_view key) -> std::optional<size_t> {
            const size_t at = key.find_first_of("/|");
            if (at == std::string_view::npos) return std::nullopt;
            return at + 1;
          })};
  return layouts;
}

std::string KeySpace::EncodeNumber(uint32_t share, uint32_t number) const {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%02u%06u", share % 100,
                number * kStride % 1'000'000);
  std::string row(digits);
  // Rows of several lengths. In u16 the length comes first in the key, so there
  // it may only differ from share to share.
  if (layout_ == KeyLayout::Escaped()) row.append(number / 2 % 3, '\0');
  if (layout_ == KeyLayout::Delimited(':')) row.append(number / 2 % 3, 'x');
  if (layout_ == KeyLayout::LengthPrefixed()) row.append(share % 3, 'x');
  if (layout_.ToString().starts_with("custom:")) {
    return row + (number / 2 % 2 == 0 ? "/" : "|");
  }
  auto encoded = layout_.EncodeRow(row);
  if (!encoded) throw std::logic_error(encoded.error());
  return *std::move(encoded);
}

std::string KeySpace::SharePrefix(uint32_t share) const {
  return EncodeNumber(share, 0).substr(0, layout_.RowOffset() + 2);
}

std::vector<std::string> KeySpace::OddKeys(uint32_t share) {
  static const std::array<std::string, 6> odd = {
      "", "\xff", std::string(1, '\0'), ":", std::string("\0\x01", 2), "/"};
  if (share >= odd.size()) return {};
  return {odd[share]};
}

// A row that is cut short is no row in any layout.
std::string KeySpace::OutsideKey(uint32_t share, Random* random) const {
  if (random->OneIn(8) && !OddKeys(share).empty()) return OddKeys(share)[0];
  std::string key =
      Row(share, static_cast<uint32_t>(random->Below(rows_per_share_)));
  key.resize(key.size() - 1 - random->Below(4));
  return key;
}

std::vector<std::string> KeySpace::AllRows(uint32_t share) const {
  std::vector<std::string> rows;
  for (uint32_t number = 0; number < rows_per_share_; ++number) {
    rows.push_back(Row(share, number));
    rows.push_back(AbsentRow(share, number));
  }
  return rows;
}

std::string KeySpace::RandomKey(uint32_t share, Random* random) const {
  if (random->OneIn(30)) return OutsideKey(share, random);
  auto number = static_cast<uint32_t>(random->Below(rows_per_share_));
  if (IsSingleDeleteRow(number)) --number;
  return Row(share, number) + Qualifiers()[random->Below(8)];
}

std::string KeySpace::RandomSingleDeleteKey(uint32_t share,
                                            Random* random) const {
  const auto number =
      static_cast<uint32_t>(random->Below(rows_per_share_ / 16) * 16 + 15);
  return Row(share, number) + Qualifiers()[random->Below(8)];
}

std::string KeySpace::RandomAbsentKey(uint32_t share, Random* random) const {
  const auto number = static_cast<uint32_t>(random->Below(rows_per_share_));
  if (random->OneIn(3)) {
    return Row(share, number) + "absent" + std::to_string(random->Below(1000));
  }
  return AbsentRow(share, number) + Qualifiers()[random->Below(8)];
}

std::pair<std::string, std::string> KeySpace::RandomRange(
    uint32_t share, Random* random) const {
  auto number = static_cast<uint32_t>(random->Below(rows_per_share_));
  if (IsSingleDeleteRow(number)) --number;
  const std::string row = Row(share, number);
  switch (random->Below(3)) {
    case 0:
      return {row, LastWithPrefix(row)};
    case 1:
      return {row + "a", row + "c"};
    default: {  // rows up to the next single-delete row
      const auto end =
          static_cast<uint32_t>(number + 1 + random->Below(15 - number % 16));
      return {row, Row(share, end)};
    }
  }
}

}  // namespace rowbloom::stress
