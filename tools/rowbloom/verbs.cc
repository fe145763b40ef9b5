#include "tools/rowbloom/verbs.h"

#include "tools/rowbloom/backup_verbs.h"
#include "tools/rowbloom/family_verbs.h"
#include "tools/rowbloom/hfile_verbs.h"
#include "tools/rowbloom/load_verb.h"
#include "tools/rowbloom/read_verbs.h"
#include "tools/rowbloom/shell.h"
#include "tools/rowbloom/stats_verb.h"
#include "tools/rowbloom/upkeep_verbs.h"
#include "tools/rowbloom/write_verbs.h"

namespace rowbloom::cli {

std::span<const Verb> Verbs() {
  static constexpr Verb kVerbs[] = {
      {"create", "Creates a store, or families in one.", AddCreate},
      {"alter", "Changes settings of families.", AddAlter},
      {"drop", "Drops families with their cells.", AddDrop},
      {"truncate", "Removes all cells of families.", AddTruncate},
      {"describe", "Prints the families and their settings.", AddDescribe},
      {"load", "Loads cells from text, TSV or a Debian package index.",
       AddLoad},
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
      {"backup", "Adds a backup of the store to a directory of them.",
       AddBackup},
      {"restore", "Makes a store from a backup.", AddRestore},
      {"backups", "Lists, verifies and deletes backups.", AddBackups},
      {"export-hfile", "Writes cells as HFiles for HBase's bulk load.",
       AddExportHFile},
      {"import-hfile", "Loads HFiles of HBase, or of export-hfile.",
       AddImportHFile},
      {"stats", "Prints what the store has, by family.", AddStats},
      {"shell", "Reads verbs, a line each, for one open store.", AddShell},
  };
  return kVerbs;
}

}  // namespace rowbloom::cli
