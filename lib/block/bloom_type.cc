#include "rowbloom/bloom_type.h"

#include "lib/bytes/text.h"
#include "rowbloom/printable.h"

namespace rowbloom {
namespace {

// The enumerator from `first` to `last` of this name, in any letter case.
template <typename Enum>
Result<Enum> FromName(std::string_view text, Enum first, Enum last,
                      std::string_view what, std::string_view expected) {
  for (auto i = static_cast<int>(first); i <= static_cast<int>(last); ++i) {
    const auto value = static_cast<Enum>(i);
    if (EqualInAnyCase(text, ToString(value))) return value;
  }
  return Error{Concat("unknown ", what, " \"", ToPrintable(text),
                      "\": expected ", expected)};
}

}  // namespace

std::string_view ToString(BloomType type) {
  return NameOf(type, {"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"});
}

Result<BloomType> BloomTypeFromString(std::string_view text) {
  return FromName(text, BloomType::kNone, BloomType::kRowPrefixFixedLength,
                  "bloom type", "NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH");
}

std::string_view ToString(FilterKind kind) {
  return NameOf(kind, {"unknown", "bloom", "ribbon"});
}

Result<FilterKind> FilterKindFromString(std::string_view text) {
  return FromName(text, FilterKind::kBloom, FilterKind::kRibbon, "filter kind",
                  "bloom or ribbon");
}

}  // namespace rowbloom
