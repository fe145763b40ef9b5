// advise recommends a filter for a file, or for each family of a database. It
// prints the cost of this filter, of the present one and of others.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/bytes/text.h"
#include "rowbloom/advise.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/printable.h"
#include "tools/cli/arguments.h"
#include "tools/sst_inspect/table_stats.h"
#include "tools/sst_inspect/totals.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

// With so many rows, the estimated share of reads is exact to 2 % of itself
// (one standard deviation) for a file that half of the reads consider.
constexpr size_t kSampledRows = 4096;

struct AdviseArgs : FileArgs {
  double false_positive_rate = 0.01;
  double files = 1;          // the number that a read considers
  double files_per_row = 0;  // 0: all of them

  void AddTo(CLI::App* command) {
    FileArgs::AddTo(command);
    cli::AddOptionTo(command, "--rate", &false_positive_rate,
                     "False positive rate to aim at", "P")
        ->check([](const std::string& text) {
          double rate = 0;
          return ParseNumber(text, &rate) && IsFalsePositiveRate(rate)
                     ? std::string()
                     : "expected a rate inside (0, 1), found " + text;
        });
    cli::AddOptionTo(command, "--files", &files, "Files that a read considers",
                     "N");
    cli::AddOptionTo(command, "--files-per-row", &files_per_row,
                     "Files that have cells of one row; 0: all", "N");
    AddKeyLayoutTo(command);
    AddDbPathTo(command);
  }
};

// The filter of a file, with the rates of its sections that the verb `filter`
// shows.
struct PresentFilter {
  std::string name = "none";
  uint64_t bytes = 0;
  // The rates of rowbloom's sections, or those of RocksDB's own filter for
  // prefixes and for whole keys.
  bool has_sections = false;
  SectionRates sections;
  double prefix = 1;
  double key = 1;

  // Returns the wasted reads of the file, as PredictWastedReads does. In files
  // without whole keys RocksDB's gets probe the prefix.
  WastedReads Wasted(double row_spread) const {
    if (has_sections) return PredictWastedReads(sections, row_spread);
    const double get = std::min(prefix, key);
    return {prefix, get, get + row_spread * (key - get)};
  }
};

// Throws a Failure if the filter cannot be read.
PresentFilter ReadPresentFilter(const TableFile& file) {
  const TableFacts facts = file.Facts();
  PresentFilter present;
  std::string writer;
  TotalsBySection totals;
  Require(file.ForEachFilterPart([&](const FilterPart& part) {
    Require(part.status);
    writer = part.writer;
    present.bytes += part.size_bytes;
    for (SectionFacts section : part.sections) {
      if (!section.rate) section.rate = 1;  // it is damaged
      totals[{section.section, section.kind}].Add(section);
    }
  }));
  if (present.bytes == 0) return present;
  for (const auto& [what, sums] : totals) {
    const double rate = sums.Rate().value_or(1);
    present.name = what.second;
    if (what.first == "ROWCOL") {
      present.sections.row_col = rate;
    } else if (what.first.starts_with("ROW")) {
      present.sections.row = rate;
    } else {
      if (facts.whole_key_filter) present.key = rate;
      if (facts.prefix_filter) present.prefix = rate;
    }
  }
  present.name = totals.empty() ? "unknown" : writer + " " + present.name;
  present.has_sections = writer == "rowbloom";
  return present;
}

// The cost of a choice of filter, over all files.
struct FilterCost {
  std::string which;  // "present", "advised" or "alternative"
  std::string name;
  uint64_t bytes = 0;
  WastedReads wasted;  // per read, over all files that it considers

  void Add(uint64_t more_bytes, const WastedReads& more, double times) {
    bytes += more_bytes;
    wasted.scan_absent_row += times * more.scan_absent_row;
    wasted.get_absent_row += times * more.get_absent_row;
    wasted.get_absent_column += times * more.get_absent_column;
  }
};

