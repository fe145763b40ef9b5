#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "rowbloom/printable.h"
#include "tools/cli/arguments.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/table_stats.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

struct StatsArgs : FileArgs {
  size_t biggest = 10;  // rows to list

  void AddTo(CLI::App* command) {
    FileArgs::AddTo(command);
    cli::AddNumberTo(command, "--biggest", &biggest, "How many rows to list")
        ->check(CLI::Range(0, 100'000));
    AddKeyLayoutTo(command);
    AddHexTo(command);
  }
};

class StatsPrinter {
 public:
  StatsPrinter(const TableFile& file, const KeyFormat& format,
               const TableStats& stats, const Output& output)
      : file_(file),
        path_(file.path()),
        format_(format),
        stats_(stats),
        output_(output) {}

  void PrintJson() const {
    Record record("stats", ToPrintable(path_));
    record.Number("entries", stats_.entries)
        .Number("keys", stats_.keys)
        .Number("range_deletions", stats_.range_deletions)
        .Number("key_bytes", stats_.key_bytes.sum())
        .Number("value_bytes", stats_.value_bytes.sum());
    if (stats_.has_rows) {
      record.Text("key_layout", format_.LayoutText())
          .Number("rows", stats_.rows)
          .Number("columns", stats_.columns)
          .Number("outside_layout", stats_.outside_layout)
          .Real("cells_per_row", stats_.cells_per_row.mean());
    }
    record.Print(output_.out);
    for (const auto& [type, count] : stats_.types) {
      Record("type", ToPrintable(path_))
          .Text("type", file_.TypeName(type))
          .Number("entries", count)
          .Print(output_.out);
    }
    ForEachHistogram([this](std::string_view name, const Histogram& histogram) {
      for (size_t i = 0; i < Histogram::kBuckets; ++i) {
        if (histogram.bucket(i) == 0) continue;
        Record("bucket", ToPrintable(path_))
            .Text("of", name)
            .Number("from", Histogram::LowOf(i))
            .Number("to", Histogram::HighOf(i))
            .Number("count", histogram.bucket(i))
            .Print(output_.out);
      }
    });
    for (const RowSize& row : stats_.biggest) {
      Record("row", ToPrintable(path_))
          .Text("row", format_.RowText(row.row))
          .Number("entries", row.cells)
          .Number("bytes", row.bytes)
          .Print(output_.out);
    }
  }

  void PrintText() const {
    std::ostream& out = output_.out;
    out << WithoutControls(path_) << "\n";
    Line("entries",
         Grouped(stats_.entries) + " of " + Grouped(stats_.keys) + " keys");
    std::string types;
    for (const auto& [type, count] : stats_.types) {
      types += (types.empty() ? "" : ", ") + Grouped(count) + " " +
               file_.TypeName(type);
    }
    if (stats_.range_deletions > 0) {
      types += (types.empty() ? "" : ", ") + Grouped(stats_.range_deletions) +
               " range-delete";
    }
    Line("types", types);
    if (stats_.has_rows) {
      Line("layout", format_.LayoutText());
      Line("rows",
           fmt::format("{}, {:.2f} keys each, at most {}", Grouped(stats_.rows),
                       stats_.cells_per_row.mean(),
                       Grouped(stats_.cells_per_row.max())));
      if (stats_.outside_layout > 0) {
        Line("outside", Grouped(stats_.outside_layout) +
                            " keys that the layout does not split");
      }
    } else {
      Line("rows", "not known: no key layout, see --key-layout");
    }
    ForEachHistogram([this](std::string_view name, const Histogram& histogram) {
      Print(name, histogram);
    });
    if (stats_.biggest.empty()) return;
    out << "\n";
    Table table({"biggest rows", ">entries", ">bytes"});
    for (const RowSize& row : stats_.biggest) {
      table.AddRow({Shortened(format_.RowText(row.row)), Grouped(row.cells),
                    Grouped(row.bytes)});
    }
    table.Print(out);
  }

 private:
  void Line(std::string_view name, const std::string& text) const {
    output_.out << fmt::format("  {:<7}  {}\n", name, text);
  }

  template <typename Use>
  void ForEachHistogram(const Use& use) const {
    use("key_bytes", stats_.key_bytes);
    use("value_bytes", stats_.value_bytes);
    use("versions", stats_.versions);
    if (!stats_.has_rows) return;
    use("cells_per_row", stats_.cells_per_row);
    use("row_bytes", stats_.row_bytes);
  }

  void Print(std::string_view name, const Histogram& histogram) const {
    if (histogram.count() == 0) return;
    constexpr double kBarWidth = 40;
    output_.out << fmt::format("\n  {}: mean {:.1f}, at most {}\n", name,
                               histogram.mean(), Grouped(histogram.max()));
    for (size_t i = 0; i < Histogram::kBuckets; ++i) {
      const uint64_t count = histogram.bucket(i);
      if (count == 0) continue;
      const double share =
          static_cast<double>(count) / static_cast<double>(histogram.count());
      output_.out << fmt::format(
          "  {:>20}  {:>14}  {:>7}  {}\n",
          Histogram::LowOf(i) == Histogram::HighOf(i)
              ? fmt::format("{}", Histogram::LowOf(i))
              : fmt::format("{}-{}", Histogram::LowOf(i), Histogram::HighOf(i)),
          Grouped(count), Percent(share),
          std::string(static_cast<size_t>(kBarWidth * share + 0.5), '#'));
    }
  }

  const TableFile& file_;
  const std::string& path_;
  const KeyFormat& format_;
  const TableStats& stats_;
  const Output& output_;
};

void PrintStats(const TableFile& file, const StatsArgs& args,
                const Output& output) {
  const KeyFormat format = Require(FormatOf(file, args.key_layout, args.hex));
  TableStats stats;
  // Figures of a part of a file would mislead.
  Require(GatherStats(file, format, args.biggest, &stats));
  const StatsPrinter printer(file, format, stats, output);
  if (output.json) {
    printer.PrintJson();
  } else {
    printer.PrintText();
  }
}

}  // namespace

Action AddStats(CLI::App* command) { return AddFileVerb(command, PrintStats); }

}  // namespace rowbloom::sst_inspect
