// rowbloom: the command line of the store.
//
//   rowbloom create --db DIR --family info,versions=3
//   rowbloom put --db DIR user_1001 info:mail ada@example.org
//   rowbloom scan --db DIR --prefix user_ --json
//
// Each verb adds its arguments to the command. Their help says what they do,
// README.md what they print.
#pragma once

#include <string>
#include <vector>

// The parts that verbs on a store are made of.
#include "tools/cli/program.h"
#include "tools/rowbloom/store_args.h"

namespace rowbloom::cli {

// All verbs, in the order of the help.
const std::vector<Verb>& Verbs();

// RunProgram with these verbs.
int Run(const std::vector<std::string>& args, const Streams& streams);

// create, alter, drop, truncate, describe and stats. Those that change several
// families change one after the other, once all are known to exist. What a verb
// creates stays as it is if it is there with these options.
std::vector<Verb> FamilyVerbs();
// load. A cell that cannot be loaded, and SIGINT or SIGTERM, end the load:
// cells above are kept, it and those below are not.
std::vector<Verb> LoadVerbs();
// put, append, incr, check-and-put and delete. VALUE - is what standard input
// has. kFinding: check-and-put wrote nothing.
std::vector<Verb> WriteVerbs();
// get, row, exists, scan and count. They open the store for reading, also
// beside a process that writes it. kFinding: get, row and exists found no cell.
// A scan streams.
std::vector<Verb> ReadVerbs();
// flush, compact, reset-clock, checkpoint, copy, verify, backup, restore and
// backups. kFinding: verify found damage, or one of the backups is damaged.
std::vector<Verb> UpkeepVerbs();
// export-hfile and import-hfile. An import loads all or nothing. The export
// warns when a bulk load needs its limit of files raised.
std::vector<Verb> HFileVerbs();
// shell: lines of standard input, on a terminal with history and completion.
// From elsewhere, the first line that fails ends it, with its exit code.
std::vector<Verb> ShellVerbs();

}  // namespace rowbloom::cli
