#include "tools/rowbloom/backup_verbs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/backup.h"
#include "rowbloom/store.h"
#include "tools/rowbloom/store_args.h"
#include "tools/rowbloom/whole_number.h"

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

std::string TimeText(uint64_t seconds) {
  // The time of a damaged backup is 0. Nobody made a backup beyond four-digit
  // years.
  constexpr uint64_t kYear10000 = 253'402'300'800;
  if (seconds == 0 || seconds >= kYear10000) return "unknown";
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                     fmt::gmtime(static_cast<std::time_t>(seconds)));
}

// Prints backups, one a line. Not thread-safe.
class BackupPrinter {
 public:
  BackupPrinter(std::ostream& out, bool json) : out_(out), json_(json) {}

  void Print(const BackupInfo& backup, std::string_view state) {
    if (json_) {
      const nlohmann::ordered_json object = {
          {"backup", backup.id},
          {"timestamp_s", backup.timestamp_s},
          {"files", backup.files},
          {"bytes", backup.bytes},
          {"state", state}};
      out_ << object.dump() << '\n';
      return;
    }
    if (!titles_printed_) {
      out_ << fmt::format(kLine, "backup", "made", "files", "bytes", "state");
      titles_printed_ = true;
    }
    out_ << fmt::format(kLine, backup.id, TimeText(backup.timestamp_s),
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
};

ExitCode Backups(const BackupsArgs& args, const Streams& streams) {
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
  AddDirectoryArgument(command, &args->directory);
  return [args](const Streams& streams) { return Backup(*args, streams); };
}

Action AddRestore(CLI::App* command) {
  const auto args = std::make_shared<StoreAndBackups>();
  args->store.AddTo(command);
  command
      ->add_option("--id", args->id,
                   "Which; default the newest that is not damaged")
      ->check(WholeNumber())
      ->type_name("N");
  AddDirectoryArgument(command, &args->directory);
  return [args](const Streams& streams) { return Restore(*args, streams); };
}

Action AddBackups(CLI::App* command) {
  const auto args = std::make_shared<BackupsArgs>();
  command->add_flag("--json", args->json, "Print objects, one a line");
  command->add_flag("--verify", args->verify,
                    "Read all files and compare their checksums");
  CLI::Option* id =
      command
          ->add_option("--delete", args->id_to_delete, "Delete this one first")
          ->check(WholeNumber())
          ->type_name("ID");
  command->add_option("--keep", args->keep, "Delete all but the newest N first")
      ->check(WholeNumber())
      ->type_name("N")
      ->excludes(id);
  AddDirectoryArgument(command, &args->directory);
  return [args](const Streams& streams) { return Backups(*args, streams); };
}

}  // namespace rowbloom::cli
