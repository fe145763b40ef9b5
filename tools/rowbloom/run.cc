#include <CLI/CLI.hpp>

#include "tools/rowbloom/store_args.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

constexpr Verb kVerbs[] = {
    {"create", "Creates a store, or families in one.",
     "--db users.db --family info,versions=3 --family seen,ttl=7d", AddCreate},
    {"alter", "Changes settings of families.",
     "--db users.db --family info,compression=zstd --family seen,ttl=30d",
     AddAlter},
    {"drop", "Drops families with their cells.", "--db users.db --family seen",
     AddDrop},
    {"truncate", "Removes all cells of families.",
     "--db users.db --family info --yes", AddTruncate},
    {"describe", "Prints the families and their settings.", "--db users.db",
     AddDescribe},
    {"load", "Loads cells from text, TSV or a Debian package index.",
     "--db users.db --family info cells.tsv\n"
     "--db packages.db --family package,bloom=ROW - <packages.txt",
     AddLoad},
    {"put", "Writes a cell.",
     "--db users.db user_1001 info:mail ada@example.org\n"
     "--db users.db user_1001 info:photo - <photo.jpg",
     AddPut},
    {"append", "Writes a value behind that of a cell.",
     "--db users.db user_1001 info:groups ' admins'", AddAppend},
    {"incr", "Adds to a counter and prints the sum.",
     "--db users.db user_1001 info:visits\n"
     "--db users.db user_1001 info:visits 10",
     AddIncrement},
    {"check-and-put", "Writes a cell if it is as expected.",
     "--db users.db user_1002 info:mail eve@example.org --if-absent\n"
     "--db users.db user_1001 info:mail ada@example.com --if ada@example.org",
     AddCheckAndPut},
    {"delete", "Deletes a row, a family of it, or a column.",
     "--db users.db user_1001 info:photo\n"
     "--db users.db user_1003",
     AddDelete},
    {"get", "Prints the value of a cell.",
     "--db users.db user_1001 info:mail\n"
     "--db users.db user_1001 info:mail --versions 3",
     AddGet},
    {"row", "Prints the cells of a row.",
     "--db users.db user_1001\n"
     "--db users.db user_1001 info --keys-only",
     AddRow},
    {"exists", "Tells whether a row or a cell exists.",
     "--db users.db user_1001\n"
     "--db users.db user_1001 info:mail",
     AddExists},
    {"scan", "Prints the cells of many rows.",
     "--db users.db --prefix user_ --json\n"
     "--db users.db info:mail --start user_1001 --stop user_2000 --limit 10",
     AddScan},
    {"count", "Counts the rows and cells of a range.",
     "--db users.db --prefix user_", AddCount},
    {"flush", "Writes what is in memory and log to files.", "--db users.db",
     AddFlush},
    {"compact", "Merges files and drops what nothing can see.",
     "--db users.db --family info", AddCompact},
    {"reset-clock", "Sets the store's clock back to the machine's.",
     "--db users.db", AddResetClock},
    {"checkpoint", "Makes a store of its own with what this one has.",
     "--db users.db users.checkpoint", AddCheckpoint},
    {"copy", "Makes a new store of cells of this one, with other options.",
     "--db users.db --family info,kind=ribbon users.copy", AddCopy},
    {"verify", "Looks for damage in files, records and cells.",
     "--db users.db\n"
     "--db users.db --only records --only cells",
     AddVerify},
    {"backup", "Adds a backup of the store to a directory of them.",
     "--db users.db backups", AddBackup},
    {"restore", "Makes a store from a backup.",
     "--db restored.db backups\n"
     "--db first.db backups --id 1",
     AddRestore},
    {"backups", "Lists, verifies and deletes backups.",
     "backups --verify\n"
     "backups --keep 3",
     AddBackups},
    {"export-hfile", "Writes cells as HFiles for HBase's bulk load.",
     "--db users.db out\n"
     "--db users.db out.regions --regions regions.txt --compression gz",
     AddExportHFile},
    {"import-hfile", "Loads HFiles of HBase, or of export-hfile.",
     "--db users.db out --dry-run\n"
     "--db users.db out",
     AddImportHFile},
    {"stats", "Prints what the store has, by family.", "--db users.db",
     AddStats},
    {"shell", "Reads verbs, a line each, for one open store.",
     "--db users.db\n"
     "--db users.db <commands.txt",
     AddShell},
};

// In a shell, --db is the shell's unless given.
void GiveStoreOfShell(const Streams& streams, CLI::App* command) {
  CLI::Option* const db = command->get_option_no_throw("--db");
  if (streams.session == nullptr || db == nullptr) return;
  db->required(false)->default_val(streams.session->db);
}

constexpr VerbTable kRowbloom = {
    .name = "rowbloom",
    .summary = "A wide-column store on RocksDB with row filters.",
    .footer =
        "Exit codes: 0 done; 1 no such cell or row, or damage in a store or a "
        "backup; 2 wrong\nusage, or input or a store that cannot be used; 130 "
        "and 143 interrupted.",
    .verbs = kVerbs,
    .finish = GiveStoreOfShell};

}  // namespace

std::span<const Verb> Verbs() { return kVerbs; }

int Run(const std::vector<std::string>& args, const Streams& streams) {
  return RunProgram(kRowbloom, args, streams);
}

}  // namespace rowbloom::cli
