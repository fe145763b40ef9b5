#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/backup.h"
#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "storage/settings/family_spec.h"
#include "tools/cli/arguments.h"
#include "tools/cli/record.h"
#include "tools/cli/text.h"
#include "tools/rowbloom/store_args.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

struct CompactArgs {
  StoreArgs store;
  std::string family;
  std::string start_row;
  std::string stop_row;
};

// A store, and the directory that its cells go to or come from.
struct StoreAndDirectory {
  StoreArgs store;
  std::string directory;
  std::optional<uint32_t> backup_id;
};

void AddDirectoryTo(CLI::App* command, const char* name, const char* meaning,
                    std::string* directory) {
  command->add_option(name, *directory, meaning)->required()->type_name("");
}

void AddTargetTo(CLI::App* command, std::string* directory) {
  AddDirectoryTo(command, "TARGET", "Where it goes; must not exist", directory);
}

void AddBackupsTo(CLI::App* command, std::string* directory) {
  AddDirectoryTo(command, "BACKUPS", "The directory of backups", directory);
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
  const auto specs = Require(FamilySpec::ParseAll(args.families));
  CopyOptions options{.start_row = FromPrintable(args.start_row),
                      .stop_row = FromPrintable(args.stop_row)};
  if (!args.key_layout.empty()) {
    options.store.key_layout = Require(KeyLayout::FromString(args.key_layout));
  }
  options.store.front_filter_limit_bytes = 0;
  const std::shared_ptr<Store> store = args.store.OpenToRead(streams);
  const std::map<std::string, FamilyOptions> families = store->Families();
  for (const FamilySpec& spec : specs) {
    Require(args.store.CheckFamily(spec.name(), families));
    options.families.push_back(
        {spec.name(), spec.ApplyTo(families.at(spec.name()))});
  }
  CopyReport report;
  Require(store->CopyTo(args.path, options, &report));
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
  VerifyReport report;
  Require(
      args.store.OpenToRead(streams)->Verify({.files = args.Looks(kFiles),
                                              .records = args.Looks(kRecords),
                                              .cells = args.Looks(kCells)},
                                             &report));
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

// Prints a backup; the first one is printed below the titles.
void Print(const BackupInfo& backup, std::string_view state, bool is_first,
           bool json, std::ostream& out) {
  if (json) {
    Record()
        .Number("backup", backup.id)
        .Number("timestamp_s", backup.timestamp_s)
        .Number("files", backup.files)
        .Number("bytes", backup.bytes)
        .Text("state", state)
        .Print(out);
    return;
  }
  constexpr const char* kLine = "{:>6}  {:23}  {:>5}  {:>14}  {}\n";
  if (is_first) {
    out << fmt::format(kLine, "backup", "made", "files", "bytes", "state");
  }
  out << fmt::format(
      kLine, backup.id,  // That of a damaged backup is 0.
      backup.timestamp_s == 0 ? "unknown" : UtcText(backup.timestamp_s),
      backup.files, backup.bytes, state);
}

struct BackupsArgs {
  std::string directory;
  bool json = false;
  bool verify = false;
  std::optional<uint32_t> id_to_delete;
  std::optional<uint32_t> keep;
  bool yes = false;
};

ExitCode Backups(const BackupsArgs& args, const Streams& streams) {
  if ((args.id_to_delete || args.keep) &&
      !Confirm(streams, args.yes,
               args.keep
                   ? fmt::format("Delete all backups but {}?", *args.keep)
                   : fmt::format("Delete backup {}?", *args.id_to_delete))) {
    return Fail(streams.err, "nothing was deleted");
  }
  if (args.id_to_delete) {
    Require(DeleteBackup(args.directory, *args.id_to_delete));
  }
  if (args.keep) Require(PurgeBackups(args.directory, *args.keep));
  std::vector<BackupInfo> backups;
  Require(ListBackups(args.directory, &backups));
  ExitCode code = ExitCode::kOk;
  for (const BackupInfo& backup : backups) {
    std::string_view state = args.verify ? "verified" : "listed";
    Status s;
    if (args.verify) s = VerifyBackup(args.directory, backup.id);
    if (s.IsCorruption()) {
      Complain(streams.err, Describe(s));
    } else {
      Require(s);
    }
    if (backup.damaged || !s.ok()) {
      state = "damaged";
      code = ExitCode::kFinding;
    }
    Print(backup, state, &backup == &backups.front(), args.json, streams.out);
  }
  return code;
}

}  // namespace

