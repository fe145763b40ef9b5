#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "rowbloom/advise.h"
#include "rowbloom/printable.h"
#include "tools/sst_inspect/family_advice.h"
#include "tools/sst_inspect/file_args.h"
#include "tools/sst_inspect/filter_cost.h"
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
  const auto advice = rowbloom::Advise(
      profile, {.false_positive_rate = args.false_positive_rate});
  if (!advice) return Fail(output.err, path + ": " + advice.error());
  PresentFilter present;
  status = ReadPresentFilter(file, &present);
  if (!status.ok()) return Judge(output.err, status);
  const double row_spread =
      args.files_per_row > 0 ? args.files_per_row / args.files : 1;
  AdviceReport report{.path = file.path(),
                      .layout = format.layout->ToString(),
                      .rows = stats.rows,
                      .cells = stats.columns,
                      .files = args.files,
                      .advice = *advice};
  // The prediction is over all files that a read considers, already.
  report.costs = {{.which = "present",
                   .name = present.name,
                   .bytes = present.bytes,
                   .opens = Scaled(present.Opens(row_spread), args.files)},
                  {.which = "advised",
                   .name = fmt::format("{} {}", ToString(advice->bloom_type),
                                       ToString(advice->kind)),
                   .bytes = advice->prediction.bytes(),
                   .opens = advice->prediction.opens}};
  Print(report, output);
  return ExitCode::kOk;
}

// A family whose key layout is not known is passed over, unless all are.
ExitCode AdviseTree(const DatabaseTree& tree, const AdviseArgs& args,
                    const Streams& streams) {
  const FileOpener opener(streams, Prints::kAtTheEnd);
  const Output output{streams.out, streams.err, args.json};
  ExitCode worst = ExitCode::kOk;
  bool advised = false;
  for (const TreeFamily& family : tree.families) {
    FamilyData data(family, args.key_layout);
    Status unknown;
    for (const TreeFile& place : family.files) {
      if (!unknown.ok()) break;
      worst = std::max(worst, opener.Open(place, [&](const TableFile& file) {
        const Status status = data.Add(place, file);
        if (status.ok()) return ExitCode::kOk;
        if (!status.IsInvalidArgument()) return Judge(streams.err, status);
        unknown = status;
        return ExitCode::kOk;
      }));
    }
    Status status = unknown;
    if (status.ok()) {
      if (data.empty()) continue;
      status = data.Report(tree.path, args.false_positive_rate,
                           [&](const AdviceReport& report) {
                             if (advised && !output.json) output.out << "\n";
                             Print(report, output);
                             advised = true;
                           });
      if (!status.ok()) return Judge(streams.err, status);
      continue;
    }
    Complain(streams.err, WithoutControls(tree.path) + ", family " +
                              ToPrintable(family.name) +
                              " is left out: " + Describe(status));
  }
  if (!advised && worst == ExitCode::kOk) {
    return Fail(streams.err, WithoutControls(tree.path) +
                                 ": no family has files of a known layout");
  }
  return worst;
}

ExitCode Advise(const AdviseArgs& args, const Streams& streams) {
  AdviseArgs databases = args;
  std::erase_if(databases.paths,
                [](const std::string& path) { return !IsDatabase(path); });
  AdviseArgs files = args;
  std::erase_if(files.paths, IsDatabase);
  if (!databases.paths.empty() &&
      (args.files != 1 || args.files_per_row != 0)) {
    return Fail(streams.err,
                "--files, --files-per-row: expected for files alone; those of "
                "a database are counted");
  }
  const ExitCode of_trees =
      databases.ForEachTree(streams, [&](const DatabaseTree& tree) {
        return AdviseTree(tree, args, streams);
      });
  const Output output{streams.out, streams.err, args.json};
  return std::max(of_trees,
                  files.ForEachFile(streams, [&](const TableFile& file) {
                    return PrintAdvice(file, args, output);
                  }));
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
  args->AddDbPathTo(command);
  return [args](const Streams& streams) { return Advise(*args, streams); };
}

}  // namespace rowbloom::sst_inspect
