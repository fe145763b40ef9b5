#include "rowbloom/advise.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "lib/bytes/text.h"
#include "lib/plan/kind_bits.h"
#include "lib/plan/level_plan.h"
#include "lib/plan/section_split.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

// A ribbon has more than the slots of its keys: some at the ends of its systems
// stay empty, and each system has a header.
double RibbonBytes(uint64_t keys, double bits_per_key) {
  constexpr double kEmptySlots = 50;
  constexpr double kHeaderBytes = 20;
  return (static_cast<double>(keys) + kEmptySlots) * bits_per_key / 8 +
         kHeaderBytes;
}

// The prediction for one file of this rate, without its wasted reads.
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
      const double ribbon =
          RibbonBytes(section.keys, KindBits(filter.kind, section.rate));
      if (ribbon <= static_cast<double>(*bytes)) {
        *bytes = static_cast<uint64_t>(ribbon);
        return;
      }
    }
    // A section of the most bytes may have too many keys for this rate.
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
  double row_spread = 1;  // the chance that a run has an existing row
};

// Returns the runs of each level, by index, or one group of all files if the
// profile has no place.
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

// The sorted runs that a read considers.
double CountRuns(const FileProfile& profile) {
  if (!profile.place) return profile.files;
  const LevelShape& tree = profile.place->tree;
  return static_cast<double>(tree.levels + tree.level0_files);
}

// Returns the largest share of files with a row that any level has. With this
// row_spread the bounds of AdaptiveSplit hold on each level.
double RowSpread(const FileProfile& profile) {
  return std::ranges::max(RunGroups(profile), {}, &RunGroup::row_spread)
      .row_spread;
}

}  // namespace

Prediction Predict(const FileProfile& profile, const FilterSpec& filter) {
  const std::vector<RunGroup> groups = RunGroups(profile);
  std::vector<double> rates(groups.size(), filter.false_positive_rate);
  if (profile.place && filter.level_allocation) {
    rates = LevelRates(profile.place->tree, filter.bloom_type,
                       {&filter.kind, 1}, filter.false_positive_rate);
  }
  Prediction result = PredictSections(
      profile, filter, rates[profile.place ? profile.place->level : 0]);
  Prediction file;
  for (size_t level = 0; level < groups.size(); ++level) {
    const RunGroup& group = groups[level];
    // Most levels have the rate of the one before, and with it its filters.
    if (level == 0 || rates[level] != rates[level - 1]) {
      file = PredictSections(profile, filter, rates[level]);
    }
    const WastedReads wasted = PredictWastedReads(
        {.row = file.row_rate, .row_col = file.row_col_rate}, group.row_spread);
    result.wasted.scan_absent_row += group.runs * wasted.scan_absent_row;
    result.wasted.get_absent_row += group.runs * wasted.get_absent_row;
    result.wasted.get_absent_column += group.runs * wasted.get_absent_column;
  }
  return result;
}

namespace {

// About the bytes of a filter block around its sections.
constexpr uint64_t kOverheadBytes = 160;
// Fewer bits per key exclude too few keys to be worth a probe; more bits
// exclude hardly any further keys.
constexpr double kFewestBits = 2;
constexpr double kMostBits = 24;
// The share of ROW's wasted reads that ROWCOL has to stay below.
constexpr double kWorthAllCells = 0.5;

double Cost(const FileProfile& profile, const Prediction& prediction) {
  const WastedReads& wasted = prediction.wasted;
  const ReadShares& reads = profile.reads;
  return wasted.scan_absent_row * reads.scan_absent_row +
         wasted.get_absent_row * reads.get_absent_row +
         wasted.get_absent_column * reads.get_absent_column;
}

uint64_t EntriesOf(const FileProfile& profile, const FilterSpec& filter) {
  const bool has_cells = filter.bloom_type == BloomType::kRowCol;
  return profile.rows + (has_cells ? profile.cells : 0);
}

// The rate that `filter` can have within the budget; nullopt if it would not be
// worth a probe.
std::optional<double> RateWithin(const FileProfile& profile, FilterSpec filter,
                                 const FilterBudget& budget) {
  if (budget.filter_bytes == 0) return budget.false_positive_rate;
  filter.level_allocation.reset();
  const uint64_t entries = EntriesOf(profile, filter);
  double bytes = static_cast<double>(budget.filter_bytes) - kOverheadBytes;
  while (true) {
    const double bits = 8 * bytes / static_cast<double>(entries);
    if (bits < kFewestBits) return std::nullopt;
    filter.false_positive_rate =
        KindRate(filter.kind, std::min(bits, kMostBits));
    const uint64_t taken =
        kOverheadBytes +
        PredictSections(profile, filter, filter.false_positive_rate).bytes();
    if (taken <= budget.filter_bytes) return filter.false_positive_rate;
    // Sections take more bits than their entries need, and whole blocks.
    bytes -= std::max(static_cast<double>(taken - budget.filter_bytes),
                      double{kBloomBlockBytes});
  }
}

std::vector<FilterAlternative> AllAlternatives(const FileProfile& profile,
                                               const FilterBudget& budget) {
  FilterSpec none = {.bloom_type = BloomType::kNone};
  if (budget.filter_bytes == 0) {
    none.false_positive_rate = budget.false_positive_rate;
  }
  std::vector<FilterAlternative> all = {{none, Predict(profile, none)}};
  const auto add = [&](FilterSpec filter) {
    if (const auto rate = RateWithin(profile, filter, budget)) {
      filter.false_positive_rate = *rate;
      all.push_back({filter, Predict(profile, filter)});
    }
  };
  const double spread = RowSpread(profile);
  const auto add_with_spread = [&](FilterSpec filter) {
    add(filter);
    if (filter.bloom_type != BloomType::kRowCol || spread == 1) return;
    filter.row_spread = spread;
    add(filter);
  };
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    if ((type == BloomType::kRow ? profile.rows : profile.cells) == 0) break;
    for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
      FilterSpec filter = {.bloom_type = type, .kind = kind};
      add_with_spread(filter);
      if (!profile.place) continue;
      filter.level_allocation = profile.place->tree;
      add_with_spread(filter);
    }
  }
  return all;
}

