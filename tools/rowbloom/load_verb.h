// `rowbloom load`: text into a store.
#pragma once

#include <cstddef>

#include "tools/cli/program.h"

namespace rowbloom::cli {

inline constexpr char kDefaultFamily[] = "f";

// Bytes of cells that are written as one batch, more or less.
inline constexpr size_t kLoadBatchBytes = size_t{1} << 20;

// `load [--family F[,SETTING=VALUE...]]... FILE`: loads all cells, flushes, and
// prints a summary. A cell that cannot be loaded, and SIGINT or SIGTERM, end
// the load: cells above are kept, it and those below are not.
Action AddLoad(CLI::App* command);

}  // namespace rowbloom::cli
