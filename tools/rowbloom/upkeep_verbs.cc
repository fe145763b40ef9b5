#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/backup.h"
#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "storage/settings/family_spec.h"
#include "tools/cli/arguments.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

void Flush(const StoreArgs& args, const Streams& streams) {
  Require(args.OpenToWrite(streams)->Flush());
}

struct CompactArgs {
  StoreArgs store;
  CompactOptions options;

  void AddTo(CLI::App* command) {
    store.AddTo(command);
    AddFamilyTo(command, &options.family, "One family; default all");
    AddRowRangeTo(command, &options.start_row, &options.stop_row);
  }
};

void Compact(const CompactArgs& args, const Streams& streams) {
  Require(args.store.OpenToWrite(streams)->Compact(args.options));
}

struct ResetClockArgs : StoreArgs {
  void AddTo(CLI::App* command) {
    StoreArgs::AddTo(command);
    command->footer(
        "For a store whose timestamps ran ahead while the machine's clock was "
        "wrong. Cells\nwith later timestamps stay, and hide newer puts of them "
        "until the clock has passed\nthem, or a delete without a timestamp has "
        "taken them.");
  }
};

void ResetClock(const ResetClockArgs& args, const Streams& streams) {
  // Opened without warnings, one of which recommends this verb.
  std::shared_ptr<Store> store;
  Require(args.TryOpen(args.Options(), {}, streams, &store, /*quiet=*/true));
  Require(store->ResetClock());
}

void AddTargetTo(CLI::App* command, std::string* directory) {
  AddArgumentTo(command, "TARGET", directory,
                "The directory to make; must not exist");
}

void AddBackupsTo(CLI::App* command, std::string* directory) {
  AddArgumentTo(command, "BACKUPS", directory, "The directory of backups");
}

struct CheckpointArgs {
  StoreArgs store;
  std::string directory;

  void AddTo(CLI::App* command) {
    store.AddTo(command);
    AddTargetTo(command, &directory);
  }
};

void Checkpoint(const CheckpointArgs& args, const Streams& streams) {
  Require(args.store.OpenToWrite(streams)->Checkpoint(args.directory));
}

struct CopyArgs {
  PrintingStoreArgs store;
  CopyOptions options;
  std::vector<std::string> families;
  std::optional<std::string> key_layout;
  std::string path;

  void AddTo(CLI::App* command) {
    store.AddTo(command);
    AddFamilySpecsTo(command, &families,
                     "A family to copy, and what is other in the copy: "
                     "settings that are not named are the store's; repeatable; "
                     "default all");
    AddRowRangeTo(command, &options.start_row, &options.stop_row);
    AddOptionTo(command, "--new-key-layout", &key_layout,
                "How the copy lays out rows; default as the store", "LAYOUT");
    AddTargetTo(command, &path);
  }
};

void Copy(const CopyArgs& args, const Streams& streams) {
  const auto specs = Require(FamilySpec::ParseAll(args.families));
  CopyOptions options = args.options;
  if (args.key_layout) {
    options.store.key_layout = Require(KeyLayout::FromString(*args.key_layout));
  }
  options.store.front_filter_limit_bytes = 0;
  const std::shared_ptr<Store> store = args.store.OpenToRead(streams);
  std::map<std::string, FamilyOptions> families = store->Families();
  for (const FamilySpec& spec : specs) {
    // The store refuses a family that it does not have.
    options.families.push_back(
        {spec.name(), spec.ApplyTo(families[spec.name()])});
  }
  CopyReport report;
  Require(store->CopyTo(args.path, options, &report));
  args.store.To(streams).PrintSum(Record()
                                      .Number("families", report.families)
                                      .Number("cells", report.cells)
                                      .Number("deletes", report.deletes));
}

constexpr const char* kFiles = "files";
constexpr const char* kRecords = "records";
constexpr const char* kCells = "cells";

struct VerifyArgs {
  PrintingStoreArgs store;
  std::vector<std::string> only;

  bool Looks(const char* part) const {
    return only.empty() || std::ranges::count(only, part) > 0;
  }
  void AddTo(CLI::App* command) {
    store.AddTo(command);
    AddListTo(command, "--only", &only,
              "A part to look at: files, records, cells; repeatable; default "
              "all",
              "PART")
        ->transform(
            CLI::IsMember({kFiles, kRecords, kCells}, CLI::ignore_case));
  }
};

// Returns the known parts of the place of a problem.
std::string PlaceOf(const VerifyProblem& problem) {
  std::string place;
  if (!problem.file.empty()) place += problem.file + ": ";
  if (!problem.family.empty()) {
    place += "family " + ToPrintable(problem.family) + ": ";
  }
  if (!problem.row.empty()) {
    place += "row \"" + ToPrintable(problem.row) + "\", column \"" +
             ToPrintable(problem.qualifier) + "\": ";
  }
  return place;
}

