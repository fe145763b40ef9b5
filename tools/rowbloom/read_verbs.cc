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
#include "tools/cli/text.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

// The first column of a line of text. The later columns follow, separated by
// tabs. Columns that the command line names are omitted.
enum class CellColumns : uint8_t { kRow, kColumn, kTimestamp, kValue };

// The store, the choice of versions of a cell, and the form of the output.
struct ReadArgs {
  PrintingStoreArgs store;
  std::optional<uint32_t> versions;
  TimeRange range;
  bool hex = false;  // rows, qualifiers and values as hex digits

  void AddTo(CLI::App* command) {
    store.AddTo(command);
    AddNumberTo(command, "--versions", &versions,
                "Up to so many of each cell, newest first; default 1");
    AddNumberTo(command, "--from", &range.begin_ms, "No older timestamps",
                "MS");
    AddNumberTo(command, "--until", &range.end_ms,
                "Only timestamps before this one", "MS");
  }
  // For verbs that print cells.
  void AddHexTo(CLI::App* command) {
    command->add_flag("--hex", hex,
                      "Print rows, qualifiers and values as hex digits");
  }

  // Prints a line for a cell:
  //   row<TAB>family:qualifier<TAB>timestamp<TAB>value
  // or an object:
  //   {"row":...,"family":...,"qualifier":...,"timestamp":...,"value":...}
  // In both, bytes have the form of ToPrintable, or are lower case hex digits.
  void Print(std::string_view row, const Cell& cell, CellColumns first,
             bool keys_only, std::ostream& out) const {
    if (store.json) {
      Record record;
      record.Text("row", Text(row))
          .Text("family", ToPrintable(cell.family))
          .Text("qualifier", Text(cell.qualifier))
          .Number("timestamp", cell.timestamp_ms);
      if (!keys_only) record.Text("value", Text(cell.value));
      record.Print(out);
      return;
    }
    if (first <= CellColumns::kRow) out << Text(row) << '\t';
    if (first <= CellColumns::kColumn) {
      out << ToPrintable(cell.family) << ':' << Text(cell.qualifier) << '\t';
    }
    if (keys_only) {
      out << cell.timestamp_ms << '\n';
      return;
    }
    if (first <= CellColumns::kTimestamp) out << cell.timestamp_ms << '\t';
    out << Text(cell.value) << '\n';
  }

 private:
  std::string Text(std::string_view bytes) const {
    return hex ? ToHex(bytes) : ToPrintable(bytes);
  }
};

// The choice of columns of a row.
struct ColumnArgs {
  RowOptions row;  // the options that the other members do not set
  std::vector<std::string> columns;
  std::optional<uint64_t> first;
  std::optional<uint64_t> last;

  void AddTo(CLI::App* command) {
    AddArgumentsTo(command, "COLUMN", &columns,
                   "FAMILY or FAMILY:QUALIFIER, which to read; default all");
    AddBytesTo(command, "--qualifier-start", &row.qualifier_start,
               "The first qualifier, inclusive", "QUALIFIER");
    AddBytesTo(command, "--qualifier-stop", &row.qualifier_stop,
               "The end, exclusive", "QUALIFIER");
    CLI::Option* const first_columns = AddNumberTo(
        command, "--first", &first, "Only so many columns of a row");
    AddNumberTo(command, "--last", &last,
                "Only so many, from the row's last one on")
        ->excludes(first_columns);
  }
  // For verbs that print cells.
  void AddKeysOnlyTo(CLI::App* command) {
    command->add_flag("--keys-only", row.keys_only, "Print no values");
  }

  RowOptions Options(const ReadArgs& read) const {
    RowOptions options = row;
    for (const std::string& column : columns) {
      options.columns.push_back(ParseColumn(column));
    }
    options.columns_from_end = last.has_value();
    if (first || last) options.column_limit = first ? *first : *last;
    options.time_range = read.range;
    options.max_versions = read.versions.value_or(1);
    return options;
  }
};

struct GetArgs : ReadArgs {
  std::string row;
  std::string column;
  bool raw = false;

  void AddTo(CLI::App* command) {
    ReadArgs::AddTo(command);
    AddHexTo(command);
    CLI::Option* const only =
        command->add_flag("--raw", raw, "Print the bytes and nothing else");
    for (const char* other : {"--json", "--hex", "--versions"}) {
      only->excludes(command->get_option(other));
    }
    AddRowArgumentTo(command, &row);
    AddArgumentTo(command, "COLUMN", &column, "The cell's FAMILY:QUALIFIER");
  }
};

ExitCode Get(const GetArgs& args, const Streams& streams) {
  const Column column = ParseCellColumn(args.column);
  std::vector<Cell> cells;
  Require(args.store.OpenToRead(streams)->GetVersions(
      args.row, column.family, *column.qualifier, &cells,
      {.time_range = args.range, .max_versions = args.versions.value_or(1)}));
  if (cells.empty()) {
    Complain(streams.err,
             "no cell \"" +
                 ToPrintable(column.family + ":" + *column.qualifier) +
                 "\" in row \"" + ToPrintable(args.row) + "\"");
    return ExitCode::kFinding;
  }
  if (args.raw) {
    streams.out << cells.front().value;
    return ExitCode::kOk;
  }
  for (const Cell& cell : cells) {
    args.Print(args.row, cell,
               args.versions ? CellColumns::kTimestamp : CellColumns::kValue,
               /*keys_only=*/false, streams.out);
  }
  return ExitCode::kOk;
}

