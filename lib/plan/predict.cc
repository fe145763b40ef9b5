#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/plan/kind_bits.h"
#include "lib/plan/level_plan.h"
#include "lib/plan/rate_table.h"
#include "lib/plan/tree_runs.h"
#include "rowbloom/advise.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

uint64_t BloomBytes(uint64_t keys, double bits_per_key) {
  return kBloomBlockBytes *
         static_cast<uint64_t>(std::ceil(static_cast<double>(keys) *
                                         bits_per_key / kBloomBlockBits));
}

// A ribbon has more than the slots of its keys: some at the ends of its systems
// stay empty, and each system has a header.
uint64_t RibbonBytes(uint64_t keys, double bits_per_key) {
  constexpr double kEmptySlots = 50;
  constexpr double kHeaderBytes = 20;
  return static_cast<uint64_t>((static_cast<double>(keys) + kEmptySlots) *
                                   bits_per_key / 8 +
                               kHeaderBytes);
}

// A section as FilterBlockBuilder sizes it: a ribbon has the rate of the Bloom
// filter that it replaces, and replaces it only if it is smaller.
struct Section {
  double rate = 1;
  uint64_t bytes = 0;
};

Section BuiltSection(FilterKind kind, uint64_t keys, double rate) {
  const RateTable& table = RateTable::Get();
  const double bloom_bits = table.Bits(rate);
  Section section = {.rate = table.Rate(bloom_bits),
                     .bytes = BloomBytes(keys, bloom_bits)};
  if (kind == FilterKind::kRibbon) {
    section.bytes = std::min(section.bytes,
                             RibbonBytes(keys, KindBits(kind, section.rate)));
  }
  return section;
}

struct Sections {
  Section row;
  Section row_col;
};

Sections BuiltSections(const FileProfile& profile, const FilterSpec& filter,
                       double rate) {
  Sections sections;
  if (filter.bloom_type == BloomType::kNone || profile.rows == 0) {
    return sections;
  }
  SectionRates rates = {.row = rate, .row_col = rate};
  const bool has_cells =
      filter.bloom_type == BloomType::kRowCol && profile.cells > 0;
  if (has_cells && filter.row_spread) {
    rates = AdaptiveSplit(filter.kind, profile.rows, profile.cells, rate,
                          *filter.row_spread);
  }
  sections.row = BuiltSection(filter.kind, profile.rows, rates.row);
  if (has_cells) {
    sections.row_col = BuiltSection(filter.kind, profile.cells, rates.row_col);
    // The split moves whole blocks.
    if (filter.kind == FilterKind::kBloom) {
      const double bits = RateTable::Get().Bits(rate);
      const uint64_t both =
          BloomBytes(profile.rows, bits) + BloomBytes(profile.cells, bits);
      sections.row.bytes = std::min(both, sections.row.bytes);
      sections.row_col.bytes = both - sections.row.bytes;
    }
  }
  return sections;
}

}  // namespace

Prediction Predict(const FileProfile& profile, const FilterSpec& filter) {
  std::vector<double> rates = {filter.false_positive_rate};
  if (profile.place) {
    rates.assign(profile.place->tree.levels + 1, filter.false_positive_rate);
    if (filter.level_allocation) {
      rates = LevelPlan(profile.place->tree, filter.bloom_type, filter.kind,
                        filter.false_positive_rate)
                  .rates();
    }
  }
  Prediction result;
  for (const RunGroup& group : RunGroups(profile)) {
    const Sections sections =
        BuiltSections(profile, filter, rates[group.level]);
    const WrongOpens opens = PredictWrongOpens(
        {.row = sections.row.rate, .row_col = sections.row_col.rate},
        group.row_spread);
    result.opens.scan_absent_row += group.runs * opens.scan_absent_row;
    result.opens.get_absent_row += group.runs * opens.get_absent_row;
    result.opens.get_absent_column += group.runs * opens.get_absent_column;
  }
  const Sections own = BuiltSections(
      profile, filter, rates[profile.place ? profile.place->level : 0]);
  result.row_bytes = own.row.bytes;
  result.row_rate = own.row.rate;
  result.row_col_bytes = own.row_col.bytes;
  result.row_col_rate = own.row_col.rate;
  return result;
}

}  // namespace rowbloom
