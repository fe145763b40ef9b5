#include "tools/sst_inspect/family_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/table_stats.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

// So many rows make the share of a file that half of the reads consider exact
// to 2 % of itself (one standard deviation).
constexpr size_t kSampledRows = 4096;

void Add(const WrongOpens& more, WrongOpens* sum) {
  sum->scan_absent_row += more.scan_absent_row;
  sum->get_absent_row += more.get_absent_row;
  sum->get_absent_column += more.get_absent_column;
}

std::string NameOf(const FilterSpec& filter) {
  if (filter.bloom_type == BloomType::kNone) return "none";
  return fmt::format("{} {} at {:.4g}{}", ToString(filter.bloom_type),
                     ToString(filter.kind), filter.false_positive_rate,
                     filter.row_spread ? ", adaptive split" : "");
}

}  // namespace

void FamilyData::AddRow(std::string_view row) {
  const size_t hash = std::hash<std::string_view>()(row);
  if (sample_.size() == kSampledRows) {
    const auto last = std::prev(sample_.end());
    if (hash > last->first) return;
    if (hash < last->first && !sample_.contains(hash)) sample_.erase(last);
  }
  SampledRow& sampled = sample_[hash];
  if (sampled.files.empty()) sampled.row = row;
  const size_t file = files_.size() - 1;
  if (sampled.files.empty() || sampled.files.back() != file) {
    sampled.files.push_back(file);
  }
}

Status FamilyData::Add(const TreeFile& place, const TableFile& file) {
  KeyFormat format;
  Status status = FormatOf(file, layout_id_, false, &format);
  if (!status.ok()) return status;
  if (!format.layout) {
    return Status::InvalidArgument(file.path() +
                                   ": no key layout known, give --key-layout");
  }
  PresentFilter present;
  status = ReadPresentFilter(file, &present);
  if (!status.ok()) return status;
  layout_ = format.layout;
  files_.push_back({.place = &place, .present = std::move(present)});
  TableStats stats;
  status = GatherStats(file, format, 0, &stats,
                       [this](std::string_view row) { AddRow(row); });
  files_.back().profile = {.rows = stats.rows, .cells = stats.columns};
  return status;
}

void FamilyData::FindReads() {
  const auto before = [this](std::string_view a, std::string_view b) {
    return family_.key_order != sst::KeyOrder::kUnknown &&
           sst::CompareUserKeys(family_.key_order, 0, a, b) < 0;
  };
  const auto rows = static_cast<double>(std::max<size_t>(1, sample_.size()));
  for (size_t i = 0; i < files_.size(); ++i) {
    uint64_t considered = 0;
    uint64_t has_row = 0;
    for (const auto& [hash, sampled] : sample_) {
      const bool has = std::ranges::binary_search(sampled.files, i);
      has_row += has ? 1 : 0;
      considered += has || (!before(sampled.row, files_[i].place->smallest) &&
                            !before(files_[i].place->largest, sampled.row))
                        ? 1
                        : 0;
    }
    files_[i].considered = static_cast<double>(considered) / rows;
    files_[i].has_row = static_cast<double>(has_row) / rows;
  }
}

FilterCost FamilyData::PresentCost() const {
  FilterCost cost{.which = "present"};
  for (const File& file : files_) {
    cost.bytes += file.present.bytes;
    sst_inspect::Add(
        Scaled(file.present.Opens(file.row_spread()), file.considered),
        &cost.opens);
    if (cost.name.empty()) cost.name = file.present.name;
    if (cost.name != file.present.name) cost.name = "several";
  }
  return cost;
}

FilterCost FamilyData::CostOf(const FilterSpec& filter,
                              std::string which) const {
  FilterCost cost{.which = std::move(which), .name = NameOf(filter)};
  for (const File& file : files_) {
    const Prediction built = Predict(file.profile, filter);
    cost.bytes += built.bytes();
    sst_inspect::Add(Scaled(PredictWrongOpens({.row = built.row_rate,
                                               .row_col = built.row_col_rate},
                                              file.row_spread()),
                            file.considered),
                     &cost.opens);
  }
  return cost;
}

Status FamilyData::Report(const std::string& path, double false_positive_rate,
                          const std::function<void(const AdviceReport&)>& use) {
  FindReads();
  uint64_t rows = 0;
  uint64_t cells = 0;
  double considered = 0;
  double with_row = 0;
  for (const File& file : files_) {
    rows += file.profile.rows;
    cells += file.profile.cells;
    considered += file.considered;
    with_row += file.has_row;
  }
  // The mean file stands for all, rounded up: files with cells have rows.
  const auto mean = [n = files_.size()](uint64_t sum) {
    return (sum + n - 1) / n;
  };
  const FileProfile typical{
      .rows = mean(rows),
      .cells = mean(cells),
      .files = std::max(1.0, considered),
      .files_per_row = std::clamp(with_row, 1.0, std::max(1.0, considered))};
  const auto advice =
      Advise(typical, {.false_positive_rate = false_positive_rate});
  if (!advice) return Status::InvalidArgument(advice.error());

  const FilterSpec row{.bloom_type = BloomType::kRow,
                       .false_positive_rate = false_positive_rate};
  FilterSpec row_col{.false_positive_rate = false_positive_rate};
  AdviceReport report{.path = path,
                      .family = family_.name,
                      .layout = layout_->ToString(),
                      .rows = rows,
                      .cells = cells,
                      .files = considered,
                      .advice = *advice};
  report.costs = {PresentCost(), CostOf(*advice, "advised"),
                  CostOf({.bloom_type = BloomType::kNone}, "alternative"),
                  CostOf(row, "alternative"), CostOf(row_col, "alternative")};
  row_col.false_positive_rate /= 10;
  report.costs.push_back(CostOf(row_col, "alternative"));

  // The front filter holds the ROW sections of all files, and answers a get of
  // an absent row that passes none.
  uint64_t front_bytes = 0;
  double passes_none = 1;
  for (const File& file : files_) {
    const Prediction built = Predict(file.profile, row);
    front_bytes += built.row_bytes;
    passes_none *= 1 - file.considered * built.row_rate;
  }
  report.lines = {
      {"reads", fmt::format("{} files: a read considers {:.4g}, of which "
                            "{:.4g} have its row if that exists",
                            Grouped(files_.size()), considered, with_row)},
      {"front", fmt::format("a front filter over ROW at {:.4g} takes {} bytes "
                            "of memory and answers {} of gets of absent rows",
                            false_positive_rate, Grouped(front_bytes),
                            Percent(passes_none))}};
  report.members = {{"files_considered", considered},
                    {"files_per_row", with_row},
                    {"front_filter_bytes", static_cast<double>(front_bytes)},
                    {"front_filter_answers", passes_none}};
  use(report);
  return Status::OK();
}

}  // namespace rowbloom::sst_inspect
