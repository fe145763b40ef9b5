#include "tools/sst_inspect/run.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <ostream>

#include "rowbloom/printable.h"
#include "tools/sst_inspect/filter_verb.h"
#include "tools/sst_inspect/inputs.h"
#include "tools/sst_inspect/probe_verb.h"
#include "tools/sst_inspect/report.h"
#include "tools/sst_inspect/text.h"

namespace rowbloom::sst_inspect {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 fine; 1 a file is damaged; 2 wrong usage, or a file could "
    "not be read.\nThe worst file decides; the others are still processed.";

int RunFilter(const std::vector<std::string>& paths,
              const FilterVerbOptions& options, std::ostream& out,
              std::ostream& err) {
  std::vector<std::string> files;
  ExitCode worst = ExpandInputs(paths, err, &files);
  for (const std::string& file : files) {
    worst = std::max(worst, PrintFilter(file, options, out, err));
  }
  return static_cast<int>(worst);
}

int RunProbe(const std::vector<std::string>& paths,
             const ProbeVerbOptions& options, std::ostream& out,
             std::ostream& err) {
  std::vector<std::string> files;
  ExitCode worst = ExpandInputs(paths, err, &files);
  ProbeCounts counts;
  for (const std::string& file : files) {
    worst = std::max(worst, PrintProbe(file, options, out, err, &counts));
  }
  if (counts.answered > 1) {
    out << counts.may_be_there << " of " << counts.answered
        << " files may hold " << (options.qualifier ? "the cell" : "the row")
        << "\n";
  }
  return static_cast<int>(worst);
}

int Dispatch(const std::vector<std::string>& args, std::ostream& out,
             std::ostream& err) {
  CLI::App app("Shows what is inside RocksDB's table files (SSTs).",
               "sst_inspect");
  app.set_version_flag("--version", "sst_inspect " ROWBLOOM_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);

  std::vector<std::string> paths;
  FilterVerbOptions filter_options;
  CLI::App* filter = app.add_subcommand(
      "filter", "Decodes the filter of each file, section by section.");
  filter->add_option("FILE", paths, "SST, or a directory of *.sst")->required();
  filter->add_flag("--partitions", filter_options.partitions,
                   "Also list each partition of a partitioned filter");
  filter->footer(kFooter);

  std::string row;
  std::string qualifier;
  bool hex = false;
  CLI::App* probe = app.add_subcommand(
      "probe", "Asks the filter of each file for a row or a cell.");
  probe->add_option("FILE", paths, "SST, or a directory of *.sst")->required();
  probe
      ->add_option("--row", row,
                   "The application's row; \\xHH stands for any byte")
      ->required();
  const CLI::Option* qualifier_option =
      probe->add_option("--qualifier", qualifier,
                        "The qualifier; without it only the row is asked");
  probe->add_flag("--hex", hex, "The row and the qualifier are hex digits");
  probe->footer(kFooter);

  try {
    // The parser wants the arguments last to first.
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      app.exit(error, out, err);
      return static_cast<int>(ExitCode::kOk);
    }
    return static_cast<int>(ReportUsage(
        std::string(error.what()) + " (see sst_inspect --help)", err));
  }

  if (filter->parsed()) return RunFilter(paths, filter_options, out, err);

  ProbeVerbOptions probe_options;
  const auto parse = [hex](const std::string& text) -> Result<std::string> {
    return hex ? ParseHex(text) : FromPrintable(text);
  };
  const auto row_bytes = parse(row);
  if (!row_bytes) {
    return static_cast<int>(ReportUsage("--row: " + row_bytes.error(), err));
  }
  probe_options.row = *row_bytes;
  if (qualifier_option->count() > 0) {
    const auto qualifier_bytes = parse(qualifier);
    if (!qualifier_bytes) {
      return static_cast<int>(
          ReportUsage("--qualifier: " + qualifier_bytes.error(), err));
    }
    probe_options.qualifier = *qualifier_bytes;
  }
  return RunProbe(paths, probe_options, out, err);
}

}  // namespace

int Run(const std::vector<std::string>& args, std::ostream& out,
        std::ostream& err) {
  try {
    return Dispatch(args, out, err);
  } catch (const std::exception& error) {
    err << "sst_inspect: " << error.what() << "\n";
    return static_cast<int>(ExitCode::kUnreadable);
  }
}

}  // namespace rowbloom::sst_inspect
