// The verbs that write one cell, or delete.
#pragma once

#include "tools/cli/program.h"

namespace rowbloom::cli {

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

}  // namespace rowbloom::cli
