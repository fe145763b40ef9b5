// rowbloom: the command line of the store.
//
//   rowbloom create --db DIR --family info,versions=3
//   rowbloom put --db DIR user_1001 info:mail ada@example.org
//   rowbloom scan --db DIR --prefix user_ --json
//
// Each verb adds its arguments to the command. The help describes them, and
// README.md describes the output.
#pragma once

#include <string>
#include <vector>

// The verbs of a store use these.
#include "tools/cli/program.h"
#include "tools/rowbloom/store_args.h"

namespace rowbloom::cli {

// All verbs, in the order of the help.
const std::vector<Verb>& Verbs();

// Calls RunProgram with these verbs.
int Run(const std::vector<std::string>& args, const Streams& streams);

// create, alter, drop, truncate, describe and stats. Verbs that change several
// families check first that all exist, and then change one after the other.
// create leaves a family unchanged that exists with the same options.
std::vector<Verb> FamilyVerbs();
// load. A cell that cannot be loaded ends the load, as do SIGINT and SIGTERM:
// the cells above it are kept, it and those below are not.
std::vector<Verb> LoadVerbs();
// put, append, incr, check-and-put and delete. The VALUE - is read from
// standard input. kFinding: check-and-put wrote nothing.
std::vector<Verb> WriteVerbs();
// get, row, exists, scan and count. They open the store for reading, even while
// another process writes it. kFinding: get, row and exists found no cell. A
// scan prints rows as it reads them.
std::vector<Verb> ReadVerbs();
// flush, compact, reset-clock, checkpoint, copy, verify, backup, restore and
// backups. kFinding: verify found damage, or backups found a damaged backup.
std::vector<Verb> UpkeepVerbs();
// export-hfile and import-hfile. An import loads all or nothing. The export
// warns when a bulk load needs its limit of files raised.
std::vector<Verb> HFileVerbs();
// shell. It runs the lines of standard input. A terminal has history and
// completion; otherwise the first line that fails ends it, with its exit code.
std::vector<Verb> ShellVerbs();

}  // namespace rowbloom::cli
