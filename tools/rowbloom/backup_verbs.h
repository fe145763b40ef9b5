// The verbs for directories of backups (rowbloom/backup.h).
#pragma once

#include "tools/cli/program.h"

namespace rowbloom::cli {

// `backup BACKUPS`: adds one of the store.
Action AddBackup(CLI::App* command);

// `restore BACKUPS [--id N]`: makes the store that --db names.
Action AddRestore(CLI::App* command);

// `backups BACKUPS [--verify] [--delete ID] [--keep N]`: a line for each.
// kFinding: one is damaged.
Action AddBackups(CLI::App* command);

}  // namespace rowbloom::cli