ExitCode Verify(const VerifyArgs& args, const Streams& streams) {
  StoreOptions options = args.store.Options();
  options.read_only = true;
  std::shared_ptr<Store> store;
  VerifyReport report;
  Status s = args.store.TryOpen(options, {}, streams, &store);
  if (s.ok()) {
    s = store->Verify({.files = args.Looks(kFiles),
                       .records = args.Looks(kRecords),
                       .cells = args.Looks(kCells)},
                      &report);
  }
  if (s.IsCorruption()) {  // the store cannot be opened
    ++report.problem_count;
    report.problems.push_back({.problem = Describe(s)});
  }
  const Output output = args.store.To(streams);
  for (const VerifyProblem& problem : report.problems) {
    output.Line(PlaceOf(problem) + problem.problem);
    if (!output.json) continue;
    output.Print(Record()
                     .Text("file", problem.file)
                     .Text("family", ToPrintable(problem.family))
                     .Text("row", ToPrintable(problem.row))
                     .Text("qualifier", ToPrintable(problem.qualifier))
                     .Text("problem", ToPrintable(problem.problem)));
  }
  if (!s.IsCorruption()) Require(s);
  output.PrintSum(Record()
                      .Number("files", report.files)
                      .Number("file_bytes", report.file_bytes)
                      .Number("records", report.records)
                      .Number("cells", report.cells)
                      .Number("row_deletes", report.row_deletes)
                      .Number("problems", report.problem_count));
  return report.ok() ? ExitCode::kOk : ExitCode::kFinding;
}

constexpr const char* kBackupColumns =
    "backup timestamp_s=made files bytes state";

Record RecordOf(const BackupInfo& backup, std::string_view state) {
  const auto if_known = [&backup](uint64_t number) {
    return backup.damaged ? std::nullopt : std::optional(number);
  };
  Record record;
  record.Number("backup", backup.id)
      .Time("timestamp_s", if_known(backup.timestamp_s))
      .Number("files", if_known(backup.files))
      .Number("bytes", if_known(backup.bytes))
      .Text("state", state);
  return record;
}

struct BackupArgs {
  PrintingStoreArgs store;
  std::string directory;

  void AddTo(CLI::App* command) {
    store.AddTo(command);
    AddBackupsTo(command, &directory);
  }
};

void Backup(const BackupArgs& args, const Streams& streams) {
  BackupInfo made;
  Require(args.store.OpenToWrite(streams)->Backup(args.directory, &made));
  const Output output = args.store.To(streams);
  Listing(output, kBackupColumns).Add(RecordOf(made, "made"));
}

struct RestoreArgs {
  std::string db;
  std::string directory;
  std::optional<uint32_t> id;

  void AddTo(CLI::App* command) {
    AddOptionTo(command, "--db", &db, "Directory of the new store", "DIR")
        ->required();
    AddNumberTo(command, "--id", &id,
                "Which; default the newest that lacks no file");
    AddBackupsTo(command, &directory);
  }
};

void Restore(const RestoreArgs& args, const Streams& /*streams*/) {
  Require(RestoreBackup(args.directory, args.id, args.db));
}

struct BackupsArgs {
  std::string directory;
  bool json = false;
  bool verify = false;
  std::optional<uint32_t> id_to_delete;
  std::optional<uint32_t> keep;
  bool yes = false;

  void AddTo(CLI::App* command) {
    AddJsonTo(command, &json);
    command->add_flag("--verify", verify,
                      "Read all files and compare their checksums");
    CLI::Option* const id = AddNumberTo(command, "--delete", &id_to_delete,
                                        "Delete this one first", "ID");
    AddNumberTo(command, "--keep", &keep, "Delete all but the newest N first")
        ->check(CLI::Range(uint32_t{1}, std::numeric_limits<uint32_t>::max()))
        ->excludes(id);
    AddYesTo(command, &yes);
    AddBackupsTo(command, &directory);
  }
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
  const Output output{streams.out, streams.err, args.json, /*indent=*/0};
  Listing listing(output, kBackupColumns);
  for (const BackupInfo& backup : backups) {
    std::string_view state = args.verify ? "verified" : "listed";
    Status s;
    if (args.verify) s = VerifyBackup(args.directory, backup.id);
    if (s.IsNotFound()) continue;  // deleted since it was listed
    if (s.IsCorruption()) {
      Complain(streams.err, Describe(s));
    } else {
      Require(s);
    }
    if (backup.damaged || !s.ok()) {
      state = "damaged";
      code = ExitCode::kFinding;
    }
    listing.Add(RecordOf(backup, state));
  }
  return code;
}

}  // namespace

std::vector<Verb> UpkeepVerbs() {
  return {
      {"flush", "Writes what is in memory and log to files.", "--db users.db",
       Of<Flush>},
      {"compact", "Merges files and drops what nothing can see.",
       "--db users.db --family info", Of<Compact>},
      {"reset-clock", "Sets the store's clock back to the machine's.",
       "--db users.db", Of<ResetClock>},
      {"checkpoint", "Makes a store of its own with what this one has.",
       "--db users.db users.checkpoint", Of<Checkpoint>},
      {"copy", "Makes a new store of cells of this one, with other options.",
       "--db users.db --family info,kind=ribbon users.copy", Of<Copy>},
      {"verify", "Looks for damage in files, records and cells.",
       "--db users.db\n"
       "--db users.db --only records --only cells",
       Of<Verify>},
      {"backup", "Adds a backup of the store to a directory of them.",
       "--db users.db backups", Of<Backup>},
      {"restore", "Makes a store from a backup.",
       "--db restored.db backups\n"
       "--db first.db backups --id 1",
       Of<Restore>},
      {"backups", "Lists, verifies and deletes backups.",
       "backups --verify\n"
       "backups --keep 3",
       Of<Backups>},
  };
}

}  // namespace rowbloom::cli
