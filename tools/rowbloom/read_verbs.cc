#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "tools/cli/arguments.h"
#include "tools/cli/interruption.h"
#include "tools/cli/record.h"
#include "tools/cli/text.h"
#include "tools/rowbloom/store_args.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

struct CellFormat {
  bool json = false;       // objects, not lines of text
  bool hex = false;        // rows, qualifiers and values as hex digits
  bool keys_only = false;  // without values
};

// The first column of a line of text; the later ones follow, with tabs between
// them. Columns that the command line names are left out.
enum class CellColumns : uint8_t { kRow, kColumn, kTimestamp, kValue };

// Prints a line per cell:
//   row<TAB>family:qualifier<TAB>timestamp<TAB>value
// with the bytes as ToPrintable has them, or as lower case hex digits; or the
// same as an object with these names:
//   {"row":...,"family":...,"qualifier":...,"timestamp":...,"value":...}
// where text is as in lines of text. Not thread-safe.
class CellPrinter {
 public:
  // Prints to `out`, which must outlive it.
  CellPrinter(std::ostream& out, const CellFormat& format, CellColumns first)
      : out_(out), format_(format), first_(first) {}

  void Print(std::string_view row, const Cell& cell);

 private:
  std::string Text(std::string_view bytes) const;

  std::ostream& out_;
  const CellFormat format_;
  const CellColumns first_;
};

void CellPrinter::Print(std::string_view row, const Cell& cell) {
  if (format_.json) {
    Record record;
    record.Text("row", Text(row))
        .Text("family", cell.family)
        .Text("qualifier", Text(cell.qualifier))
        .Number("timestamp", cell.timestamp_ms);
    if (!format_.keys_only) record.Text("value", Text(cell.value));
    record.Print(out_);
    return;
  }
  if (first_ <= CellColumns::kRow) out_ << Text(row) << '\t';
  if (first_ <= CellColumns::kColumn) {
    out_ << cell.family << ':' << Text(cell.qualifier) << '\t';
  }
  if (format_.keys_only) {
    out_ << cell.timestamp_ms << '\n';
    return;
  }
  if (first_ <= CellColumns::kTimestamp) out_ << cell.timestamp_ms << '\t';
  out_ << Text(cell.value) << '\n';
}

std::string CellPrinter::Text(std::string_view bytes) const {
  return format_.hex ? ToHex(bytes) : ToPrintable(bytes);
}

// The choice of versions of a cell.
struct VersionArgs {
  std::optional<uint32_t> versions;
  TimeRange range;

  void AddTo(CLI::App* command) {
    AddNumberTo(command, "--versions", &versions,
                "Up to so many of each cell, newest first; default 1");
    AddNumberTo(command, "--from", &range.begin_ms, "No older timestamps",
                "MS");
    AddNumberTo(command, "--until", &range.end_ms,
                "Only timestamps before this one", "MS");
  }
};

struct ReadArgs {
  StoreArgs store;
  VersionArgs version;
  bool hex = false;

  void AddTo(CLI::App* command) {
    store.AddTo(command);
    store.AddJsonTo(command);
    version.AddTo(command);
  }
  // For verbs that print cells.
  void AddHexTo(CLI::App* command) {
    command->add_flag("--hex", hex,
                      "Print rows, qualifiers and values as hex digits");
  }

  CellPrinter Printer(std::ostream& out, CellColumns first,
                      bool keys_only = false) const {
    return {
        out, {.json = store.json, .hex = hex, .keys_only = keys_only}, first};
  }
};

void AddColumnArguments(CLI::App* command, std::vector<std::string>* columns) {
  command
      ->add_option("COLUMN", *columns,
                   "FAMILY or FAMILY:QUALIFIER, which to print; default all")
      ->type_name("");
}

// The choice of columns of a row.
struct ColumnArgs {
  std::vector<std::string> columns;
  std::string qualifier_start;
  std::string qualifier_stop;
  std::optional<uint64_t> first;
  std::optional<uint64_t> last;
  bool keys_only = false;

