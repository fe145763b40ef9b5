#include "tools/rowbloom/run.h"

#include <CLI/CLI.hpp>

#include "tools/rowbloom/store_args.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

constexpr Verb kFilterVerbs[] = {
    {"size", "Prints how large each kind of filter would be.", AddFilterSize},
    {"build", "Writes a filter of the lines of standard input.",
     AddFilterBuild},
    {"check", "Prints the lines of standard input that may be in a filter.",
     AddFilterCheck},
    {"info", "Prints what there is to know of a filter.", AddFilterInfo},
};

constexpr VerbTable kFilter = {
    .name = "rowbloom filter",
    .summary = "Filters of lines: sizes, files, and what is in them.",
    .footer =
        "Exit codes: 0 done; 1 check printed no line; 2 wrong usage, or "
        "input or a filter that cannot be used.",
    .verbs = kFilterVerbs};

constexpr Verb kVerbs[] = {
    {"create", "Creates a store, or families in one.", AddCreate},
    {"alter", "Changes settings of families.", AddAlter},
    {"drop", "Drops families with their cells.", AddDrop},
    {"truncate", "Removes all cells of families.", AddTruncate},
    {"describe", "Prints the families and their settings.", AddDescribe},
    {"load", "Loads cells from text, TSV or a Debian package index.", AddLoad},
    {"put", "Writes a cell.", AddPut},
    {"append", "Writes a value behind that of a cell.", AddAppend},
    {"incr", "Adds to a counter and prints the sum.", AddIncrement},
    {"check-and-put", "Writes a cell if it is as expected.", AddCheckAndPut},
    {"delete", "Deletes a row, a family of it, or a column.", AddDelete},
    {"get", "Prints the value of a cell.", AddGet},
    {"row", "Prints the cells of a row.", AddRow},
    {"exists", "Tells whether a row or a cell exists.", AddExists},
    {"scan", "Prints the cells of many rows.", AddScan},
    {"count", "Counts the rows and cells of a range.", AddCount},
    {"flush", "Writes what is in memory and log to files.", AddFlush},
    {"compact", "Merges files and drops what nothing can see.", AddCompact},
    {"reset-clock", "Sets the store's clock back to the machine's.",
     AddResetClock},
    {"checkpoint", "Makes a store of its own with what this one has.",
     AddCheckpoint},
    {"copy", "Makes a new store of cells of this one, with other options.",
     AddCopy},
    {"verify", "Looks for damage in files, records and cells.", AddVerify},
    {"backup", "Adds a backup of the store to a directory of them.", AddBackup},
    {"restore", "Makes a store from a backup.", AddRestore},
    {"backups", "Lists, verifies and deletes backups.", AddBackups},
    {"export-hfile", "Writes cells as HFiles for HBase's bulk load.",
     AddExportHFile},
    {"import-hfile", "Loads HFiles of HBase, or of export-hfile.",
     AddImportHFile},
    {"stats", "Prints what the store has, by family.", AddStats},
    {"shell", "Reads verbs, a line each, for one open store.", AddShell},
    {"filter", "Filters of lines, without a store.", nullptr, &kFilter},
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
