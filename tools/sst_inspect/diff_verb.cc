#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "rowbloom/printable.h"
#include "tools/cli/arguments.h"
#include "tools/cli/interruption.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

struct DiffArgs : FileArgs {
  // Differing cells, and range deletions, to print; all are counted.
  uint64_t limit = 20;

  void AddTo(CLI::App* command) {
    FileArgs::AddTo(command);
    cli::AddNumberTo(command, "--cells", &limit,
                     "Differing cells, and range deletions, to print")
        ->capture_default_str();
    AddHexTo(command);
  }
};

// Walks both files in their common order.
class Differ {
 public:
  Differ(const TableFile& a, const TableFile& b, const DiffArgs& args,
         const Output& output)
      : a_(a),
        b_(b),
        args_(args),
        output_(output),
        format_{.hex = args.hex,
                .form = a.key_form(),
                .timestamp_bytes = a.timestamp_bytes()} {}

  ExitCode Run() {
    if (a_.key_order() != b_.key_order() ||
        a_.key_order() == sst::KeyOrder::kUnknown ||
        a_.timestamp_bytes() != b_.timestamp_bytes() ||
        a_.key_form() != b_.key_form()) {
      Require(Error{
          fmt::format("{} and {}: cannot be compared: comparators \"{}\" and "
                      "\"{}\", expected the same known one",
                      a_.path(), b_.path(), ToPrintable(a_.Facts().comparator),
                      ToPrintable(b_.Facts().comparator))});
    }
    output_.Line("a  " + a_.path());
    output_.Line("b  " + b_.path());
    DiffProperties();
    DiffCells();
    DiffRangeDeletions();
    Report();
    return cells_.differing() + ranges_.differing() > 0 ? ExitCode::kFinding
                                                        : ExitCode::kOk;
  }

 private:
  struct Counts {
    uint64_t same = 0;
    uint64_t only_a = 0;
    uint64_t only_b = 0;
    uint64_t changed = 0;

    uint64_t differing() const { return only_a + only_b + changed; }
  };
  enum class Side : uint8_t { kA, kB };
  // A range deletion: start, end and sequence number.
  using Range = std::tuple<std::string, std::string, uint64_t>;

  // Properties describe how a file was made: a difference is no finding.
  void DiffProperties() {
    std::map<std::string, std::pair<std::string, std::string>> values;
    for (const Property& property : a_.Properties()) {
      values[property.name].first = format_.ValueText(property);
    }
    for (const Property& property : b_.Properties()) {
      values[property.name].second = format_.ValueText(property);
    }
    Listing differing(output_, "name=property a b");
    for (const auto& [name, pair] : values) {
      if (pair.first == pair.second) continue;
      differing.Add(Record("property_differs", a_.path())
                        .InJson("other", b_.path())
                        .Text("name", ToPrintable(name))
                        .Long("a", pair.first)
                        .Long("b", pair.second));
    }
  }

  void DiffCells() {
    Listing listing(output_, "side key timestamp type sequence tags value",
                    Prints::kAllTheWhile);
    const auto add = [&](Side side, std::string_view how, const Cell& cell) {
      if (cells_.differing() > args_.limit) return;
      Record record = Differing("cell_differs", side, how);
      record.Text("key", format_.ColumnText(cell.user_key));
      AddTimestamp(format_.TimestampOf(cell.user_key), &record);
      record.Number("sequence", cell.sequence)
          .Text("type", a_.TypeName(cell.type))
          .Text("value", format_.Text(cell.value))
          .As(format_.ShortText(cell.value));
      if (!cell.tags.empty()) {
        record.Text("tags", format_.Text(cell.tags))
            .As(format_.ShortText(cell.tags));
      }
      listing.Add(record);
    };
    const std::unique_ptr<CellReader> a = a_.NewCellReader();
    const std::unique_ptr<CellReader> b = b_.NewCellReader();
    bool more_a = a->Next();
    bool more_b = b->Next();
    // Stops at an error: a cell that cannot be read must not count as missing.
    while (a->status().ok() && b->status().ok() && (more_a || more_b)) {
      const int order = !more_b   ? -1
                        : !more_a ? 1
                                  : a_.CompareCells(a->cell(), b->cell());
      if (order < 0) {
        ++cells_.only_a;
        add(Side::kA, "only_a", a->cell());
      } else if (order > 0) {
        ++cells_.only_b;
        add(Side::kB, "only_b", b->cell());
      } else if (a->cell().value != b->cell().value ||
                 a->cell().tags != b->cell().tags) {
        ++cells_.changed;
        add(Side::kA, "value", a->cell());
        add(Side::kB, "value", b->cell());
      } else {
        ++cells_.same;
      }
      if (order <= 0) more_a = a->Next();
      if (order >= 0) more_b = b->Next();
    }
    Require(a->status());
    Require(b->status());
  }

