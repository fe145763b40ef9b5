// The verbs that read cells. They open the store for reading, also beside a
// process that writes it.
#pragma once

#include "tools/cli/program.h"

namespace rowbloom::cli {

// `get ROW FAMILY:QUALIFIER`: the newest value, or with --versions a line for
// each version. kFinding: there is none.
Action AddGet(CLI::App* command);

// `row ROW [FAMILY[:QUALIFIER]...]`: a line for each cell. kFinding: there
// is none.
Action AddRow(CLI::App* command);

// `exists ROW [FAMILY[:QUALIFIER]...]`: kFinding if the row has no such cell.
Action AddExists(CLI::App* command);

// `scan [FAMILY[:QUALIFIER]...]`: a line for each cell of the rows in a range.
// Streams.
Action AddScan(CLI::App* command);

// `count [FAMILY[:QUALIFIER]...]`: the numbers of rows and cells in a range.
Action AddCount(CLI::App* command);

}  // namespace rowbloom::cli
