#include "rowbloom/bloom_type.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace rowbloom {
namespace {

constexpr std::array kTypeNames = {"NONE", "ROW", "ROWCOL",
                                   "ROWPREFIX_FIXED_LENGTH"};

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) {
                      return std::toupper(x) == std::toupper(y);
                    });
}

}  // namespace

std::string_view ToString(BloomType type) {
  const auto index = static_cast<size_t>(type);
  return index < kTypeNames.size() ? kTypeNames[index] : "unknown";
}

Result<BloomType> BloomTypeFromString(std::string_view text) {
  for (size_t i = 0; i < kTypeNames.size(); ++i) {
    if (EqualsIgnoringCase(text, kTypeNames[i])) {
      return static_cast<BloomType>(i);
    }
  }
  return Error{"unknown bloom type \"" + std::string(text) +
               "\": expected NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH"};
}

std::string_view ToString(FilterKind kind) {
  switch (kind) {
    case FilterKind::kBloom:
      return "bloom";
    case FilterKind::kRibbon:
      return "ribbon";
  }
  return "unknown";
}

Result<FilterKind> FilterKindFromString(std::string_view text) {
  for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
    if (EqualsIgnoringCase(text, ToString(kind))) return kind;
  }
  return Error{"unknown filter kind \"" + std::string(text) +
               "\": expected bloom or ribbon"};
}

}  // namespace rowbloom
