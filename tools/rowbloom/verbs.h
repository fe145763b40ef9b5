// The verbs, by source file. Each adds its arguments to the command.
#pragma once

#include "tools/cli/program.h"

namespace rowbloom::cli {

// `create --family F[,SETTING=VALUE...]...`: what is there with these options
// stays as it is.
Action AddCreate(CLI::App* command);

// `alter --family F,SETTING=VALUE...`: the other settings stay. Families are
// altered one after the other.
Action AddAlter(CLI::App* command);

// `drop --family F...`: with all their cells, one after the other. Asks first
// if a person types.
Action AddDrop(CLI::App* command);

// `truncate --family F...`: removes their cells, as drop does.
Action AddTruncate(CLI::App* command);

// `describe`: a line for each family, as create takes it.
Action AddDescribe(CLI::App* command);

// `load [--family F[,SETTING=VALUE...]]... FILE`: loads all cells, flushes, and
// prints a summary. A cell that cannot be loaded, and SIGINT or SIGTERM, end
// the load: cells above are kept, it and those below are not.
Action AddLoad(CLI::App* command);

// `put ROW FAMILY:QUALIFIER VALUE`, where - is what standard input has.
Action AddPut(CLI::App* command);

// `append ROW FAMILY:QUALIFIER VALUE`, where - is what standard input has.
Action AddAppend(CLI::App* command);

// `incr ROW FAMILY:QUALIFIER [DELTA]`: prints the sum.
Action AddIncrement(CLI::App* command);

// `check-and-put ROW FAMILY:QUALIFIER VALUE`, with --if VALUE or --if-absent.
// kFinding: nothing was written.
Action AddCheckAndPut(CLI::App* command);

// `delete ROW [FAMILY[:QUALIFIER]]`.
Action AddDelete(CLI::App* command);

// The next five open the store for reading, also beside a process that writes
// it.

// `get ROW FAMILY:QUALIFIER`: the newest value, or with --versions a line for
// each version. kFinding: there is none.
Action AddGet(CLI::App* command);

// `row ROW [FAMILY[:QUALIFIER]...]`: a line for each cell. kFinding: there
// is none.
Action AddRow(CLI::App* command);

// `exists ROW [FAMILY[:QUALIFIER]...]`: kFinding if the row has no such cell.
Action AddExists(CLI::App* command);

// `scan [FAMILY[:QUALIFIER]...]`: a line for each cell of the rows in a range.
// Streams.
Action AddScan(CLI::App* command);

// `count [FAMILY[:QUALIFIER]...]`: the numbers of rows and cells in a range.
Action AddCount(CLI::App* command);

Action AddFlush(CLI::App* command);

// `compact [--family F] [--start R] [--stop R]`.
Action AddCompact(CLI::App* command);

// `reset-clock`: the store goes on by the machine's clock.
Action AddResetClock(CLI::App* command);

// `checkpoint DIR`: a store of its own, with what this one has.
Action AddCheckpoint(CLI::App* command);

// `copy [--family F[,SETTING=VALUE]] [--start R] [--stop R] DIR`: a new store
// of cells of this one, with other options.
Action AddCopy(CLI::App* command);

// `verify [--only PART]`: a look for damage.
Action AddVerify(CLI::App* command);

// `backup BACKUPS`: adds one of the store.
Action AddBackup(CLI::App* command);

// `restore BACKUPS [--id N]`: makes the store that --db names.
Action AddRestore(CLI::App* command);

// `backups BACKUPS [--verify] [--delete ID] [--keep N]`: a line for each.
// kFinding: one is damaged.
Action AddBackups(CLI::App* command);

// `export-hfile OUT`: opens the store for reading, writes HFiles, and prints a
// summary; warns when a bulk load needs its limit of files raised.
Action AddExportHFile(CLI::App* command);

// `import-hfile PATH...`: loads HFiles into a store that is there, all or none,
// and prints a summary; `import-hfile --snapshot DIR NAME` loads a snapshot,
// also into a new store.
Action AddImportHFile(CLI::App* command);

// `stats`: a table, or objects, with a line for each family.
Action AddStats(CLI::App* command);

// `shell`: lines of standard input, on a terminal with history and completion.
// From elsewhere, the first line that fails ends it, with its exit code.
Action AddShell(CLI::App* command);

// `filter size`: a table with a line for each kind of filter, for a number of
// keys and a rate.
Action AddFilterSize(CLI::App* command);

// `filter build`: the lines of standard input into a filter, and that into a
// file, of which nothing is left after an error.
Action AddFilterBuild(CLI::App* command);

// `filter check`: prints the lines of standard input that may be in the filter,
// or with --absent those that surely are not. kFinding: there were none.
Action AddFilterCheck(CLI::App* command);

// `filter info`: what there is to know of the filter in a file.
Action AddFilterInfo(CLI::App* command);

}  // namespace rowbloom::cli