struct RowArgs : ReadArgs {
  std::string row;
  ColumnArgs columns;

  void AddTo(CLI::App* command) {
    ReadArgs::AddTo(command);
    AddHexTo(command);
    AddRowArgumentTo(command, &row);
    columns.AddTo(command);
    columns.AddKeysOnlyTo(command);
  }
};

ExitCode PrintRow(const RowArgs& args, const Streams& streams) {
  std::vector<Cell> cells;
  Require(args.store.OpenToRead(streams)->GetRow(args.row, &cells,
                                                 args.columns.Options(args)));
  if (cells.empty()) {
    Complain(streams.err, "no cells in row \"" + ToPrintable(args.row) + "\"");
    return ExitCode::kFinding;
  }
  for (const Cell& cell : cells) {
    args.Print(args.row, cell, CellColumns::kColumn, args.columns.row.keys_only,
               streams.out);
  }
  return ExitCode::kOk;
}

struct ExistsArgs {
  PrintingStoreArgs store;
  std::string row;
  std::vector<std::string> columns;

  void AddTo(CLI::App* command) {
    store.AddTo(command);
    AddRowArgumentTo(command, &row);
    AddArgumentsTo(command, "COLUMN", &columns,
                   "FAMILY or FAMILY:QUALIFIER, one of which; default any");
  }
};

ExitCode Exists(const ExistsArgs& args, const Streams& streams) {
  RowOptions options;
  for (const std::string& column : args.columns) {
    options.columns.push_back(ParseColumn(column));
  }
  bool exists = false;
  Require(args.store.OpenToRead(streams)->Exists(args.row, &exists, options));
  if (args.store.json) {
    Record().Flag("exists", exists).Print(streams.out);
  } else {
    streams.out << (exists ? "yes\n" : "no\n");
  }
  return exists ? ExitCode::kOk : ExitCode::kFinding;
}

// The choice of the rows and cells to count.
struct CountArgs : ReadArgs {
  ColumnArgs columns;
  ScanOptions scan;

  void AddTo(CLI::App* command) {
    ReadArgs::AddTo(command);
    AddRowRangeTo(command, &scan.start_row, &scan.stop_row);
    AddBytesTo(command, "--prefix", &scan.row_prefix, "Only rows that start so",
               "ROW");
    AddNumberTo(command, "--limit", &scan.limit, "At most so many rows");
    columns.AddTo(command);
  }

  ScanOptions Options() const {
    ScanOptions options = scan;
    options.row = columns.Options(*this);
    return options;
  }
};

// The choice of the rows and cells to print.
struct ScanArgs : CountArgs {
  void AddTo(CLI::App* command) {
    CountArgs::AddTo(command);
    AddHexTo(command);
    columns.AddKeysOnlyTo(command);
    command->add_flag("--reverse", scan.reverse, "From the last row on");
  }
};

void PrintCounts(const CountArgs& args, const Streams& streams) {
  ScanCounts counts;
  Require(args.store.OpenToRead(streams)->Count(args.Options(), &counts));
  args.store.To(streams).PrintSum(
      Record().Number("rows", counts.rows).Number("cells", counts.cells));
}

void Scan(const ScanArgs& args, const Streams& streams) {
  const Interruption interruption;
  const std::shared_ptr<Store> store = args.store.OpenToRead(streams);
  RowScanner rows;
  Require(store->Scan(args.Options(), &rows));
  for (const Row& row : rows) {
    for (const Cell& cell : row.cells) {
      args.Print(row.row, cell, CellColumns::kRow, args.columns.row.keys_only,
                 streams.out);
    }
    interruption.Check(streams.out);
  }
  Require(rows.status());
}

}  // namespace

std::vector<Verb> ReadVerbs() {
  return {
      {"get", "Prints the value of a cell.",
       "--db users.db user_1001 info:mail\n"
       "--db users.db user_1001 info:mail --versions 3",
       Of<Get>},
      {"row", "Prints the cells of a row.",
       "--db users.db user_1001\n"
       "--db users.db user_1001 info --keys-only",
       Of<PrintRow>},
      {"exists", "Tells whether a row or a cell exists.",
       "--db users.db user_1001\n"
       "--db users.db user_1001 info:mail",
       Of<Exists>},
      {"scan", "Prints the cells of many rows.",
       "--db users.db --prefix user_ --json\n"
       "--db users.db info:mail --start user_1001 --stop user_2000 --limit 10",
       Of<Scan>},
      {"count", "Counts the rows and cells of a range.",
       "--db users.db --prefix user_", Of<PrintCounts>},
  };
}

}  // namespace rowbloom::cli
