#include "tools/sst_inspect/filter_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

#include "rowbloom/filter_block.h"
#include "rowbloom/printable.h"
#include "storage/sst/sst_file.h"
#include "tools/sst_inspect/filter_origin.h"
#include "tools/sst_inspect/text.h"

namespace rowbloom::sst_inspect {
namespace {

using Align = Table::Align;

// The smallest and greatest of some values.
template <typename T>
struct Range {
  T low{};
  T high{};
  bool empty = true;

  void Add(T value) {
    low = empty ? value : std::min(low, value);
    high = empty ? value : std::max(high, value);
    empty = false;
  }
};

// The sections of one type and kind, over the blocks of a file.
struct SectionTotals {
  uint64_t keys = 0;
  uint64_t size_bytes = 0;
  Range<int> probes;
  Range<double> fill;
  // An absent key meets a partition about as often as a present one does: the
  // rate of the file is the mean of the partitions' rates, weighted by keys.
  double rate_times_keys = 0;
  uint64_t usable_keys = 0;

  void Add(const FilterBlock& block, const FilterSection& section) {
    keys += section.keys;
    size_bytes += section.size_bytes;
    probes.Add(section.probes);
    if (!section.usable()) return;
    fill.Add(block.FillRatio(section));
    rate_times_keys += FilterBlock::ExpectedFalsePositiveRate(section) *
                       static_cast<double>(section.keys);
    usable_keys += section.keys;
  }

  // The cells probes, keys, bytes, bits/key, fill, expected FPR.
  std::vector<std::string> Cells() const {
    std::string bits_per_key = "-";
    if (keys > 0) {
      bits_per_key = fmt::format("{:.2f}", 8 * static_cast<double>(size_bytes) /
                                               static_cast<double>(keys));
    }
    const double rate = usable_keys > 0
                            ? rate_times_keys / static_cast<double>(usable_keys)
                            : 0;
    return {probes.low == probes.high
                ? fmt::format("{}", probes.low)
                : fmt::format("{}-{}", probes.low, probes.high),
            fmt::format("{}", keys),
            fmt::format("{}", size_bytes),
            bits_per_key,
            fill.empty ? "-" : PercentRange(fill.low, fill.high),
            fill.empty ? "-" : Percent(rate)};
  }
};

std::vector<Table::Column> SectionColumns() {
  return {{"section"},
          {"kind"},
          {"probes", Align::kRight},
          {"keys", Align::kRight},
          {"bytes", Align::kRight},
          {"bits/key", Align::kRight},
          {"fill", Align::kRight},
          {"expected FPR", Align::kRight}};
}

std::vector<Table::Column> PartitionColumns() {
  std::vector<Table::Column> columns = SectionColumns();
  columns.insert(columns.begin(), {"partition", Align::kRight});
  columns.push_back({"up to key"});
  return columns;
}

std::vector<std::string> SectionCells(
    const std::pair<SectionType, FilterKind>& what,
    const SectionTotals& totals) {
  std::vector<std::string> cells = totals.Cells();
  cells.insert(cells.begin(), {std::string(ToString(what.first)),
                               std::string(ToString(what.second))});
  return cells;
}

// Long keys leave the table readable.
std::string ShortKey(std::string_view key) {
  constexpr size_t kMaxBytes = 32;
  if (key.size() <= kMaxBytes) return ToPrintable(key);
  return ToPrintable(key.substr(0, kMaxBytes)) + "...";
}

// The filter of one file, gathered block by block.
class FilterReport {
 public:
  explicit FilterReport(const sst::SstFile& file) : file_(file) {}

  // `number` counts from 1.
  void Add(size_t number, const sst::FilterPartition& partition,
           std::string_view contents) {
    const std::string& policy = file_.filter().compatibility_name;
    const FilterOrigin origin = OriginOf(policy, contents);
    if (origin != FilterOrigin::kRowbloom) {
      ++foreign_[Describe(origin, policy, contents)];
      return;
    }
    const FilterBlock block = FilterBlock::Open(contents);
    if (!block.usable()) {
      // Sections are listed when the block's own directory can be trusted:
      // then only the layout is unknown here, and nothing is damaged.
      if (block.sections().empty()) {
        Problem(number, block.problem());
        return;
      }
      notes_.insert(block.problem() +
                    ": its sections can be listed but not asked");
    }
    layout_ = block.layout_id();
    version_ = block.format_version();
    for (const FilterSection& section : block.sections()) {
      row_prefix_bytes_ =
          std::max(row_prefix_bytes_, section.row_prefix_length);
      const std::pair what(section.type, section.kind);
      totals_[what].Add(block, section);
      SectionTotals own;
      own.Add(block, section);
      std::vector<std::string> cells = SectionCells(what, own);
      cells.insert(cells.begin(), fmt::format("{}", number));
      cells.push_back(ShortKey(partition.index_key));
      partitions_.AddRow(std::move(cells));
      if (!section.usable()) {
        Problem(number,
                fmt::format("{} {}", ToString(section.type), section.problem));
      }
    }
  }