Action AddFlush(CLI::App* command) {
  const auto args = std::make_shared<StoreArgs>();
  args->AddTo(command);
  return [args](const Streams& streams) {
    Require(args->OpenToWrite(streams)->Flush());
    return ExitCode::kOk;
  };
}

Action AddCompact(CLI::App* command) {
  const auto args = std::make_shared<CompactArgs>();
  args->store.AddTo(command);
  command->add_option("--family", args->family, "One family; default all")
      ->type_name("F");
  AddRowRangeTo(command, &args->start_row, &args->stop_row);
  return [args](const Streams& streams) {
    Require(args->store.OpenToWrite(streams)->Compact(
        {.family = args->family,
         .start_row = FromPrintable(args->start_row),
         .stop_row = FromPrintable(args->stop_row)}));
    return ExitCode::kOk;
  };
}

Action AddResetClock(CLI::App* command) {
  const auto args = std::make_shared<StoreArgs>();
  args->AddTo(command);
  command->footer(
      "For a store whose timestamps ran ahead while the machine's clock was "
      "wrong. Cells\nwith later timestamps stay, and hide newer puts of them "
      "until the clock has passed\nthem.");
  return [args](const Streams& streams) {
    // Opened without its warnings, one of which asks for this.
    std::shared_ptr<Store> store;
    Require(args->OpenQuietly(args->Options(), {}, streams, &store));
    Require(store->ResetClock());
    return ExitCode::kOk;
  };
}

Action AddCheckpoint(CLI::App* command) {
  const auto args = std::make_shared<StoreAndDirectory>();
  args->store.AddTo(command);
  AddTargetTo(command, &args->directory);
  return [args](const Streams& streams) {
    Require(args->store.OpenToWrite(streams)->Checkpoint(args->directory));
    return ExitCode::kOk;
  };
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
  AddTargetTo(command, &args->path);
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

Action AddBackup(CLI::App* command) {
  const auto args = std::make_shared<StoreAndDirectory>();
  args->store.AddTo(command);
  args->store.AddJsonTo(command);
  AddBackupsTo(command, &args->directory);
  return [args](const Streams& streams) {
    BackupInfo made;
    Require(args->store.OpenToWrite(streams)->Backup(args->directory, &made));
    Print(made, "made", /*is_first=*/true, args->store.json, streams.out);
    return ExitCode::kOk;
  };
}

Action AddRestore(CLI::App* command) {
  const auto args = std::make_shared<StoreAndDirectory>();
  args->store.AddTo(command);
  AddNumberTo(command, "--id", &args->backup_id,
              "Which; default the newest that is not damaged");
  AddBackupsTo(command, &args->directory);
  return [args](const Streams& /*streams*/) {
    Require(RestoreBackup(args->directory, args->backup_id, args->store.db));
    return ExitCode::kOk;
  };
}

Action AddBackups(CLI::App* command) {
  const auto args = std::make_shared<BackupsArgs>();
  AddJsonTo(command, &args->json);
  command->add_flag("--verify", args->verify,
                    "Read all files and compare their checksums");
  CLI::Option* id = AddNumberTo(command, "--delete", &args->id_to_delete,
                                "Delete this one first", "ID");
  AddNumberTo(command, "--keep", &args->keep,
              "Delete all but the newest N first")
      ->excludes(id);
  AddYesTo(command, &args->yes);
  AddBackupsTo(command, &args->directory);
  return [args](const Streams& streams) { return Backups(*args, streams); };
}

}  // namespace rowbloom::cli
