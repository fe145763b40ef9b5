#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

#include "rowbloom/filter_block.h"
#include "rowbloom/printable.h"
#include "tools/sst_inspect/decoded_filter.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/filter_origin.h"
#include "tools/sst_inspect/format_verbs.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/section_totals.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

struct FilterArgs : FileArgs {
  bool partitions = false;  // list each partition, too
};

using Align = Table::Align;

std::vector<Table::Column> PartitionColumns() {
  std::vector<Table::Column> columns = SectionColumns();
  columns.insert(columns.begin(), {"partition", Align::kRight});
  columns.push_back({"up to key"});
  return columns;
}

// Long keys leave the table readable.
std::string ShortKey(std::string_view key) {
  constexpr size_t kMaxBytes = 32;
  if (key.size() <= kMaxBytes) return ToPrintable(key);
  return ToPrintable(key.substr(0, kMaxBytes)) + "...";
}

// "SST format version 5", or what other formats say of themselves.
std::string FormatText(const TableFacts& facts) {
  constexpr std::string_view kRocksDb = "RocksDB table, format_version ";
  return facts.format.starts_with(kRocksDb)
             ? "SST format version " + facts.format.substr(kRocksDb.size())
             : facts.format;
}

// The filter of one file, gathered block by block.
class FilterReport {
 public:
  explicit FilterReport(const TableFile& file)
      : file_(file), facts_(file.Facts()) {}

  // `number` counts from 1.
  void Add(size_t number, const sst::FilterPartition& partition,
           std::string_view contents) {
    const std::string& policy = file_.filter().compatibility_name;
    const DecodedFilter filter(facts_, policy, contents);
    if (!filter.is_rowbloom()) {
      ++foreign_[Describe(filter.origin(), policy, contents)];
    }
    if (filter.rowbloom()) {
      if (!AddRowbloom(number, *filter.rowbloom())) return;
    } else if (filter.stock() && !filter.stock()->problem().empty()) {
      notes_.insert("rules nothing out: " + filter.stock()->problem());
    }
    if (filter.stock()) AddParameters(*filter.stock());
    for (const SectionFacts& section : filter.Sections(&rates_)) {
      const SectionId what(section.section, section.kind);
      totals_[what].Add(section);
      if (!section.problem.empty()) {
        Problem(number, section.section + " " + section.problem);
      }
      SectionTotals own;
      own.Add(section);
      partitions_.push_back({number, what, own, partition.index_key});
    }
  }

  void Problem(size_t number, const std::string& problem) {
    problems_.push_back(is_partitioned() && number > 0
                            ? fmt::format("partition {}: {}", number, problem)
                            : problem);
  }

  ExitCode Print(size_t partition_count, uint64_t size_bytes,
                 const FilterArgs& args, const Output& output) {
    CountKeys();
    if (output.json) {
      PrintJson(partition_count, size_bytes, args, output.out);
    } else {
      PrintText(partition_count, size_bytes, args, output.out);
    }
    return problems_.empty() ? ExitCode::kOk : ExitCode::kFinding;
  }

 private:
  struct PartitionSection {
    size_t number = 0;
    SectionId what;
    SectionTotals totals;
    std::string index_key;
  };

  bool is_partitioned() const {
    return file_.filter().form == sst::FilterForm::kPartitioned;
  }

  // False when the block's own directory cannot be trusted.
  bool AddRowbloom(size_t number, const FilterBlock& block) {
    if (!block.usable()) {
      // Sections are listed when it can: then only the layout is unknown here,
      // and nothing is damaged.
      if (block.sections().empty()) {
        Problem(number, block.problem());
        return false;
      }
      notes_.insert(block.problem() +
                    ": its sections can be listed but not asked");
    }
    layout_ = block.layout_id();
    version_ = block.format_version();
    row_prefix_bytes_ = std::max(row_prefix_bytes_, block.row_prefix_length());
    return true;
  }

  void AddParameters(const sst::StockFilter& filter) {
    switch (filter.kind()) {
      case sst::StockFilterKind::kBloom:
      case sst::StockFilterKind::kLegacyBloom:
        parameters_.insert(
            fmt::format("lines of {} bytes", filter.line_bytes()));
        break;
      case sst::StockFilterKind::kRibbon:
        slots_ += filter.slots();
        columns_.Add(filter.columns());
        seeds_.Add(filter.seed());
        break;
      case sst::StockFilterKind::kNoKeys:
      case sst::StockFilterKind::kReserved:
        break;
    }
  }

