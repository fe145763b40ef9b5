#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/backup.h"
#include "rowbloom/store.h"
#include "tools/cli/arguments.h"
#include "tools/cli/record.h"
#include "tools/cli/text.h"
#include "tools/rowbloom/store_args.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

void AddDirectoryArgument(CLI::App* command, std::string* directory) {
  command->add_option("BACKUPS", *directory, "The directory of backups")
      ->required()
      ->type_name("");
}

struct StoreAndBackups {
  StoreArgs store;
  std::string directory;
  std::optional<uint32_t> id;
};

// Prints backups, one a line. Not thread-safe.
class BackupPrinter {
 public:
  BackupPrinter(std::ostream& out, bool json) : out_(out), json_(json) {}

  void Print(const BackupInfo& backup, std::string_view state) {
    if (json_) {
      Record()
          .Number("backup", backup.id)
          .Number("timestamp_s", backup.timestamp_s)
          .Number("files", backup.files)
          .Number("bytes", backup.bytes)
          .Text("state", state)
          .Print(out_);
      return;
    }
    if (!titles_printed_) {
      out_ << fmt::format(kLine, "backup", "made", "files", "bytes", "state");
      titles_printed_ = true;
    }
    out_ << fmt::format(
        kLine, backup.id,  // That of a damaged backup is 0.
        backup.timestamp_s == 0 ? "unknown" : UtcText(backup.timestamp_s),
        backup.files, backup.bytes, state);
  }

 private:
  static constexpr const char* kLine = "{:>6}  {:23}  {:>5}  {:>14}  {}\n";

  std::ostream& out_;
  const bool json_;
  bool titles_printed_ = false;
};

ExitCode Backup(const StoreAndBackups& args, const Streams& streams) {
  std::shared_ptr<Store> store;
  Status s = args.store.OpenToWrite(streams, &store);
  BackupInfo made;
  if (s.ok()) s = store->Backup(args.directory, &made);
  if (!s.ok()) return Fail(streams.err, s);
  BackupPrinter(streams.out, args.store.json).Print(made, "made");
  return ExitCode::kOk;
}

ExitCode Restore(const StoreAndBackups& args, const Streams& streams) {
  const Status s = RestoreBackup(args.directory, args.id, args.store.db);
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
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
  Status s;
  if (args.id_to_delete) s = DeleteBackup(args.directory, *args.id_to_delete);
  if (args.keep) s = PurgeBackups(args.directory, *args.keep);
  std::vector<BackupInfo> backups;
  if (s.ok()) s = ListBackups(args.directory, &backups);
  if (!s.ok()) return Fail(streams.err, s);
  BackupPrinter printer(streams.out, args.json);
  ExitCode code = ExitCode::kOk;
  for (const BackupInfo& backup : backups) {
    std::string_view state = "listed";
    if (args.verify) {
      s = VerifyBackup(args.directory, backup.id);
      if (!s.ok() && !s.IsCorruption()) return Fail(streams.err, s);
      if (!s.ok()) Complain(streams.err, Describe(s));
      state = "verified";
    }
    if (backup.damaged || !s.ok()) {
      state = "damaged";
      code = ExitCode::kFinding;
    }
    printer.Print(backup, state);
  }
  return code;
}

}  // namespace

Action AddBackup(CLI::App* command) {
  const auto args = std::make_shared<StoreAndBackups>();
  args->store.AddTo(command);
  args->store.AddJsonTo(command);
  AddDirectoryArgument(command, &args->directory);
  return [args](const Streams& streams) { return Backup(*args, streams); };
}

Action AddRestore(CLI::App* command) {
  const auto args = std::make_shared<StoreAndBackups>();
  args->store.AddTo(command);
  AddNumberTo(command, "--id", &args->id,
              "Which; default the newest that is not damaged");
  AddDirectoryArgument(command, &args->directory);
  return [args](const Streams& streams) { return Restore(*args, streams); };
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
  AddDirectoryArgument(command, &args->directory);
  return [args](const Streams& streams) { return Backups(*args, streams); };
}

}  // namespace rowbloom::cli
