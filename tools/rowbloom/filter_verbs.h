// The verbs of `rowbloom filter`: filters of lines of text, without a store.
#pragma once

#include "tools/cli/program.h"

namespace rowbloom::cli {

// `size`: a table with a line for each kind of filter, for a number of keys and
// a rate.
Action AddFilterSize(CLI::App* command);

// `build`: the lines of standard input into a filter, and that into a file, of
// which nothing is left after an error.
Action AddFilterBuild(CLI::App* command);

// `check`: prints the lines of standard input that may be in the filter, or
// with --absent those that surely are not. kFinding: there were none.
Action AddFilterCheck(CLI::App* command);

// `info`: what there is to know of the filter in a file.
Action AddFilterInfo(CLI::App* command);

}  // namespace rowbloom::cli
