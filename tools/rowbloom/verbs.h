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

// The groups of verbs. README.md has the verbs of each, and what they do.
std::vector<Verb> FamilyVerbs();
std::vector<Verb> LoadVerbs();
std::vector<Verb> WriteVerbs();
std::vector<Verb> ReadVerbs();
std::vector<Verb> UpkeepVerbs();
std::vector<Verb> HFileVerbs();
std::vector<Verb> ShellVerbs();

}  // namespace rowbloom::cli