  void AddTo(CLI::App* command) {
    AddColumnArguments(command, &columns);
    command
        ->add_option("--qualifier-start", qualifier_start,
                     "The first qualifier, inclusive")
        ->type_name("QUALIFIER");
    command
        ->add_option("--qualifier-stop", qualifier_stop, "The end, exclusive")
        ->type_name("QUALIFIER");
    CLI::Option* const first_columns = AddNumberTo(
        command, "--first", &first, "Only so many columns of a row");
    AddNumberTo(command, "--last", &last,
                "Only so many, from the row's last one on")
        ->excludes(first_columns);
  }
  // For verbs that print cells.
  void AddKeysOnlyTo(CLI::App* command) {
    command->add_flag("--keys-only", keys_only, "Print no values");
  }

  RowOptions Options(const VersionArgs& version) const {
    RowOptions options;
    for (const std::string& column : columns) {
      options.columns.push_back(ParseColumn(column));
    }
    options.qualifier_start = FromPrintable(qualifier_start);
    options.qualifier_stop = FromPrintable(qualifier_stop);
    options.columns_from_end = last.has_value();
    if (first || last) options.column_limit = first ? *first : *last;
    options.keys_only = keys_only;
    options.time_range = version.range;
    options.max_versions = version.versions.value_or(1);
    return options;
  }
};

struct GetArgs : ReadArgs {
  std::string row;
  std::string column;
  bool raw = false;
};

ExitCode Get(const GetArgs& args, const Streams& streams) {
  const Column column = ParseCellColumn(args.column);
  const std::string row = FromPrintable(args.row);
  std::vector<Cell> cells;
  Require(args.store.OpenToRead(streams)->GetVersions(
      row, column.family, *column.qualifier, &cells,
      {.time_range = args.version.range,
       .max_versions = args.version.versions.value_or(1)}));
  if (cells.empty()) {
    Complain(streams.err, "no cell \"" + column.family + ":" +
                              ToPrintable(*column.qualifier) + "\" in row \"" +
                              ToPrintable(row) + "\"");
    return ExitCode::kFinding;
  }
  if (args.raw) {
    streams.out << cells.front().value;
    return ExitCode::kOk;
  }
  CellPrinter printer =
      args.Printer(streams.out, args.version.versions ? CellColumns::kTimestamp
                                                      : CellColumns::kValue);
  for (const Cell& cell : cells) printer.Print(row, cell);
  return ExitCode::kOk;
}

struct RowArgs : ReadArgs {
  std::string row;
  ColumnArgs columns;
};

ExitCode PrintRow(const RowArgs& args, const Streams& streams) {
  const std::string row = FromPrintable(args.row);
  std::vector<Cell> cells;
  Require(args.store.OpenToRead(streams)->GetRow(
      row, &cells, args.columns.Options(args.version)));
  if (cells.empty()) {
    Complain(streams.err, "no cells in row \"" + ToPrintable(row) + "\"");
    return ExitCode::kFinding;
  }
  CellPrinter printer =
      args.Printer(streams.out, CellColumns::kColumn, args.columns.keys_only);
  for (const Cell& cell : cells) printer.Print(row, cell);
  return ExitCode::kOk;
}

struct ExistsArgs {
  StoreArgs store;
  std::string row;
  std::vector<std::string> columns;
};

ExitCode Exists(const ExistsArgs& args, const Streams& streams) {
  RowOptions options;
  for (const std::string& column : args.columns) {
    options.columns.push_back(ParseColumn(column));
  }
  bool exists = false;
  Require(args.store.OpenToRead(streams)->Exists(FromPrintable(args.row),
                                                 &exists, options));
  if (args.store.json) {
    Record().Flag("exists", exists).Print(streams.out);
  } else {
    streams.out << (exists ? "yes\n" : "no\n");
  }
  return exists ? ExitCode::kOk : ExitCode::kFinding;
}

