#include "rowbloom/filter_spec.h"

#include "lib/bytes/text.h"
#include "lib/plan/section_split.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {

std::string Problem(const LevelShape& shape) {
  if (shape.levels < 1 || shape.levels > LevelShape::kMaxLevels) {
    return Concat("levels ", shape.levels, ": expected 1 to ",
                  LevelShape::kMaxLevels);
  }
  if (!(shape.size_ratio >= 1 &&
        shape.size_ratio <= LevelShape::kMaxSizeRatio)) {
    return Concat("size_ratio ", shape.size_ratio, ": expected 1 to ",
                  LevelShape::kMaxSizeRatio);
  }
  if (shape.level0_files < 1 ||
      shape.level0_files > LevelShape::kMaxLevel0Files) {
    return Concat("level0_files ", shape.level0_files, ": expected 1 to ",
                  LevelShape::kMaxLevel0Files);
  }
  return "";
}

std::string Problem(const FilterSpec& spec) {
  if (!IsFalsePositiveRate(spec.false_positive_rate)) {
    return Concat("false_positive_rate ", spec.false_positive_rate,
                  ": expected a number between 0 and 1, both excluded");
  }
  if (spec.key_layout) {
    // Files and OPTIONS name the layout by its id, which must read back.
    const auto layout = KeyLayout::FromString(spec.key_layout->ToString());
    if (!layout) return layout.error();
  }
  if (ToString(spec.bloom_type) == "unknown") {
    return Concat("bloom_type ", static_cast<int>(spec.bloom_type),
                  ": expected NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH");
  }
  if (ToString(spec.kind) == "unknown") {
    return Concat("kind ", static_cast<int>(spec.kind),
                  ": expected bloom or ribbon");
  }
  if (spec.kind == FilterKind::kRibbon && spec.bloom_before_level < -1) {
    return Concat("bloom_before_level ", spec.bloom_before_level,
                  ": expected -1 or more");
  }
  if (spec.level_allocation) {
    const std::string problem = Problem(*spec.level_allocation);
    if (!problem.empty()) return "level_allocation: " + problem;
  }
  if (spec.row_spread && !IsRowSpread(*spec.row_spread)) {
    return Concat("row_spread ", *spec.row_spread,
                  ": expected a number above 0, up to 1");
  }
  const bool wants_prefix = spec.bloom_type == BloomType::kRowPrefixFixedLength;
  if (wants_prefix && (spec.row_prefix_length < 1 ||
                       spec.row_prefix_length > KeyLayout::kMaxRowBytes)) {
    return Concat("row_prefix_length ", spec.row_prefix_length,
                  ": ROWPREFIX_FIXED_LENGTH expects 1 to ",
                  KeyLayout::kMaxRowBytes, " bytes");
  }
  if (!wants_prefix && spec.row_prefix_length != 0) {
    return Concat("row_prefix_length ", spec.row_prefix_length,
                  ": only ROWPREFIX_FIXED_LENGTH has one, expected 0");
  }
  return "";
}

}  // namespace rowbloom