  static std::vector<Range> RangeDeletionsOf(const TableFile& file) {
    std::vector<Range> ranges;
    Require(file.ForEachRangeDeletion(
        [&ranges](const TableFile::RangeDeletion& range) {
          ranges.emplace_back(range.start, range.end, range.sequence);
        }));
    std::ranges::sort(ranges);
    return ranges;
  }

  void DiffRangeDeletions() {
    Listing listing(output_, "side start=from end=to type sequence",
                    Prints::kAllTheWhile);
    const auto add = [&](Side side, std::string_view how, const Range& range) {
      if (ranges_.differing() > args_.limit) return;
      const auto& [start, end, sequence] = range;
      listing.Add(Differing("range_deletion_differs", side, how)
                      .Text("start", format_.Text(start))
                      .Text("end", format_.Text(end))
                      .InText("type", "range-delete")
                      .Number("sequence", sequence));
    };
    const std::vector<Range> a = RangeDeletionsOf(a_);
    const std::vector<Range> b = RangeDeletionsOf(b_);
    for (auto at_a = a.begin(), at_b = b.begin();
         at_a != a.end() || at_b != b.end();) {
      if (at_b == b.end() || (at_a != a.end() && *at_a < *at_b)) {
        ++ranges_.only_a;
        add(Side::kA, "only_a", *at_a++);
      } else if (at_a == a.end() || *at_b < *at_a) {
        ++ranges_.only_b;
        add(Side::kB, "only_b", *at_b++);
      } else {
        ++ranges_.same;
        ++at_a;
        ++at_b;
      }
    }
  }

  Record Differing(std::string_view kind, Side side,
                   std::string_view how) const {
    const TableFile& file = side == Side::kA ? a_ : b_;
    Record record(kind, file.path());
    record.Text("how", how).Text("side", side == Side::kA ? "a" : "b");
    return record;
  }

  void Report() const {
    output_.Print(Record("diff", a_.path())
                      .InJson("other", b_.path())
                      .Count("same", cells_.same)
                      .Count("only_a", cells_.only_a)
                      .Count("only_b", cells_.only_b)
                      .Count("changed", cells_.changed)
                      .Count("same_range_deletions", ranges_.same)
                      .Count("range_deletions_only_a", ranges_.only_a)
                      .Count("range_deletions_only_b", ranges_.only_b));
  }

  const TableFile& a_;
  const TableFile& b_;
  const DiffArgs& args_;
  const Output& output_;
  const KeyFormat format_;
  Counts cells_;
  Counts ranges_;
};

ExitCode Diff(const DiffArgs& args, const Streams& streams) {
  if (args.paths.size() != 2) {
    Require(Error{"diff: expected two files"});
  }
  const cli::Interruption interruption;
  std::unique_ptr<TableFile> files[2];
  for (size_t i = 0; i < 2; ++i) {
    Require(OpenTable(args.paths[i], &files[i]));
    files[i]->SetProgress(
        [&](uint64_t /*offset_bytes*/) { interruption.Check(streams.out); });
  }
  const Output output{streams.out, streams.err, args.json};
  return Differ(*files[0], *files[1], args, output).Run();
}

// Calls Diff, and returns kFinding for a damaged file.
ExitCode JudgedDiff(const DiffArgs& args, const Streams& streams) {
  return OrComplain(streams.err, [&] { return Diff(args, streams); });
}

}  // namespace

Action AddDiff(CLI::App* command) { return cli::AddVerb(command, JudgedDiff); }

}  // namespace rowbloom::sst_inspect
