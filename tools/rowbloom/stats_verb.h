// The contents of a store, in numbers.
#pragma once

#include "tools/cli/program.h"

namespace rowbloom::cli {

// `stats`: a table, or objects, with a line for each family.
Action AddStats(CLI::App* command);

}  // namespace rowbloom::cli
