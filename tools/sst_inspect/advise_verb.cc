#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "rowbloom/advise.h"
#include "rowbloom/printable.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/output.h"
#include "tools/sst_inspect/table_stats.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

struct AdviseArgs : FileArgs {
  double false_positive_rate = 0.01;
  double files = 1;          // that a read considers
  double files_per_row = 0;  // 0: all of them
};

using rocksdb::Status;

// A filter of some kind: its bytes, and how often a read of the file is wrong.
struct FilterCost {
  std::string name;
  uint64_t bytes = 0;
  WrongOpens opens;  // per read and file
};

// The present cost of the file's filter. Its rates are weighted by the sizes of
// its partitions.
Status PresentCost(const TableFile& file, double row_spread, FilterCost* cost) {
  const TableFacts facts = file.Facts();
  double weights = 0;
  double row = 0;
  double row_col = 0;
  double prefix = 0;
  double key = 0;
  std::string writer;
  Status damage;
  Status status = file.ForEachFilterPart([&](const FilterPart& part) {
    if (damage.ok()) damage = part.status;
    cost->bytes += part.size_bytes;
    writer = part.writer;
    const auto weight = static_cast<double>(part.size_bytes);
    weights += weight;
    double rates[3] = {1, 1, 1};  // row, row and column, RocksDB's own
    for (const SectionFacts& section : part.sections) {
      const size_t which = section.section == "ROWCOL"          ? 1
                           : section.section.starts_with("ROW") ? 0
                                                                : 2;
      rates[which] = section.rate.value_or(1);
      cost->name = section.kind;
    }
    row += weight * rates[0];
    row_col += weight * rates[1];
    key += weight * (facts.whole_key_filter ? rates[2] : 1);
    prefix += weight * (facts.prefix_filter ? rates[2] : 1);
  });
  if (status.ok()) status = damage;
  if (!status.ok() || weights == 0) {
    cost->name = "none";
    cost->opens = {1, 1, 1};
    return status;
  }
  if (writer == "rowbloom") {
    cost->opens = PredictWrongOpens(
        {.row = row / weights, .row_col = row_col / weights}, row_spread);
  } else {
    cost->opens = {prefix / weights, key / weights, key / weights};
  }
  cost->name = writer + " " + cost->name;
  return status;
}

void AddRow(const FilterCost& cost, double files, Table* table) {
  table->AddRow({cost.name, Grouped(cost.bytes),
                 fmt::format("{:.4g}", files * cost.opens.scan_absent_row),
                 fmt::format("{:.4g}", files * cost.opens.get_absent_row),
                 fmt::format("{:.4g}", files * cost.opens.get_absent_column)});
}

void PrintJson(const TableFile& file, std::string_view which,
               const FilterCost& cost, double files, std::ostream& out) {
  Record("filter_cost", ToPrintable(file.path()))
      .Text("which", which)
      .Text("filter", cost.name)
      .Number("bytes", cost.bytes)
      .Real("scan_absent_row", files * cost.opens.scan_absent_row)
      .Real("get_absent_row", files * cost.opens.get_absent_row)
      .Real("get_absent_column", files * cost.opens.get_absent_column)
      .Print(out);
}

ExitCode PrintAdvice(const TableFile& file, const AdviseArgs& args,
                     const Output& output) {
  const std::string path = WithoutControls(file.path());
  if (file.key_form() == KeyForm::kHFile) {
    return Fail(
        output.err,
        path +
            ": advise is about SSTs; HBase has ROW and ROWCOL filters alone");
  }
  KeyFormat format;
  Status status = FormatOf(file, args.key_layout, false, &format);
  if (!status.ok()) return Judge(output.err, status);
  if (!format.layout) {
    return Fail(output.err, path + ": no key layout known, give --key-layout");
  }
  TableStats stats;
  status = GatherStats(file, format, 0, &stats);
  if (!status.ok()) return Judge(output.err, status);

  const FileProfile profile{.rows = stats.rows,
                            .cells = stats.columns,
                            .files = args.files,
                            .files_per_row = args.files_per_row};
  const auto advice =
      Advise(profile, {.false_positive_rate = args.false_positive_rate});
  if (!advice) return Fail(output.err, path + ": " + advice.error());
  FilterCost present;
  const double row_spread =
      args.files_per_row > 0 ? args.files_per_row / args.files : 1;
  status = PresentCost(file, row_spread, &present);
  if (!status.ok()) return Judge(output.err, status);
  FilterCost advised{.name = fmt::format("{} {}", ToString(advice->bloom_type),
                                         ToString(advice->kind)),
                     .bytes = advice->prediction.bytes(),
                     .opens = advice->prediction.opens};
  // The prediction is over all files that a read considers, already.
  if (output.json) {
    Record("advice", ToPrintable(file.path()))
        .Text("key_layout", format.layout->ToString())
        .Number("rows", stats.rows)
        .Number("cells", stats.columns)
        .Text("bloom_type", ToString(advice->bloom_type))
        .Text("kind", ToString(advice->kind))
        .Real("false_positive_rate", advice->false_positive_rate)
        .Flag("adaptive_split", advice->row_spread.has_value())
        .Real("row_spread", advice->row_spread.value_or(1))
        .Text("reason", advice->reason)
        .Print(output.out);
    PrintJson(file, "present", present, args.files, output.out);
    PrintJson(file, "advised", advised, 1, output.out);
    return ExitCode::kOk;
  }
  output.out << path << "\n"
             << fmt::format(
                    "  data     {} rows, {} cells, layout {}\n"
                    "  advice   bloom_type {}, kind {}, "
                    "false_positive_rate {:.4g}{}\n"
                    "  because  {}\n\n",
                    Grouped(stats.rows), Grouped(stats.columns),
                    format.layout->ToString(), ToString(advice->bloom_type),
                    ToString(advice->kind), advice->false_positive_rate,
                    advice->row_spread
                        ? fmt::format(", adaptive split with row_spread {:.3g}",
                                      *advice->row_spread)
                        : "",
                    WithoutControls(advice->reason));
  using Align = Table::Align;
  Table table({{"filter"},
               {"bytes", Align::kRight},
               {"scan, absent row", Align::kRight},
               {"get, absent row", Align::kRight},
               {"get, absent column", Align::kRight}});
  present.name = "present: " + present.name;
  advised.name = "advised: " + advised.name;
  AddRow(present, args.files, &table);
  AddRow(advised, 1, &table);
  table.Print(output.out);
  output.out << fmt::format(
      "  wrong opens per read, of {:.4g} files that it considers\n",
      args.files);
  return ExitCode::kOk;
}

}  // namespace

Action AddAdvise(CLI::App* command) {
  const auto args = std::make_shared<AdviseArgs>();
  args->AddTo(command);
  command
      ->add_option("--rate", args->false_positive_rate,
                   "False positive rate to aim at")
      ->type_name("P");
  command->add_option("--files", args->files, "Files that a read considers")
      ->type_name("N");
  command
      ->add_option("--files-per-row", args->files_per_row,
                   "Of these, files with cells of one row; 0: all")
      ->type_name("N");
  args->AddKeyLayoutTo(command);
  return EachFile(args, PrintAdvice);
}

}  // namespace rowbloom::sst_inspect
