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

#include "rowbloom/printable.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/totals.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

struct FilterArgs : FileArgs {
  bool partitions = false;  // list each partition, too

  void AddTo(CLI::App* command) {
    FileArgs::AddTo(command);
    command->add_flag(
        "--partitions", partitions,
        "Also list each partition, or chunk of an HFile's filter");
  }
};

// Some of the texts, separated by commas.
std::string Listed(const std::set<std::string>& texts) {
  constexpr size_t kMost = 4;
  std::string list;
  size_t count = 0;
  for (const std::string& text : texts) {
    if (++count > kMost) {
      return list + fmt::format(", and {} more", texts.size() - kMost);
    }
    list += (list.empty() ? "" : ", ") + text;
  }
  return list;
}

// The filter of one file, gathered part by part.
class FilterReport {
 public:
  FilterReport(const TableFile& file, const FilterArgs& args,
               const Output& output)
      : file_(file),
        facts_(file.Facts()),
        has_parts_(facts_.filter_form != "full"),
        args_(args),
        output_(output),
        findings_(file.path(), output) {}

  ExitCode Run() {
    if (!output_.json) {
      output_.out << WithoutControls(file_.path()) << "\n";
    }
    const Status status =
        file_.ForEachFilterPart([this](const FilterPart& part) { Add(part); });
    if (!status.ok()) findings_.Failure(status);
    // RocksDB counts what it adds to its own filters, which do not say.
    if (is_stock_ && findings_.problems() == 0) {
      UseEntriesOfProperties(facts_, &totals_);
      if (totals_.size() == 1 && parts_.size() == 1) {
        parts_[0].totals = totals_.begin()->second;
      }
    }
    if (output_.json) {
      PrintJson(output_.out);
    } else {
      PrintText(output_.out);
    }
    return findings_.worst();
  }

 private:
  struct PartSection {
    size_t number = 0;
    uint64_t offset_bytes = 0;
    SectionId what;
    SectionTotals totals;
    SectionFacts facts;
    std::string key_text;
  };

  void Add(const FilterPart& part) {
    ++part_count_;
    size_bytes_ += part.size_bytes;
    const std::string where =
        has_parts_ ? fmt::format("{} {}: ", file_.filter_part(), part.number)
                   : "";
    if (!part.status.ok()) findings_.Failure(part.status, where);
    if (!part.problem.empty()) findings_.Problem(where + part.problem);
    if (!part.note.empty()) findings_.Note(part.note);
    if (!part.foreign.empty()) ++foreign_[part.foreign];
    if (!part.parameters.empty()) parameters_.insert(part.parameters);
    if (part.version != 0) {
      version_ = part.version;
      layout_ = part.layout;
      row_prefix_bytes_ = std::max(row_prefix_bytes_, part.row_prefix_bytes);
    }
    is_stock_ = is_stock_ && part.writer == "RocksDB";
    for (const SectionFacts& section : part.sections) {
      const SectionId what(section.section, section.kind);
      totals_[what].Add(section);
      if (!section.problem.empty()) {
        findings_.Problem(where + section.section + " " + section.problem);
      }
      SectionTotals own;
      own.Add(section);
      parts_.push_back(
          {part.number, part.offset_bytes, what, own, section, part.key_text});
      parts_.back().facts.bits = {};  // lives no longer
      has_capacity_ = has_capacity_ || section.capacity_keys;
    }
  }

  void PrintText(std::ostream& out) const {
    out << "  policy  "
        << (facts_.filter_policy.empty() ? "none"
                                         : ToPrintable(facts_.filter_policy))
        << "\n  filter  " << facts_.filter_form << ", ";
    if (part_count_ > 0 && has_parts_) {
      out << Grouped(part_count_) << " " << file_.filter_part()
          << (part_count_ == 1 ? "" : "s") << ", ";
    }
    if (size_bytes_ > 0) out << HumanAndExactBytes(size_bytes_) << ", ";
    out << facts_.format << "\n";
    if (version_ != 0) {
      out << "  layout  " << ToPrintable(layout_);
      if (row_prefix_bytes_ != 0) {
        out << ", row prefix of " << row_prefix_bytes_ << " bytes";
      }
      out << ", filter block version " << version_ << "\n";
    }
    for (const auto& [text, count] : foreign_) {
      out << "  content "
          << (has_parts_ ? fmt::format("{} of {}: ", count, part_count_) : "")
          << text << "\n";
    }
    if (!parameters_.empty()) {
      out << "  made of " << Listed(parameters_) << "\n";
    }
    if (!totals_.empty()) {
      Table table(SectionColumns());
      for (const auto& [what, totals] : totals_) {
        table.AddRow(SectionCells(what, totals));
      }
      table.Print(out);
    }
    if (args_.partitions && has_parts_ && !parts_.empty()) PrintParts(out);
  }

