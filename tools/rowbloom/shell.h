// The verb that reads verbs, a line each, and does them on one open store.
#pragma once

#include "tools/cli/program.h"

namespace rowbloom::cli {

// `shell`: lines of standard input, on a terminal with history and completion.
// From elsewhere, the first line that fails ends it, with its exit code.
Action AddShell(CLI::App* command);

}  // namespace rowbloom::cli
