#include "tools/rowbloom/run.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <ostream>
#include <string_view>

#include "rowbloom/printable.h"
#include "tools/rowbloom/filter_command.h"
#include "tools/rowbloom/hfile_verbs.h"
#include "tools/rowbloom/load.h"
#include "tools/rowbloom/report.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done; 1 no such cell or row; 2 wrong usage, or input or a "
    "store that cannot be used.";

// What all verbs take.
struct CommonArgs {
  std::string db;
  std::string key_layout = KeyLayout::Escaped().ToString();

  void AddTo(CLI::App* verb) {
    verb->add_option("--db", db, "Directory of the store")
        ->required()
        ->type_name("DIR");
    verb->add_option("--key-layout", key_layout,
                     "How the store lays out rows: escaped or fixed:N")
        ->type_name("LAYOUT")
        ->capture_default_str();
    verb->footer(kFooter);
  }
};

ExitCode Dispatch(const std::vector<std::string>& args, std::istream& in,
                  std::ostream& out, std::ostream& err, bool err_is_terminal) {
  CLI::App app("A wide-column store on RocksDB with row filters.", "rowbloom");
  app.set_version_flag("--version", "rowbloom " ROWBLOOM_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);

  CommonArgs common;
  LoadOptions load_options;
  std::optional<std::string> bloom;
  CLI::App* load = app.add_subcommand(
      "load", "Loads cells from text, TSV or a Debian package index.");
  common.AddTo(load);
  load->add_option("--family", load_options.families,
                   "Family to create if missing; repeatable. The first takes "
                   "the cells of a package index")
      ->allow_extra_args(false)
      ->type_name("F");
  load->add_option("--bloom", bloom,
                   "Filter of new families: NONE, ROW, ROWCOL (default) or "
                   "ROWPREFIX_FIXED_LENGTH")
      ->type_name("TYPE");
  load->add_option("--false-positive-rate", load_options.false_positive_rate,
                   "Of new families' filters, inside (0, 1); default 0.01")
      ->type_name("RATE");
  load->add_option("--row-prefix-length", load_options.row_prefix_length,
                   "Bytes of the row, for ROWPREFIX_FIXED_LENGTH")
      ->type_name("BYTES");
  load->add_option("FILE", load_options.file, "Input; - is standard input")
      ->required()
      ->type_name("");

  std::string row;
  std::string column;
  CLI::App* get = app.add_subcommand("get", "Prints the value of a cell.");
  common.AddTo(get);
  get->add_option("ROW", row, "\\xHH stands for any byte")
      ->required()
      ->type_name("");
  get->add_option("COLUMN", column, "The cell's FAMILY:QUALIFIER")
      ->required()
      ->type_name("");

  CLI::App* whole_row = app.add_subcommand("row", "Prints the cells of a row.");
  common.AddTo(whole_row);
  whole_row->add_option("ROW", row, "\\xHH stands for any byte")
      ->required()
      ->type_name("");

  CLI::App* stats = app.add_subcommand("stats", "Prints a line per family.");
  common.AddTo(stats);

  ExportHFileArgs export_args;
  CLI::App* export_hfile = app.add_subcommand(
      "export-hfile", "Writes cells as HFiles for HBase's bulk load.");
  common.AddTo(export_hfile);
  export_args.AddTo(export_hfile);

  ImportHFileArgs import_args;
  CLI::App* import_hfile = app.add_subcommand(
      "import-hfile", "Loads HFiles of HBase, or of export-hfile.");
  common.AddTo(import_hfile);
  import_args.AddTo(import_hfile);

  // For the help alone: it has a command line of its own.
  app.add_subcommand("filter", "Filters of lines, without a store.");
  if (!args.empty() && args.front() == "filter") {
    return FilterCommand({args.begin() + 1, args.end()}, in, out, err,
                         err_is_terminal);
  }

  constexpr std::string_view kFirstArgs[] = {
      "load",         "get", "row",    "stats",    "export-hfile",
      "import-hfile", "-h",  "--help", "--version"};
  if (args.empty() || std::find(std::begin(kFirstArgs), std::end(kFirstArgs),
                                args.front()) == std::end(kFirstArgs)) {
    Complain(err,
             "expected load, get, row, stats, export-hfile, "
             "import-hfile or filter, found " +
                 (args.empty() ? "nothing"
                               : "\"" + ToPrintable(args.front()) + "\"") +
                 "; see rowbloom --help");
    return ExitCode::kFailed;
  }
  try {
    // CLI11 takes them last first.
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    app.parse(reversed);
  } catch (const CLI::Success& wish) {  // help or version
    app.exit(wish, out, err);
    return ExitCode::kOk;
  } catch (const CLI::ParseError& error) {
    Complain(err, error.what());
    return ExitCode::kFailed;
  }

  const auto key_layout = KeyLayout::FromString(common.key_layout);
  if (!key_layout) {
    Complain(err, key_layout.error());
    return ExitCode::kFailed;
  }
  if (load->parsed()) {
    if (bloom) {
      const auto type = BloomTypeFromString(*bloom);
      if (!type) {
        Complain(err, type.error());
        return ExitCode::kFailed;
      }
      load_options.bloom_type = *type;
    }
    load_options.db = common.db;
    load_options.key_layout = *key_layout;
    return Load(load_options, in, out, err, err_is_terminal);
  }
  const StoreLocation location{common.db, *key_layout};
  if (get->parsed()) return GetVerb(location, row, column, out, err);
  if (whole_row->parsed()) return RowVerb(location, row, out, err);
  if (export_hfile->parsed()) {
    return ExportHFile(location, export_args, out, err, err_is_terminal);
  }
  if (import_hfile->parsed()) {
    return ImportHFile(location, import_args, out, err, err_is_terminal);
  }
  return StatsVerb(location, out, err);
}

}  // namespace

int Run(const std::vector<std::string>& args, std::istream& in,
        std::ostream& out, std::ostream& err, bool err_is_terminal) {
  try {
    const ExitCode code = Dispatch(args, in, out, err, err_is_terminal);
    if (out.flush()) return static_cast<int>(code);
    Complain(err, "cannot write to standard output");
  } catch (const std::exception& error) {
    Complain(err, error.what());
  }
  return static_cast<int>(ExitCode::kFailed);
}

}  // namespace rowbloom::cli
