// A store's cells to HBase and back, as HFiles.
#pragma once

#include "tools/cli/program.h"

namespace rowbloom::cli {

// `export-hfile OUT`: opens the store for reading, writes HFiles, and prints a
// summary; warns when a bulk load needs its limit of files raised.
Action AddExportHFile(CLI::App* command);

// `import-hfile PATH...`: loads HFiles into a store that is there, all or none,
// and prints a summary; `import-hfile --snapshot DIR NAME` loads a snapshot,
// also into a new store.
Action AddImportHFile(CLI::App* command);

}  // namespace rowbloom::cli
