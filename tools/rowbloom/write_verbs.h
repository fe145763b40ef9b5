// The verbs that write one cell, or delete.
#pragma once

#include "tools/rowbloom/verb.h"

namespace rowbloom::cli {

// `put ROW FAMILY:QUALIFIER VALUE`, where - is what standard input has.
Action AddPut(CLI::App* command);

// `delete ROW [FAMILY[:QUALIFIER]]`.
Action AddDelete(CLI::App* command);

}  // namespace rowbloom::cli