std::string TextOf(const FilterSpec& filter) {
  if (filter.bloom_type == BloomType::kNone) return "none";
  return fmt::format("{} {} at {:.4g}{}", ToString(filter.bloom_type),
                     ToString(filter.kind), filter.false_positive_rate,
                     filter.row_spread ? ", adaptive split" : "");
}

// The files that reads may consider: those of a family, or a single file. The
// distinct rows with the smallest hashes are a sample of a family's rows. It
// tells which files a read considers, by their ranges of keys, and which of
// these have its row. Absent rows are assumed to be spread as present rows are.
class AdvisedFiles {
 public:
  // `family` is empty for a single file. `layout_id` is the key layout of all
  // files; empty: the one that each file names.
  AdvisedFiles(std::string path, std::string family, std::string layout_id)
      : path_(std::move(path)),
        family_(std::move(family)),
        layout_id_(std::move(layout_id)) {}

  // Reads the data and the filter of a file; `place`, which must outlive this,
  // is its place in the family. Error: no key layout is known. After a Failure
  // in the data, the data before it counts.
  std::optional<Error> Add(const TableFile& file, const TreeFile* place) {
    const auto format = FormatOf(file, layout_id_, /*hex=*/false);
    if (!format) return Error{format.error()};
    if (!format->layout) {
      return Error{file.path() + ": no key layout known, give --key-layout"};
    }
    PresentFilter present = ReadPresentFilter(file);
    layout_ = format->layout;
    files_.push_back({.place = place, .present = std::move(present)});
    TableStats stats;
    const Status status =
        GatherStats(file, *format, 0, &stats,
                    [this](std::string_view row) { AddRow(row); });
    files_.back().profile = {.rows = stats.rows, .cells = stats.columns};
    Require(status);
    return std::nullopt;
  }

  bool empty() const { return files_.empty(); }

