// The verbs of the command line but `filter`, which has one of its own.
#pragma once

#include <span>

#include "tools/rowbloom/verb.h"

namespace rowbloom::cli {

// The verbs, in the order of the help.
std::span<const Verb> Verbs();

}  // namespace rowbloom::cli
