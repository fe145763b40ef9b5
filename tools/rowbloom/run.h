// rowbloom: the command line of the store.
//
//   rowbloom create --db DIR --family info,versions=3
//   rowbloom put --db DIR user_1001 info:mail ada@example.org
//   rowbloom scan --db DIR --prefix user_ --json
//
// See tools/rowbloom/README.md.
#pragma once

#include <string>
#include <vector>

#include "tools/rowbloom/streams.h"

namespace rowbloom::cli {

// Runs the command line `args` (without the program's name). Returns the exit
// code, see ExitCode in report.h. Throws nothing. Thread-safe as long as the
// streams are not shared; `load`, `export-hfile` and `import-hfile` handle the
// signals of the process meanwhile.
int Run(const std::vector<std::string>& args, const Streams& streams);

}  // namespace rowbloom::cli
