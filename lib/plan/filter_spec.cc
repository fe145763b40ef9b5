#include "rowbloom/filter_spec.h"

#include "rowbloom/bloom_math.h"
#include "rowbloom/section_split.h"

namespace rowbloom {

std::string Problem(const FilterSpec& spec) {
  if (!IsFalsePositiveRate(spec.false_positive_rate)) {
    return "false_positive_rate " + std::to_string(spec.false_positive_rate) +
           ": expected a number between 0 and 1, both excluded";
  }
  if (spec.key_layout) {
    // The id is how files and OPTIONS name the layout: it must read back.
    const auto layout = KeyLayout::FromString(spec.key_layout->ToString());
    if (!layout) return layout.error();
  }
  if (ToString(spec.bloom_type) == "unknown") {
    return "bloom_type " + std::to_string(static_cast<int>(spec.bloom_type)) +
           ": expected NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH";
  }
  if (ToString(spec.kind) == "unknown") {
    return "kind " + std::to_string(static_cast<int>(spec.kind)) +
           ": expected bloom or ribbon";
  }
  if (spec.kind == FilterKind::kRibbon && spec.bloom_before_level < -1) {
    return "bloom_before_level " + std::to_string(spec.bloom_before_level) +
           ": expected -1 or more";
  }
  if (spec.level_allocation) {
    if (std::string problem = Problem(*spec.level_allocation);
        !problem.empty()) {
      return "level_allocation: " + problem;
    }
  }
  if (spec.row_spread && !IsRowSpread(*spec.row_spread)) {
    return "row_spread " + std::to_string(*spec.row_spread) +
           ": expected a number above 0, up to 1";
  }
  const bool wants_prefix = spec.bloom_type == BloomType::kRowPrefixFixedLength;
  if (wants_prefix && (spec.row_prefix_length < 1 ||
                       spec.row_prefix_length > KeyLayout::kMaxRowBytes)) {
    return "row_prefix_length " + std::to_string(spec.row_prefix_length) +
           ": ROWPREFIX_FIXED_LENGTH expects 1 to " +
           std::to_string(KeyLayout::kMaxRowBytes) + " bytes";
  }
  if (!wants_prefix && spec.row_prefix_length != 0) {
    return "row_prefix_length " + std::to_string(spec.row_prefix_length) +
           ": only ROWPREFIX_FIXED_LENGTH has one, expected 0";
  }
  return "";
}

}  // namespace rowbloom