  void Problem(size_t number, const std::string& problem) {
    problems_.push_back(file_.filter().form == sst::FilterForm::kPartitioned &&
                                number > 0
                            ? fmt::format("partition {}: {}", number, problem)
                            : problem);
  }

  ExitCode Print(size_t partition_count, uint64_t size_bytes,
                 const FilterVerbOptions& options, std::ostream& out) const {
    const bool partitioned =
        file_.filter().form == sst::FilterForm::kPartitioned;
    out << "  filter  "
        << (partitioned
                ? fmt::format("partitioned, {} partition{}, ", partition_count,
                              partition_count == 1 ? "" : "s")
                : "full, ")
        << HumanAndExactBytes(size_bytes) << ", SST format version "
        << file_.footer().format_version << "\n";
    if (version_ != 0) {
      out << "  layout  " << ToPrintable(layout_);
      if (row_prefix_bytes_ != 0) {
        out << ", row prefix of " << row_prefix_bytes_ << " bytes";
      }
      out << ", filter block version " << version_ << "\n";
    }
    for (const auto& [text, count] : foreign_) {
      out << "  content "
          << (partitioned ? fmt::format("{} of {}: ", count, partition_count)
                          : "")
          << text << "\n";
    }
    if (!totals_.empty()) {
      Table table(SectionColumns());
      for (const auto& [what, totals] : totals_) {
        table.AddRow(SectionCells(what, totals));
      }
      table.Print(out);
    }
    if (options.partitions && partitioned && !partitions_.empty()) {
      out << "\n";
      partitions_.Print(out);
    }
    for (const std::string& note : notes_) {
      out << "  note: " << WithoutControls(note) << "\n";
    }
    for (const std::string& problem : problems_) {
      out << "  problem: " << WithoutControls(problem) << "\n";
    }
    return problems_.empty() ? ExitCode::kOk : ExitCode::kFindings;
  }

 private:
  const sst::SstFile& file_;
  std::map<std::pair<SectionType, FilterKind>, SectionTotals> totals_;
  Table partitions_{PartitionColumns()};
  std::map<std::string, size_t> foreign_;  // description: how many blocks
  std::set<std::string> notes_;
  std::vector<std::string> problems_;
  std::string layout_;
  uint32_t row_prefix_bytes_ = 0;
  int version_ = 0;  // 0: no rowbloom block was decoded
};

void PrintHead(const sst::SstFile& file, std::ostream& out) {
  out << WithoutControls(file.path()) << "\n";
  const auto policy = file.properties().find("rocksdb.filter.policy");
  out << "  policy  "
      << (policy == file.properties().end() || policy->second.empty()
              ? "none"
              : ToPrintable(policy->second))
      << "\n";
}

}  // namespace

ExitCode PrintFilter(const std::string& path, const FilterVerbOptions& options,
                     std::ostream& out, std::ostream& err) {
  std::unique_ptr<sst::SstFile> file;
  rocksdb::Status status = sst::SstFile::Open(path, &file);
  if (!status.ok()) return ReportStatus(status, err);

  PrintHead(*file, out);
  if (file->filter().form == sst::FilterForm::kNone) {
    out << "  filter  none, SST format version "
        << file->footer().format_version << "\n";
    return ExitCode::kOk;
  }
  std::vector<sst::FilterPartition> partitions;
  status = file->FilterPartitions(&partitions);
  if (status.IsCorruption()) {
    out << "  problem: " << MessageOf(status) << "\n";
    return ExitCode::kFindings;
  }
  if (!status.ok()) return ReportStatus(status, err);

  ExitCode worst = ExitCode::kOk;
  FilterReport report(*file);
  uint64_t size_bytes = file->filter().form == sst::FilterForm::kPartitioned
                            ? file->filter().handle.size_bytes
                            : 0;
  std::string contents;
  for (size_t i = 0; i < partitions.size(); ++i) {
    size_bytes += partitions[i].handle.size_bytes;
    status = file->ReadBlock(partitions[i].handle, &contents);
    if (status.ok()) {
      report.Add(i + 1, partitions[i], contents);
    } else if (status.IsCorruption()) {
      report.Problem(i + 1, MessageOf(status));
    } else {
      worst = std::max(worst, ReportStatus(status, err));
    }
  }
  return std::max(worst,
                  report.Print(partitions.size(), size_bytes, options, out));
}

}  // namespace rowbloom::sst_inspect
