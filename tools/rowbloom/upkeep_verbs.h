// The verbs that look after a store.
#pragma once

#include "tools/cli/program.h"

namespace rowbloom::cli {

Action AddFlush(CLI::App* command);

// `compact [--family F] [--start R] [--stop R]`.
Action AddCompact(CLI::App* command);

// `reset-clock`: the store goes on by the machine's clock.
Action AddResetClock(CLI::App* command);

// `checkpoint DIR`: a store of its own, with what this one has.
Action AddCheckpoint(CLI::App* command);

// `copy [--family F[,SETTING=VALUE]] [--start R] [--stop R] DIR`: a new store
// of cells of this one, with other options.
Action AddCopy(CLI::App* command);

// `verify [--only PART]`: a look for damage.
Action AddVerify(CLI::App* command);

}  // namespace rowbloom::cli