// The rows and cells that a scan goes through.
struct ScanArgs : ReadArgs {
  ColumnArgs columns;
  std::string start_row;
  std::string stop_row;
  std::string row_prefix;
  ScanOptions scan;

  void AddTo(CLI::App* command) {
    ReadArgs::AddTo(command);
    AddRowRangeTo(command, &start_row, &stop_row);
    command->add_option("--prefix", row_prefix, "Only rows that start so")
        ->type_name("ROW");
    AddNumberTo(command, "--limit", &scan.limit, "At most so many rows");
    columns.AddTo(command);
  }

  ScanOptions Options() const {
    ScanOptions options = scan;
    options.start_row = FromPrintable(start_row);
    options.stop_row = FromPrintable(stop_row);
    options.row_prefix = FromPrintable(row_prefix);
    options.row = columns.Options(version);
    return options;
  }
};

ExitCode PrintCounts(const ScanArgs& args, const Streams& streams) {
  ScanCounts counts;
  Require(args.store.OpenToRead(streams)->Count(args.Options(), &counts));
  if (args.store.json) {
    Record()
        .Number("rows", counts.rows)
        .Number("cells", counts.cells)
        .Print(streams.out);
  } else {
    streams.out << counts.rows << " rows, " << counts.cells << " cells\n";
  }
  return ExitCode::kOk;
}

ExitCode Scan(const ScanArgs& args, const Streams& streams) {
  const Interruption interruption;
  const std::shared_ptr<Store> store = args.store.OpenToRead(streams);
  RowScanner rows;
  Require(store->Scan(args.Options(), &rows));
  CellPrinter printer =
      args.Printer(streams.out, CellColumns::kRow, args.columns.keys_only);
  for (const Row& row : rows) {
    for (const Cell& cell : row.cells) printer.Print(row.row, cell);
    interruption.Check(streams.out);
  }
  Require(rows.status());
  return ExitCode::kOk;
}

}  // namespace

Action AddGet(CLI::App* command) {
  const auto args = std::make_shared<GetArgs>();
  args->AddTo(command);
  args->AddHexTo(command);
  CLI::Option* raw =
      command->add_flag("--raw", args->raw, "Print the bytes and nothing else");
  for (const char* other : {"--json", "--hex", "--versions"}) {
    raw->excludes(command->get_option(other));
  }
  AddRowArgumentTo(command, &args->row);
  command->add_option("COLUMN", args->column, "The cell's FAMILY:QUALIFIER")
      ->required()
      ->type_name("");
  return [args](const Streams& streams) { return Get(*args, streams); };
}

Action AddRow(CLI::App* command) {
  const auto args = std::make_shared<RowArgs>();
  args->AddTo(command);
  args->AddHexTo(command);
  AddRowArgumentTo(command, &args->row);
  args->columns.AddTo(command);
  args->columns.AddKeysOnlyTo(command);
  return [args](const Streams& streams) { return PrintRow(*args, streams); };
}

Action AddExists(CLI::App* command) {
  const auto args = std::make_shared<ExistsArgs>();
  args->store.AddTo(command);
  args->store.AddJsonTo(command);
  AddRowArgumentTo(command, &args->row);
  command
      ->add_option("COLUMN", args->columns,
                   "FAMILY or FAMILY:QUALIFIER, one of which; default any")
      ->type_name("");
  return [args](const Streams& streams) { return Exists(*args, streams); };
}

Action AddScan(CLI::App* command) {
  const auto args = std::make_shared<ScanArgs>();
  args->AddTo(command);
  args->AddHexTo(command);
  args->columns.AddKeysOnlyTo(command);
  command->add_flag("--reverse", args->scan.reverse, "From the last row on");
  return [args](const Streams& streams) { return Scan(*args, streams); };
}

Action AddCount(CLI::App* command) {
  const auto args = std::make_shared<ScanArgs>();
  args->AddTo(command);
  return [args](const Streams& streams) { return PrintCounts(*args, streams); };
}

}  // namespace rowbloom::cli