// Tells whether ROWCOL is worth the bytes of all cells. It has to beat ROW of
// the same budget, and ROW with as many bits for each row.
bool IsWorthAllCells(const FileProfile& profile,
                     const FilterAlternative& row_col,
                     const FilterAlternative& row) {
  FilterSpec rows_alone = row_col;
  rows_alone.bloom_type = BloomType::kRow;
  if (row_col.row_spread) {
    rows_alone.row_spread.reset();
    rows_alone.false_positive_rate =
        AdaptiveSplit(row_col.kind, profile.rows, profile.cells,
                      row_col.false_positive_rate, *row_col.row_spread)
            .row;
  }
  return Cost(profile, row_col.prediction) <
         kWorthAllCells * std::min(Cost(profile, row.prediction),
                                   Cost(profile, Predict(profile, rows_alone)));
}

// `number` with three significant digits.
std::string Text(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), number,
                              std::chars_format::general, 3)
                    .ptr};
}

std::string DataText(const FileProfile& profile) {
  return Concat("A file has ", profile.rows, " rows with ",
                Text(static_cast<double>(profile.cells) /
                     static_cast<double>(profile.rows)),
                " cells each; a read considers ", Text(CountRuns(profile)),
                " files, ",
                profile.files_per_row == 0
                    ? "of which it is not known how many have its row."
                    : Text(profile.files_per_row) + " of which have its row.");
}

std::string PredictionText(const FilterAlternative& filter) {
  const WastedReads& wasted = filter.prediction.wasted;
  return Concat(
      ToString(filter.bloom_type), " of kind ", ToString(filter.kind),
      filter.level_allocation ? " with optimal bits by level" : "",
      filter.row_spread ? " with the adaptive split" : "", " at a rate of ",
      Text(filter.false_positive_rate), " takes ", filter.prediction.bytes(),
      " bytes in this file. Wasted reads: ", Text(wasted.scan_absent_row),
      " for a scan of an absent row, ", Text(wasted.get_absent_row),
      " for a get of an absent row, ", Text(wasted.get_absent_column),
      " for a get of an absent column.");
}

// The choice between a filter of kBloom and a ribbon of its rate, with the
// reason.
struct KindChoice {
  FilterKind kind;
  std::string reason;
};

KindChoice ChooseKind(const FileProfile& profile,
                      const FilterAlternative& bloom) {
  FilterSpec ribbon = bloom;
  ribbon.kind = FilterKind::kRibbon;
  const double saved_bytes =
      static_cast<double>(bloom.prediction.bytes()) -
      static_cast<double>(Predict(profile, ribbon).bytes());
  double lifetime = profile.lifetime_seconds;
  if (lifetime == 0 && profile.place &&
      profile.place->level == profile.place->tree.levels) {
    lifetime = std::numeric_limits<double>::infinity();
  }
  const double saved_cores = saved_bytes / kBytesPerCore;
  const double spent_cores = static_cast<double>(EntriesOf(profile, bloom)) *
                                 kBuildSecondsPerEntry / lifetime +
                             profile.questions_per_second * kLookupSeconds;
  if (std::isinf(spent_cores)) {
    return {FilterKind::kBloom,
            "Kind bloom, as it is not known that the file lives long."};
  }
  return {saved_cores > spent_cores ? FilterKind::kRibbon : FilterKind::kBloom,
          Concat("A ribbon saves ", std::llround(saved_bytes), " bytes, worth ",
                 Text(saved_cores), " cores, and takes ", Text(spent_cores),
                 " cores more to build and to probe.")};
}