  void PrintParts(std::ostream& out) const {
    out << "\n";
    std::vector<std::string> columns = SectionColumns();
    columns.insert(columns.begin(), ">" + std::string(file_.filter_part()));
    if (has_capacity_) {
      columns.push_back(">room for");
      columns.push_back(">folded");
    }
    columns.push_back(file_.index_keys_come_first() ? "from key" : "up to key");
    Table table(columns);
    for (const PartSection& part : parts_) {
      std::vector<std::string> cells = SectionCells(part.what, part.totals);
      cells.insert(cells.begin(), fmt::format("{}", part.number));
      if (has_capacity_) {
        const SectionFacts& facts = part.facts;
        cells.push_back(facts.capacity_keys
                            ? fmt::format("{}", *facts.capacity_keys)
                            : "-");
        cells.push_back(!facts.folds ? "-"
                        : *facts.folds == 0
                            ? "no"
                            : fmt::format("{}x{}", *facts.folds,
                                          facts.folds_assumed ? "?" : ""));
      }
      cells.push_back(Shortened(part.key_text));
      table.AddRow(std::move(cells));
    }
    table.Print(out);
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

  void PrintJson(std::ostream& out) const {
    const std::string path = ToPrintable(file_.path());
    Record head("filter", path);
    head.Text("form", facts_.filter_form)
        .Text("policy", ToPrintable(facts_.filter_policy))
        .Number("partitions", part_count_)
        .Number("bytes", size_bytes_);
    if (version_ != 0) {
      head.Text("key_layout", ToPrintable(layout_))
          .Number("version", static_cast<uint64_t>(version_))
          .Number("row_prefix_bytes", row_prefix_bytes_);
    }
    if (!parameters_.empty()) head.Text("parameters", Listed(parameters_));
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
    if (args_.partitions) {
      for (const PartSection& part : parts_) {
        Record record("partition_section", path);
        record.Number("partition", part.number)
            .Number("offset", part.offset_bytes);
        AddTo(&record, part.what, part.totals);
        if (part.facts.capacity_keys) {
          record.Number("capacity", part.facts.capacity_keys)
              .Number("folds", part.facts.folds)
              .Flag("folds_assumed", part.facts.folds_assumed);
        }
        record.Text(file_.index_keys_come_first() ? "from_key" : "up_to_key",
                    part.key_text);
        record.Print(out);
      }
    }
  }

  const TableFile& file_;
  const TableFacts facts_;
  const bool has_parts_;
  const FilterArgs& args_;
  const Output& output_;
  Findings findings_;
  size_t part_count_ = 0;
  uint64_t size_bytes_ = 0;
  TotalsBySection totals_;
  std::vector<PartSection> parts_;
  bool is_stock_ = true;                   // all parts are RocksDB's own
  bool has_capacity_ = false;              // some say it
  std::map<std::string, size_t> foreign_;  // description: how many blocks
  std::set<std::string> parameters_;
  std::string layout_;
  uint32_t row_prefix_bytes_ = 0;
  int version_ = 0;  // 0: no rowbloom block was decoded
};

ExitCode PrintFilter(const TableFile& file, const FilterArgs& args,
                     const Output& output) {
  return FilterReport(file, args, output).Run();
}

}  // namespace

Action AddFilter(CLI::App* command) {
  return AddFileVerb(command, PrintFilter);
}

}  // namespace rowbloom::sst_inspect