  // RocksDB counts what it adds to its own filters, which do not say.
  void CountKeys() {
    if (version_ != 0 || !problems_.empty()) return;
    UseEntriesOfProperties(facts_, &totals_);
    if (totals_.size() == 1 && partitions_.size() == 1) {
      partitions_[0].totals = totals_.begin()->second;
    }
  }

  std::string ParametersText() const {
    std::string text;
    for (const std::string& parameter : parameters_) {
      text += (text.empty() ? "" : ", ") + parameter;
    }
    if (slots_ > 0) {
      text += fmt::format("{}{} slots, {} result bits, seed {}",
                          text.empty() ? "" : ", ", slots_, RangeText(columns_),
                          RangeText(seeds_));
    }
    return text;
  }

  static std::string RangeText(const Range<int>& range) {
    return range.low == range.high
               ? fmt::format("{}", range.low)
               : fmt::format("{}-{}", range.low, range.high);
  }

  void PrintText(size_t partition_count, uint64_t size_bytes,
                 const FilterArgs& args, std::ostream& out) const {
    out << "  filter  "
        << (is_partitioned()
                ? fmt::format("partitioned, {} partition{}, ", partition_count,
                              partition_count == 1 ? "" : "s")
                : "full, ")
        << HumanAndExactBytes(size_bytes) << ", " << FormatText(facts_) << "\n";
    if (version_ != 0) {
      out << "  layout  " << ToPrintable(layout_);
      if (row_prefix_bytes_ != 0) {
        out << ", row prefix of " << row_prefix_bytes_ << " bytes";
      }
      out << ", filter block version " << version_ << "\n";
    }
    for (const auto& [text, count] : foreign_) {
      out << "  content "
          << (is_partitioned()
                  ? fmt::format("{} of {}: ", count, partition_count)
                  : "")
          << text << "\n";
    }
    if (const std::string parameters = ParametersText(); !parameters.empty()) {
      out << "  made of " << parameters << "\n";
    }
    if (!totals_.empty()) {
      Table table(SectionColumns());
      for (const auto& [what, totals] : totals_) {
        table.AddRow(SectionCells(what, totals));
      }
      table.Print(out);
    }
    if (args.partitions && is_partitioned() && !partitions_.empty()) {
      out << "\n";
      Table table(PartitionColumns());
      for (const PartitionSection& section : partitions_) {
        std::vector<std::string> cells =
            SectionCells(section.what, section.totals);
        cells.insert(cells.begin(), fmt::format("{}", section.number));
        cells.push_back(ShortKey(section.index_key));
        table.AddRow(std::move(cells));
      }
      table.Print(out);
    }
    for (const std::string& note : notes_) {
      out << "  note: " << WithoutControls(note) << "\n";
    }
    for (const std::string& problem : problems_) {
      out << "  problem: " << WithoutControls(problem) << "\n";
    }
  }

  void AddTo(Record* record, const SectionId& what,
             const SectionTotals& totals) const {
    record->Text("section", what.first).Text("kind", what.second);
    if (totals.probes.high > 0) {
      record->Number("probes", static_cast<uint64_t>(totals.probes.low));
    }
    record
        ->Number("keys",
                 totals.keys_known ? std::optional(totals.keys) : std::nullopt)
        .Flag("keys_estimated", totals.keys_estimated)
        .Number("bytes", totals.size_bytes)
        .Real("bits_per_key", totals.BitsPerKey());
    if (!totals.fill.empty) {
      record->Real("fill_low", totals.fill.low)
          .Real("fill_high", totals.fill.high);
    }
    record->Real("expected_rate", totals.Rate());
  }

