// The pages and scripts that the option --generate prints, which are made from
// the table of verbs.
#pragma once

#include <iosfwd>
#include <string_view>

#include "tools/cli/program.h"

namespace rowbloom::cli {

// Prints a manual page of section 1, in the macros of man(7).
void PrintManPage(const VerbTable& program, std::string_view version,
                  std::ostream& out);

// Prints a script for bash that completes verbs and options.
void PrintCompletion(const VerbTable& program, std::ostream& out);

}  // namespace rowbloom::cli
