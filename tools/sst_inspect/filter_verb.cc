#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "rowbloom/printable.h"
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

// Returns the first texts, separated by commas.
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

// Collects the filter of one file part by part, and prints it.
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
    output_.Line(file_.path());
    const Status status =
        file_.ForEachFilterPart([this](const FilterPart& part) { Add(part); });
    if (!status.ok()) findings_.Failure(status);
    // RocksDB's filters do not have their number of keys; the properties do.
    if (is_stock_ && findings_.problems() == 0) {
      UseEntriesOfProperties(facts_, &totals_);
    }
    Print();
    return findings_.worst();
  }

 private:
  struct PartSection {
    size_t number = 0;
    uint64_t offset_bytes = 0;
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
      totals_[{section.section, section.kind}].Add(section);
      if (!section.problem.empty()) {
        findings_.Problem(where + section.section + " " + section.problem);
      }
      if (!args_.partitions) continue;
      parts_.push_back(
          {part.number, part.offset_bytes, section, part.key_text});
      parts_.back().facts.bits = {};  // valid during the call only
    }
  }

  void Print() const {
    Record head("filter", file_.path());
    head.Text("form", facts_.filter_form)
        .Text("policy", ToPrintable(facts_.filter_policy))
        .Count("partitions", part_count_)
        .Bytes("bytes", size_bytes_);
    if (version_ != 0) {
      head.Text("key_layout", ToPrintable(layout_))
          .Number("version", static_cast<uint64_t>(version_))
          .Number("row_prefix_bytes", row_prefix_bytes_);
    }
    if (!parameters_.empty()) head.Text("parameters", Listed(parameters_));
    output_.Print(head);
    Listing contents(output_, "content blocks");
    for (const auto& [text, count] : foreign_) {
      contents.Add(Record("content", file_.path())
                       .Text("content", text)
                       .Count("blocks", count));
    }
    contents.Print();
    Listing sections(output_, kSectionColumns);
    for (const auto& [what, totals] : totals_) {
      Record record("section", file_.path());
      AddSectionTo(&record, what, totals);
      sections.Add(record);
    }
    sections.Print();
    if (args_.partitions) PrintParts();
  }

  void PrintParts() const {
    const std::string key =
        file_.index_keys_come_first() ? "from_key" : "up_to_key";
    if (!parts_.empty()) output_.Line();
    Listing listing(output_,
                    fmt::format("partition={} {} capacity=room_for "
                                "folds=folded {}",
                                file_.filter_part(), kSectionColumns, key));
    for (const PartSection& part : parts_) {
      const SectionFacts& facts = part.facts;
      Record record("partition_section", file_.path());
      record.Number("partition", part.number)
          .Number("offset", part.offset_bytes);
      // The totals of a single section are those of the file.
      SectionTotals totals;
      totals.Add(facts);
      if (parts_.size() == 1) totals = totals_.begin()->second;
      AddSectionTo(&record, {facts.section, facts.kind}, totals);
      if (facts.capacity_keys) {
        record.Number("capacity", facts.capacity_keys)
            .Number("folds", facts.folds);
        if (facts.folds) {
          record.As(fmt::format("{}x{}", *facts.folds,
                                facts.folds_assumed ? "?" : ""));
        }
        record.Flag("folds_assumed", facts.folds_assumed);
      }
      listing.Add(record.Long(key, part.key_text));
    }
  }

  const TableFile& file_;
  const TableFacts facts_;
  const bool has_parts_;
  const FilterArgs& args_;
  const Output& output_;
  PrintedFindings findings_;
  size_t part_count_ = 0;
  uint64_t size_bytes_ = 0;
  TotalsBySection totals_;
  std::vector<PartSection> parts_;         // for --partitions alone
  bool is_stock_ = true;                   // all parts are RocksDB's own
  std::map<std::string, size_t> foreign_;  // number of blocks by description
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