  // Estimates the share of reads that consider each file of a family. `order`
  // is the order of its keys.
  void FindReads(sst::KeyOrder order) {
    const auto before = [order](std::string_view a, std::string_view b) {
      return order != sst::KeyOrder::kUnknown &&
             sst::CompareUserKeys(order, 0, a, b) < 0;
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

  // Sets, for a single file, how many such files a read considers, and how many
  // of these have its row.
  void SetReads(double considered, double has_row) {
    files_.front().considered = considered;
    files_.front().has_row = has_row;
  }

  // Prints the advice, and the costs of the present filter and of others.
  // Throws a Failure if a number is out of its range. REQUIRES !empty(), and
  // FindReads or SetReads before.
  void Print(double false_positive_rate, const Output& output) const {
    FileProfile sum{.files = 0};
    for (const File& file : files_) {
      sum.rows += file.profile.rows;
      sum.cells += file.profile.cells;
      sum.files += file.considered;
      sum.files_per_row += file.has_row;
    }
    const Advice advice = AdviceFor(sum, false_positive_rate);
    const FilterSpec row{.bloom_type = BloomType::kRow,
                         .false_positive_rate = false_positive_rate};
    Record record = RecordOf("advice");
    record.Text("key_layout", layout_->ToString())
        .Count("rows", sum.rows)
        .Count("cells", sum.cells)
        .Text("bloom_type", ToString(advice.bloom_type))
        .Text("kind", ToString(advice.kind))
        .Real("false_positive_rate", advice.false_positive_rate)
        .Flag("adaptive_split", advice.row_spread.has_value())
        .Real("row_spread", advice.row_spread.value_or(1))
        .Text("reason", advice.reason);
    if (is_of_family()) {
      record.InText("files", Grouped(files_.size()))
          .Real("files_considered", sum.files)
          .Real("files_per_row", sum.files_per_row);
      AddFrontFilterTo(&record, row);
    }
    output.Line(path_);
    output.Print(record);
    output.Line();

    const FilterSpec row_col{.false_positive_rate = false_positive_rate};
    const FilterSpec rare_row_col{.false_positive_rate =
                                      false_positive_rate / 10};
    Listing costs(
        output,
        "which filter bytes scan_absent_row get_absent_row get_absent_column");
    for (const FilterCost& cost :
         {PresentCost(), CostOf(advice, "advised"),
          CostOf({.bloom_type = BloomType::kNone}, "alternative"),
          CostOf(row, "alternative"), CostOf(row_col, "alternative"),
          CostOf(rare_row_col, "alternative")}) {
      costs.Add(RecordOf("filter_cost")
                    .Text("which", cost.which)
                    .Text("filter", cost.name)
                    .Count("bytes", cost.bytes)
                    .Real("scan_absent_row", cost.wasted.scan_absent_row)
                    .Real("get_absent_row", cost.wasted.get_absent_row)
                    .Real("get_absent_column", cost.wasted.get_absent_column));
    }
    costs.Print();
    output.Line(fmt::format(
        "  wasted reads per lookup, of {:.4g} files that it considers",
        sum.files));
  }

 private:
  struct File {
    const TreeFile* place = nullptr;
    FileProfile profile;
    PresentFilter present;
    double considered = 0;  // share of reads that consider it
    double has_row = 0;     // share of the rows that it has

    double row_spread() const {
      return considered == 0 ? 1 : has_row / considered;
    }
  };
  // The ranges of files tell longer rows apart by their first bytes. Rows that
  // share their beginnings take little of a file.
  static constexpr size_t kMostRowBytes = size_t{4} << 10;
  struct SampledRow {
    std::string row;            // in the form of keys, cut to kMostRowBytes
    std::vector<size_t> files;  // the indexes of the files that have it
  };

  bool is_of_family() const { return !family_.empty(); }

  Record RecordOf(std::string_view kind) const {
    Record record(kind, path_);
    if (is_of_family()) record.Text("family", ToPrintable(family_));
    return record;
  }

  Advice AdviceFor(const FileProfile& sum, double false_positive_rate) const {
    // The mean file represents all, rounded up: files with cells have rows.
    const auto mean = [n = files_.size()](uint64_t of_all) {
      return (of_all + n - 1) / n;
    };
    FileProfile typical{.rows = mean(sum.rows),
                        .cells = mean(sum.cells),
                        .files = sum.files,
                        .files_per_row = sum.files_per_row};
    // The numbers of a family are estimates, which the last rows of a file may
    // miss.
    if (is_of_family()) {
      typical.files = std::max(1.0, sum.files);
      typical.files_per_row = std::clamp(sum.files_per_row, 1.0, typical.files);
    }
    const auto advised =
        Advise(typical, {.false_positive_rate = false_positive_rate});
    if (!advised) Require(Error{path_ + ": " + advised.error()});
    return *advised;
  }

  // A front filter holds the ROW sections of all files, and answers a get of an
  // absent row that passes none.
  void AddFrontFilterTo(Record* record, const FilterSpec& row) const {
    uint64_t bytes = 0;
    double answers = 1;
    for (const File& file : files_) {
      const Prediction built = Predict(file.profile, row);
      bytes += built.row_bytes;
      answers *= 1 - file.considered * built.row_rate;
    }
    record->Bytes("front_filter_bytes", bytes)
        .Share("front_filter_answers", answers);
  }

  void AddRow(std::string_view row) {
    const size_t hash = std::hash<std::string_view>()(row);
    if (sample_.size() == kSampledRows) {
      const auto last = std::prev(sample_.end());
      if (hash > last->first) return;
      if (hash < last->first && !sample_.contains(hash)) sample_.erase(last);
    }
    SampledRow& sampled = sample_[hash];
    if (sampled.files.empty()) sampled.row = row.substr(0, kMostRowBytes);
    const size_t file = files_.size() - 1;
    if (sampled.files.empty() || sampled.files.back() != file) {
      sampled.files.push_back(file);
    }
  }

  FilterCost PresentCost() const {
    FilterCost cost{.which = "present"};
    for (const File& file : files_) {
      cost.Add(file.present.bytes, file.present.Wasted(file.row_spread()),
               file.considered);
      if (cost.name.empty()) cost.name = file.present.name;
      if (cost.name != file.present.name) cost.name = "several";
    }
    return cost;
  }

  FilterCost CostOf(const FilterSpec& filter, std::string which) const {
    FilterCost cost{.which = std::move(which), .name = TextOf(filter)};
    for (const File& file : files_) {
      const Prediction built = Predict(file.profile, filter);
      cost.Add(built.bytes(),
               PredictWastedReads(
                   {.row = built.row_rate, .row_col = built.row_col_rate},
                   file.row_spread()),
               file.considered);
    }
    return cost;
  }

  const std::string path_;
  const std::string family_;
  const std::string layout_id_;
  std::optional<KeyLayout> layout_;
  std::vector<File> files_;
  std::map<size_t, SampledRow> sample_;  // by the hash of the row
};

void AdviseFile(const TableFile& file, const AdviseArgs& args,
                const Output& output) {
  if (file.key_form() == KeyForm::kHFile) {
    Require(Error{
        file.path() +
        ": advise is about SSTs; HBase has ROW and ROWCOL filters alone"});
  }
  AdvisedFiles files(file.path(), "", args.key_layout);
  Require(files.Add(file, nullptr));
  files.SetReads(args.files,
                 args.files_per_row == 0 ? args.files : args.files_per_row);
  files.Print(args.false_positive_rate, output);
}

// Skips families whose key layout is not known; fails if it skips all.
ExitCode AdviseTree(const DatabaseTree& tree, const AdviseArgs& args,
                    const Streams& streams) {
  const FileOpener opener(streams, Prints::kAtTheEnd);
  const Output output{streams.out, streams.err, args.json};
  ExitCode worst = ExitCode::kOk;
  bool advised = false;
  for (const TreeFamily& family : tree.families) {
    AdvisedFiles files(tree.path, family.name, args.key_layout);
    std::optional<Error> unknown;
    for (const TreeFile& place : family.files) {
      if (unknown) break;
      worst = std::max(worst, opener.Open(place, [&](const TableFile& file) {
        unknown = files.Add(file, &place);
        return ExitCode::kOk;
      }));
    }
    if (unknown) {
      Complain(streams.err, tree.path + ", family " + ToPrintable(family.name) +
                                " is left out: " + unknown->message);
      continue;
    }
    if (files.empty()) continue;
    files.FindReads(family.key_order);
    if (advised) output.Line();
    files.Print(args.false_positive_rate, output);
    advised = true;
  }
  if (!advised && worst == ExitCode::kOk) {
    Require(Error{tree.path + ": no family has files of a known layout"});
  }
  return worst;
}

ExitCode AdviseAll(const AdviseArgs& args, const Streams& streams) {
  AdviseArgs databases = args;
  std::erase_if(databases.paths,
                [](const std::string& path) { return !IsDatabase(path); });
  AdviseArgs files = args;
  std::erase_if(files.paths, IsDatabase);
  if (!databases.paths.empty() &&
      (args.files != 1 || args.files_per_row != 0)) {
    Require(
        Error{"--files, --files-per-row: expected for files alone; those of a "
              "database are counted"});
  }
  const ExitCode of_trees =
      databases.ForEachTree(streams, [&](const DatabaseTree* tree) {
        return AdviseTree(*tree, args, streams);
      });
  return std::max(of_trees,
                  PrintEachFile(files, streams, AdviseFile, Prints::kAtTheEnd));
}

}  // namespace

Action AddAdvise(CLI::App* command) { return cli::AddVerb(command, AdviseAll); }

}  // namespace rowbloom::sst_inspect
