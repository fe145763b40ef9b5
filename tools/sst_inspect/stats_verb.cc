#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "tools/cli/arguments.h"
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

// Prints the number of values of each power of two.
void PrintHistogram(std::string_view name, const Histogram& histogram,
                    const std::string& path, const Output& output) {
  if (histogram.count() == 0) return;
  constexpr double kBarWidth = 40;
  output.Line();
  output.Line(fmt::format("  {}: mean {:.1f}, at most {}", name,
                          histogram.mean(), Grouped(histogram.max())));
  Listing buckets(output, "from to count share bar");
  for (size_t i = 0; i < Histogram::kBuckets; ++i) {
    const uint64_t count = histogram.bucket(i);
    if (count == 0) continue;
    const double share =
        static_cast<double>(count) / static_cast<double>(histogram.count());
    buckets.Add(Record("bucket", path)
                    .InJson("of", name)
                    .Count("from", Histogram::LowOf(i))
                    .Count("to", Histogram::HighOf(i))
                    .Count("count", count)
                    .InText("share", Percent(share))
                    .InText("bar", std::string(static_cast<size_t>(
                                                   kBarWidth * share + 0.5),
                                               '#')));
  }
}

void Print(const TableFile& file, const KeyFormat& format,
           const TableStats& stats, const Output& output) {
  output.Line(file.path());
  Record record("stats", file.path());
  record.Count("entries", stats.entries)
      .Count("keys", stats.keys)
      .Count("range_deletions", stats.range_deletions)
      .Bytes("key_bytes", stats.key_bytes.sum())
      .Bytes("value_bytes", stats.value_bytes.sum());
  if (stats.has_rows) {
    record.Text("key_layout", format.LayoutText())
        .Count("rows", stats.rows)
        .Count("columns", stats.columns)
        .Count("outside_layout", stats.outside_layout)
        .Real("cells_per_row", stats.cells_per_row.mean());
  } else {
    record.InText("rows", "not known: no key layout, see --key-layout");
  }
  output.Print(record);
  if (!stats.types.empty()) output.Line();
  Listing types(output, "type entries");
  for (const auto& [type, count] : stats.types) {
    types.Add(Record("type", file.path())
                  .Text("type", file.TypeName(type))
                  .Count("entries", count));
  }
  types.Print();
  PrintHistogram("key_bytes", stats.key_bytes, file.path(), output);
  PrintHistogram("value_bytes", stats.value_bytes, file.path(), output);
  PrintHistogram("versions", stats.versions, file.path(), output);
  PrintHistogram("cells_per_row", stats.cells_per_row, file.path(), output);
  PrintHistogram("row_bytes", stats.row_bytes, file.path(), output);
  if (!stats.biggest.empty()) output.Line();
  Listing rows(output, "row=biggest_rows entries bytes");
  for (const RowSize& row : stats.biggest) {
    rows.Add(Record("row", file.path())
                 .Long("row", format.RowText(row.row))
                 .Count("entries", row.cells)
                 .Count("bytes", row.bytes));
  }
}

void PrintStats(const TableFile& file, const StatsArgs& args,
                const Output& output) {
  const KeyFormat format = Require(FormatOf(file, args.key_layout, args.hex));
  TableStats stats;
  // Figures of a part of a file would mislead.
  Require(GatherStats(file, format, args.biggest, &stats));
  Print(file, format, stats, output);
}

}  // namespace

Action AddStats(CLI::App* command) { return AddFileVerb(command, PrintStats); }

}  // namespace rowbloom::sst_inspect
