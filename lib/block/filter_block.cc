#include "rowbloom/filter_block.h"

#include <algorithm>
#include <utility>

#include "lib/block/format.h"
#include "lib/block/parsed_block.h"
#include "lib/bytes/integers.h"
#include "lib/bytes/text.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {

std::string_view ToString(SectionType type) {
  return NameOf(type, {"unknown", "ROW", "ROWCOL", "ROWPREFIX"});
}

FilterBlock::FilterBlock(std::string_view contents,
                         std::shared_ptr<const ParsedBlock> parsed)
    : contents_(contents), parsed_(std::move(parsed)) {}

bool FilterBlock::IsFilterBlock(std::string_view contents) {
  return contents.starts_with(format::kHead) ||
         contents.ends_with(format::kTail);
}

FilterBlock FilterBlock::Open(std::string_view contents) {
  return {contents,
          std::make_shared<const ParsedBlock>(ParseFilterBlock(contents))};
}

const std::string& FilterBlock::problem() const { return parsed_->problem; }

const std::vector<FilterSection>& FilterBlock::sections() const {
  return parsed_->sections;
}

const std::string& FilterBlock::layout_id() const { return parsed_->layout_id; }

const FileOrigin& FilterBlock::origin() const { return parsed_->origin; }

uint32_t FilterBlock::row_prefix_length() const {
  const auto found = std::ranges::find(sections(), SectionType::kRowPrefix,
                                       &FilterSection::type);
  return found == sections().end() ? 0 : found->row_prefix_length;
}

std::optional<SectionType> FilterBlock::whole_keys() const {
  return parsed_->whole_keys;
}

uint8_t FilterBlock::format_version() const { return parsed_->format_version; }

MatchResult FilterBlock::MayMatch(std::string_view key) const {
  return parsed_->lookup.MayMatch(key);
}

void FilterBlock::MayMatch(std::span<const std::string_view> keys,
                           std::span<MatchResult> results) const {
  for (size_t start = 0; start < keys.size(); start += Kernel::kMaxMany) {
    const size_t count = std::min(Kernel::kMaxMany, keys.size() - start);
    const BatchAnswers answers = parsed_->lookup.MayMatch(
        count, [batch = keys.data() + start](size_t i) { return batch[i]; });
    for (size_t i = 0; i < count; ++i) {
      results[start + i] = parsed_->lookup.ResultOf(answers, i);
    }
  }
}

bool FilterBlock::MayMatchRow(std::string_view row_bytes) const {
  return !parsed_->lookup.IsRow(row_bytes, {}) ||
         MayMatch(row_bytes).may_match();
}

bool FilterBlock::MayMatchRowCol(std::string_view row_bytes,
                                 std::string_view qualifier) const {
  return !parsed_->lookup.IsRow(row_bytes, qualifier) ||
         MayMatch(Concat(row_bytes, qualifier)).may_match();
}

Verdict FilterBlock::ProbeSection(SectionType type, std::string_view row_bytes,
                                  std::string_view qualifier) const {
  return parsed_->lookup.ProbeSection(type, row_bytes, qualifier);
}

double FilterBlock::FillRatio(const FilterSection& section) const {
  if (!section.usable() || section.size_bytes == 0 ||
      section.offset_bytes > contents_.size() ||
      section.size_bytes > contents_.size() - section.offset_bytes) {
    return 0;
  }
  const uint64_t set =
      BitsSet(contents_.substr(section.offset_bytes, section.size_bytes));
  return static_cast<double>(set) /
         (8.0 * static_cast<double>(section.size_bytes));
}

double FilterBlock::BitsPerKey(const FilterSection& section) {
  if (section.keys == 0) return 0;
  return 8.0 * static_cast<double>(section.size_bytes) /
         static_cast<double>(section.keys);
}

double FilterBlock::ExpectedFalsePositiveRate(const FilterSection& section) {
  if (!section.usable()) return 1;
  if (section.keys == 0) return 0;
  if (section.kind == FilterKind::kRibbon) return section.ribbon_rate;
  return BlockedFalsePositiveRate(
      section.keys, section.size_bytes / kBloomBlockBytes, section.probes);
}

}  // namespace rowbloom
