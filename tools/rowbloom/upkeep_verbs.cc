#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "storage/settings/family_spec.h"
#include "tools/cli/record.h"
#include "tools/rowbloom/store_args.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

ExitCode Flush(const StoreArgs& args, const Streams& streams) {
  std::shared_ptr<Store> store;
  Status s = args.OpenToWrite(streams, &store);
  if (s.ok()) s = store->Flush();
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

struct CompactArgs {
  StoreArgs store;
  std::string family;
  std::string start_row;
  std::string stop_row;
};

ExitCode Compact(const CompactArgs& args, const Streams& streams) {
  std::shared_ptr<Store> store;
  Status s = args.store.OpenToWrite(streams, &store);
  if (s.ok()) {
    s = store->Compact({.family = args.family,
                        .start_row = FromPrintable(args.start_row),
                        .stop_row = FromPrintable(args.stop_row)});
  }
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

ExitCode ResetClock(const StoreArgs& args, const Streams& streams) {
  // Opened without its warnings, one of which asks for this.
  StoreOptions options;
  std::shared_ptr<Store> store;
  Status s = args.Options(&options);
  if (s.ok()) s = args.OpenQuietly(options, {}, streams, &store);
  if (s.ok()) s = store->ResetClock();
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

struct CheckpointArgs {
  StoreArgs store;
  std::string directory;
};

ExitCode Checkpoint(const CheckpointArgs& args, const Streams& streams) {
  std::shared_ptr<Store> store;
  Status s = args.store.OpenToWrite(streams, &store);
  if (s.ok()) s = store->Checkpoint(args.directory);
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

struct CopyArgs {
  StoreArgs store;
  std::vector<std::string> families;
  std::string start_row;
  std::string stop_row;
  std::string key_layout;
  std::string path;
};

ExitCode Copy(const CopyArgs& args, const Streams& streams) {
  const auto specs = FamilySpec::ParseAll(args.families);
  if (!specs) return Fail(streams.err, specs.error());
  CopyOptions options{.start_row = FromPrintable(args.start_row),
                      .stop_row = FromPrintable(args.stop_row)};
  if (!args.key_layout.empty()) {
    const auto layout = KeyLayout::FromString(args.key_layout);
    if (!layout) return Fail(streams.err, layout.error());
    options.store.key_layout = *layout;
  }
  options.store.front_filter_limit_bytes = 0;
  std::shared_ptr<Store> store;
  Status s = args.store.OpenToRead(streams, &store);
  if (!s.ok()) return Fail(streams.err, s);
  const std::map<std::string, FamilyOptions> families = store->Families();
  for (const FamilySpec& spec : *specs) {
    if (const auto error = args.store.CheckFamily(spec.name(), families)) {
      return Fail(streams.err, error->message);
    }
    options.families.push_back(
        {spec.name(), spec.ApplyTo(families.at(spec.name()))});
  }
  CopyReport report;
  s = store->CopyTo(args.path, options, &report);
  if (!s.ok()) return Fail(streams.err, s);
  if (args.store.json) {
    Record()
        .Number("families", report.families)
        .Number("cells", report.cells)
        .Number("deletes", report.deletes)
        .Print(streams.out);
  } else {
    streams.out << report.families << " families, " << report.cells
                << " cells, " << report.deletes << " of them deletes\n";
  }
  return ExitCode::kOk;
}

constexpr const char* kFiles = "files";
constexpr const char* kRecords = "records";
constexpr const char* kCells = "cells";

struct VerifyArgs {
  StoreArgs store;
  std::vector<std::string> only;

  bool Looks(const char* part) const {
    return only.empty() || std::ranges::count(only, part) > 0;
  }
};

// A line for each problem: its place, as far as that is known, and what it is.
void PrintProblem(const VerifyProblem& problem, std::ostream& out) {
  if (!problem.file.empty()) out << problem.file << ": ";
  if (!problem.family.empty()) out << "family " << problem.family << ": ";
  if (!problem.row.empty()) {
    out << "row \"" << ToPrintable(problem.row) << "\", column \""
        << ToPrintable(problem.qualifier) << "\": ";
  }
  out << problem.problem << '\n';
}

ExitCode Verify(const VerifyArgs& args, const Streams& streams) {
  std::shared_ptr<Store> store;
  Status s = args.store.OpenToRead(streams, &store);
  VerifyReport report;
  if (s.ok()) {
    s = store->Verify({.files = args.Looks(kFiles),
                       .records = args.Looks(kRecords),
                       .cells = args.Looks(kCells)},
                      &report);
  }
  if (!s.ok()) return Fail(streams.err, s);
  for (const VerifyProblem& problem : report.problems) {
    if (!args.store.json) {
      PrintProblem(problem, streams.out);
      continue;
    }
    Record()
        .Text("file", ToPrintable(problem.file))
        .Text("family", problem.family)
        .Text("row", ToPrintable(problem.row))
        .Text("qualifier", ToPrintable(problem.qualifier))
        .Text("problem", ToPrintable(problem.problem))
        .Print(streams.out);
  }
  if (args.store.json) {
    Record()
        .Number("files", report.files)
        .Number("file_bytes", report.file_bytes)
        .Number("records", report.records)
        .Number("cells", report.cells)
        .Number("row_deletes", report.row_deletes)
        .Number("problems", report.problem_count)
        .Print(streams.out);
  } else {
    streams.out << report.files << " files, " << report.file_bytes << " bytes, "
                << report.records << " records, " << report.cells
                << " cells: " << report.problem_count << " problems\n";
  }
  return report.ok() ? ExitCode::kOk : ExitCode::kFinding;
}

}  // namespace

Action AddFlush(CLI::App* command) {
  const auto args = std::make_shared<StoreArgs>();
  args->AddTo(command);
  return [args](const Streams& streams) { return Flush(*args, streams); };
}

Action AddCompact(CLI::App* command) {
  const auto args = std::make_shared<CompactArgs>();
  args->store.AddTo(command);
  command->add_option("--family", args->family, "One family; default all")
      ->type_name("F");
  AddRowRangeTo(command, &args->start_row, &args->stop_row);
  return [args](const Streams& streams) { return Compact(*args, streams); };
}

Action AddResetClock(CLI::App* command) {
  const auto args = std::make_shared<StoreArgs>();
  args->AddTo(command);
  command->footer(
      "For a store whose timestamps ran ahead while the machine's clock was "
      "wrong. Cells\nwith later timestamps stay, and hide newer puts of them "
      "until the clock has passed\nthem.");
  return [args](const Streams& streams) { return ResetClock(*args, streams); };
}

Action AddCheckpoint(CLI::App* command) {
  const auto args = std::make_shared<CheckpointArgs>();
  args->store.AddTo(command);
  command
      ->add_option("TARGET", args->directory, "Where it goes; must not exist")
      ->required()
      ->type_name("");
  return [args](const Streams& streams) { return Checkpoint(*args, streams); };
}

Action AddCopy(CLI::App* command) {
  const auto args = std::make_shared<CopyArgs>();
  args->store.AddTo(command);
  args->store.AddJsonTo(command);
  command
      ->add_option("--family", args->families,
                   "A family to copy, and what is other in the copy; "
                   "repeatable; default all")
      ->allow_extra_args(false)
      ->type_name("F[,SETTING=VALUE...]");
  AddRowRangeTo(command, &args->start_row, &args->stop_row);
  command
      ->add_option("--new-key-layout", args->key_layout,
                   "How the copy lays out rows; default as the store")
      ->type_name("LAYOUT");
  command->add_option("TARGET", args->path, "Where it goes; must not exist")
      ->required()
      ->type_name("");
  command->footer(FamilySpec::Help());
  return [args](const Streams& streams) { return Copy(*args, streams); };
}

Action AddVerify(CLI::App* command) {
  const auto args = std::make_shared<VerifyArgs>();
  args->store.AddTo(command);
  args->store.AddJsonTo(command);
  command
      ->add_option("--only", args->only,
                   "A part to look at: files, records, cells; repeatable; "
                   "default all")
      ->allow_extra_args(false)
      ->transform(CLI::IsMember({kFiles, kRecords, kCells}, CLI::ignore_case))
      ->type_name("PART");
  return [args](const Streams& streams) { return Verify(*args, streams); };
}

}  // namespace rowbloom::cli
