// rowbloom: the command line of the store.
//
//   rowbloom create --db DIR --family info,versions=3
//   rowbloom put --db DIR user_1001 info:mail ada@example.org
//   rowbloom scan --db DIR --prefix user_ --json
//
// See tools/rowbloom/README.md.
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

}  // namespace rowbloom::cli