std::string Problem(const FileProfile& profile, const FilterBudget& budget) {
  if (profile.rows == 0 && profile.cells > 0) {
    return "rows 0: expected some, as there are cells";
  }
  if (profile.place) {
    const FilePlace& place = *profile.place;
    const std::string problem = Problem(place.tree);
    if (!problem.empty()) return "tree: " + problem;
    if (place.level > place.tree.levels) {
      return Concat("level ", place.level, ": expected 0 to ",
                    place.tree.levels);
    }
  } else if (!(profile.files >= 1 && std::isfinite(profile.files))) {
    return Concat("files ", profile.files, ": expected a number from 1 up");
  }
  if (profile.files_per_row != 0 &&
      !(profile.files_per_row >= 1 &&
        profile.files_per_row <= CountRuns(profile))) {
    return Concat("files_per_row ", profile.files_per_row,
                  ": expected 0, or from 1 to ", Text(CountRuns(profile)));
  }
  for (const auto& [name, number] :
       {std::pair("lifetime_seconds", profile.lifetime_seconds),
        std::pair("questions_per_second", profile.questions_per_second),
        std::pair("share of reads", profile.reads.scan_absent_row),
        std::pair("share of reads", profile.reads.get_absent_row),
        std::pair("share of reads", profile.reads.get_absent_column)}) {
    if (!(number >= 0 && std::isfinite(number))) {
      return Concat(name, " ", number, ": expected a number from 0 up");
    }
  }
  if (budget.filter_bytes != 0) return "";
  return Problem(FilterSpec{.false_positive_rate = budget.false_positive_rate});
}

}  // namespace

Result<Advice> Advise(const FileProfile& profile, const FilterBudget& budget) {
  if (std::string problem = Problem(profile, budget); !problem.empty()) {
    return Error{std::move(problem)};
  }
  std::vector<FilterAlternative> all = AllAlternatives(profile, budget);
  const auto advice = [&all](const FilterAlternative& taken,
                             std::string reason) {
    Advice result{taken};
    result.taken = static_cast<size_t>(&taken - all.data());
    result.reason = std::move(reason);
    result.alternatives = std::move(all);
    return result;
  };
  const FilterAlternative& none = all.front();
  if (profile.rows == 0) {
    return advice(none, "NONE: there are no keys in the layout.");
  }
  if (Cost(profile, none.prediction) == 0) {
    return advice(none, DataText(profile) +
                            " NONE: no absent key is looked up, and a "
                            "filter helps no other read.");
  }
  // The filter of a type and kind with the fewest wasted reads, if there is
  // one.
  const auto best = [&](BloomType type, FilterKind kind) {
    const FilterAlternative* found = nullptr;
    for (const FilterAlternative& filter : all) {
      if (filter.bloom_type == type && filter.kind == kind &&
          (found == nullptr || Cost(profile, filter.prediction) <
                                   Cost(profile, found->prediction))) {
        found = &filter;
      }
    }
    return found;
  };
  const FilterAlternative* const row =
      best(BloomType::kRow, FilterKind::kBloom);
  const FilterAlternative* const row_col =
      best(BloomType::kRowCol, FilterKind::kBloom);
  if (row == nullptr) {
    return advice(none,
                  Concat(DataText(profile), " NONE: ", budget.filter_bytes,
                         " bytes have no room for 2 bits a row."));
  }

  const bool takes_row_col =
      row_col != nullptr && IsWorthAllCells(profile, *row_col, *row);
  const FilterAlternative* taken = takes_row_col ? row_col : row;
  const FilterAlternative* other = takes_row_col ? row : row_col;
  const KindChoice choice = ChooseKind(profile, *taken);
  if (const auto* same_type = best(taken->bloom_type, choice.kind)) {
    taken = same_type;
  }
  std::string reason = Concat(DataText(profile), " ", PredictionText(*taken),
                              " ", choice.reason);
  if (other != nullptr) reason += " " + PredictionText(*other);
  if (!takes_row_col && row_col != nullptr) {
    reason +=
        " For the reads that were given the cells do not halve what as many "
        "bits for the rows alone open.";
  } else if (!takes_row_col && profile.cells > 0) {
    reason += Concat(" For ROWCOL ", budget.filter_bytes,
                     " bytes have no room for 2 bits an entry.");
  }
  return advice(*taken, std::move(reason));
}

}  // namespace rowbloom