  void PrintJson(size_t partition_count, uint64_t size_bytes,
                 const FilterArgs& args, std::ostream& out) const {
    const std::string path = ToPrintable(file_.path());
    Record head("filter", path);
    head.Text("form", is_partitioned() ? "partitioned" : "full")
        .Text("policy", ToPrintable(facts_.filter_policy))
        .Number("partitions", partition_count)
        .Number("bytes", size_bytes);
    if (version_ != 0) {
      head.Text("key_layout", ToPrintable(layout_))
          .Number("version", static_cast<uint64_t>(version_))
          .Number("row_prefix_bytes", row_prefix_bytes_);
    }
    if (const std::string parameters = ParametersText(); !parameters.empty()) {
      head.Text("parameters", parameters);
    }
    head.Print(out);
    for (const auto& [text, count] : foreign_) {
      Record("content", path)
          .Text("content", text)
          .Number("blocks", count)
          .Print(out);
    }
    for (const auto& [what, totals] : totals_) {
      Record record("section", path);
      AddTo(&record, what, totals);
      record.Print(out);
    }
    if (args.partitions) {
      for (const PartitionSection& section : partitions_) {
        Record record("partition_section", path);
        record.Number("partition", section.number);
        AddTo(&record, section.what, section.totals);
        record.Text("up_to_key", ToPrintable(section.index_key));
        record.Print(out);
      }
    }
    for (const std::string& note : notes_) {
      Record("note", path).Text("note", WithoutControls(note)).Print(out);
    }
    for (const std::string& problem : problems_) {
      Record("problem", path)
          .Text("problem", WithoutControls(problem))
          .Print(out);
    }
  }

  const TableFile& file_;
  const TableFacts facts_;
  SectionRates rates_;
  TotalsBySection totals_;
  std::vector<PartitionSection> partitions_;
  std::map<std::string, size_t> foreign_;  // description: how many blocks
  std::set<std::string> parameters_;
  uint64_t slots_ = 0;  // Ribbon only
  Range<int> columns_;
  Range<int> seeds_;
  std::set<std::string> notes_;
  std::vector<std::string> problems_;
  std::string layout_;
  uint32_t row_prefix_bytes_ = 0;
  int version_ = 0;  // 0: no rowbloom block was decoded
};

void PrintHead(const TableFile& file, std::ostream& out) {
  const std::string policy = file.Facts().filter_policy;
  out << WithoutControls(file.path()) << "\n"
      << "  policy  " << (policy.empty() ? "none" : ToPrintable(policy))
      << "\n";
}

ExitCode PrintFilter(const TableFile& file, const FilterArgs& args,
                     const Output& output) {
  if (const FormatVerbs* own = file.own_verbs()) {
    return own->PrintFilter(output);
  }
  if (!output.json) PrintHead(file, output.out);
  if (file.filter().form == sst::FilterForm::kNone) {
    if (output.json) {
      Record("filter", ToPrintable(file.path()))
          .Text("form", "none")
          .Print(output.out);
    } else {
      output.out << "  filter  none, " << FormatText(file.Facts()) << "\n";
    }
    return ExitCode::kOk;
  }
  FilterReport report(file);
  std::vector<sst::FilterPartition> partitions;
  rocksdb::Status status = file.FilterPartitions(&partitions);
  if (status.IsCorruption()) {
    report.Problem(0, Describe(status));
    return report.Print(0, 0, args, output);
  }
  if (!status.ok()) return Judge(output.err, status);

  ExitCode worst = ExitCode::kOk;
  uint64_t size_bytes = file.filter().form == sst::FilterForm::kPartitioned
                            ? file.filter().handle.size_bytes
                            : 0;
  std::string contents;
  for (size_t i = 0; i < partitions.size(); ++i) {
    size_bytes += partitions[i].handle.size_bytes;
    status = file.ReadFilter(partitions[i].handle, &contents);
    if (status.ok()) {
      report.Add(i + 1, partitions[i], contents);
    } else if (status.IsCorruption()) {
      report.Problem(i + 1, Describe(status));
    } else {
      worst = std::max(worst, Judge(output.err, status));
    }
  }
  return std::max(worst,
                  report.Print(partitions.size(), size_bytes, args, output));
}

}  // namespace

Action AddFilter(CLI::App* command) {
  const auto args = std::make_shared<FilterArgs>();
  args->AddTo(command);
  command->add_flag("--partitions", args->partitions,
                    "Also list each partition of a partitioned filter");
  return EachFile(args, PrintFilter);
}

}  // namespace rowbloom::sst_inspect
