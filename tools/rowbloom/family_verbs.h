// The verbs that make, change and drop families.
#pragma once

#include "tools/cli/program.h"

namespace rowbloom::cli {

// `create --family F[,SETTING=VALUE...]...`: what is there with these options
// stays as it is.
Action AddCreate(CLI::App* command);

// `alter --family F,SETTING=VALUE...`: the other settings stay. Families are
// altered one after the other.
Action AddAlter(CLI::App* command);

// `drop --family F...`: with all their cells, one after the other. Asks first
// if a person types.
Action AddDrop(CLI::App* command);

// `truncate --family F...`: removes their cells, as drop does.
Action AddTruncate(CLI::App* command);

// `describe`: a line for each family, as create takes it.
Action AddDescribe(CLI::App* command);

}  // namespace rowbloom::cli
