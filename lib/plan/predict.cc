#include "lib/plan/predict.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/plan/kind_bits.h"
#include "lib/plan/level_plan.h"
#include "lib/plan/section_split.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

// A ribbon has more than the slots of its keys: some at the ends of its systems
// stay empty, and each system has a header.
uint64_t RibbonBytes(uint64_t keys, double bits_per_key) {
  constexpr double kEmptySlots = 50;
  constexpr double kHeaderBytes = 20;
  return static_cast<uint64_t>((static_cast<double>(keys) + kEmptySlots) *
                                   bits_per_key / 8 +
                               kHeaderBytes);
}

// The prediction for one file of this rate, without its wrong opens.
Prediction PredictSections(const FileProfile& profile, const FilterSpec& filter,
                           double rate) {
  Prediction built;
  if (filter.bloom_type == BloomType::kNone || profile.rows == 0) return built;
  std::vector<SectionSize> sections = {{.keys = profile.rows}};
  if (filter.bloom_type == BloomType::kRowCol && profile.cells > 0) {
    sections.push_back({.keys = profile.cells});
  }
  const double bits = KindBits(FilterKind::kBloom, rate);
  SizeSections(filter.kind,
               {.bits_per_key = bits,
                .probes = TableProbes(bits),
                .rate = KindRate(FilterKind::kBloom, bits)},
               filter.row_spread, sections);
  // A ribbon replaces a Bloom filter only if it is smaller, and fits a section.
  const auto predict = [&filter](const SectionSize& section, uint64_t* bytes,
                                 double* section_rate) {
    *bytes = section.blocks * kBloomBlockBytes;
    *section_rate = section.rate;
    if (filter.kind == FilterKind::kRibbon) {
      const uint64_t ribbon =
          RibbonBytes(section.keys, KindBits(filter.kind, section.rate));
      if (ribbon <= *bytes) {
        *bytes = ribbon;
        return;
      }
    }
    // Keys beyond what fits a section make its rate worse.
    if (*bytes == kMaxSectionBytes) {
      *section_rate = BlockedFalsePositiveRate(section.keys, section.blocks,
                                               section.probes);
    }
  };
  predict(sections[0], &built.row_bytes, &built.row_rate);
  if (sections.size() > 1) {
    predict(sections[1], &built.row_col_bytes, &built.row_col_rate);
  }
  return built;
}

// Runs of one size and rate.
struct RunGroup {
  double runs = 1;
  double row_spread = 1;  // the chance that one has an existing row
};

// The runs of each level, as LevelRates; without a place, one group of
// all files.
std::vector<RunGroup> RunGroups(const FileProfile& profile) {
  const double wanted = profile.files_per_row;
  if (!profile.place) {
    return {{.runs = profile.files,
             .row_spread = wanted == 0 ? 1 : wanted / profile.files}};
  }
  const LevelShape& tree = profile.place->tree;
  const std::vector<double> sizes = LevelEntries(tree);
  std::vector<RunGroup> groups(sizes.size());
  groups[0].runs = tree.level0_files;
  if (wanted == 0) return groups;
  // A run's share of rows is in proportion to its size, and at most 1.
  const auto spread_by = [&](double rows_per_entry) {
    double sum = 0;
    for (size_t i = 0; i < groups.size(); ++i) {
      groups[i].row_spread = std::min(1.0, rows_per_entry * sizes[i]);
      sum += groups[i].runs * groups[i].row_spread;
    }
    return sum;
  };
  // Bisection on a logarithmic scale, from no rows to all rows in each run.
  double low = std::log(1e-9);
  double high = -std::log(std::ranges::min(sizes));
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (spread_by(std::exp(middle)) < wanted ? low : high) = middle;
  }
  spread_by(std::exp(high));
  return groups;
}

}  // namespace

double CountRuns(const FileProfile& profile) {
  if (!profile.place) return profile.files;
  const LevelShape& tree = profile.place->tree;
  return static_cast<double>(tree.levels + tree.level0_files);
}

double RowSpread(const FileProfile& profile) {
  return std::ranges::max(RunGroups(profile), {}, &RunGroup::row_spread)
      .row_spread;
}

Prediction Predict(const FileProfile& profile, const FilterSpec& filter) {
  const std::vector<RunGroup> groups = RunGroups(profile);
  std::vector<double> rates(groups.size(), filter.false_positive_rate);
  if (profile.place && filter.level_allocation) {
    rates = LevelRates(profile.place->tree, filter.bloom_type,
                       {&filter.kind, 1}, filter.false_positive_rate);
  }
  Prediction result = PredictSections(
      profile, filter, rates[profile.place ? profile.place->level : 0]);
  for (size_t level = 0; level < groups.size(); ++level) {
    const RunGroup& group = groups[level];
    const Prediction file = PredictSections(profile, filter, rates[level]);
    const WrongOpens opens = PredictWrongOpens(
        {.row = file.row_rate, .row_col = file.row_col_rate}, group.row_spread);
    result.opens.scan_absent_row += group.runs * opens.scan_absent_row;
    result.opens.get_absent_row += group.runs * opens.get_absent_row;
    result.opens.get_absent_column += group.runs * opens.get_absent_column;
  }
  return result;
}

}  // namespace rowbloom
