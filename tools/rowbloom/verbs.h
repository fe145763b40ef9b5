// rowbloom: the command line of the store.
//
//   rowbloom create --db DIR --family info,versions=3
//   rowbloom put --db DIR user_1001 info:mail ada@example.org
//   rowbloom scan --db DIR --prefix user_ --json
//
// Each verb adds its arguments to the command. Their help says what they do,
// README.md what they print.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/cli/program.h"

namespace rowbloom::cli {

// The verbs, in the order of the help.
std::span<const Verb> Verbs();

// RunProgram with these verbs.
int Run(const std::vector<std::string>& args, const Streams& streams);

// Those that change several families change one after the other, once all are
// known to exist. What a verb creates stays as it is if it is there with these
// options.
Action AddCreate(CLI::App* command);
Action AddAlter(CLI::App* command);
Action AddDrop(CLI::App* command);
Action AddTruncate(CLI::App* command);
Action AddDescribe(CLI::App* command);

// A cell that cannot be loaded, and SIGINT or SIGTERM, end the load: cells
// above are kept, it and those below are not.
Action AddLoad(CLI::App* command);

// VALUE - is what standard input has. kFinding: check-and-put wrote nothing.
Action AddPut(CLI::App* command);
Action AddAppend(CLI::App* command);
Action AddIncrement(CLI::App* command);
Action AddCheckAndPut(CLI::App* command);
Action AddDelete(CLI::App* command);

// These open the store for reading, also beside a process that writes it.
// kFinding: get, row and exists found no cell. A scan streams.
Action AddGet(CLI::App* command);
Action AddRow(CLI::App* command);
Action AddExists(CLI::App* command);
Action AddScan(CLI::App* command);
Action AddCount(CLI::App* command);

Action AddFlush(CLI::App* command);
Action AddCompact(CLI::App* command);
Action AddResetClock(CLI::App* command);
Action AddCheckpoint(CLI::App* command);
Action AddCopy(CLI::App* command);
Action AddVerify(CLI::App* command);  // kFinding: there is damage

Action AddBackup(CLI::App* command);
Action AddRestore(CLI::App* command);
Action AddBackups(CLI::App* command);  // kFinding: one is damaged

// An import loads all or nothing. The export warns when a bulk load needs its
// limit of files raised.
Action AddExportHFile(CLI::App* command);
Action AddImportHFile(CLI::App* command);

Action AddStats(CLI::App* command);

// Lines of standard input, on a terminal with history and completion. From
// elsewhere, the first line that fails ends it, with its exit code.
Action AddShell(CLI::App* command);

}  // namespace rowbloom::cli
