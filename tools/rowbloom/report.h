// How the command line speaks: exit codes and diagnostics.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace rowbloom::cli {

enum class ExitCode : int {
  kOk = 0,
  kNothingFound = 1,  // no such cell, an absent row
  kFailed = 2,        // wrong usage, or input or a store that cannot be used
};

// What went wrong, as a clause: the kind of error is named only where the
// message needs it.
std::string Describe(const rocksdb::Status& status);

// Prints `rowbloom: <problem>` as a line of its own.
void Complain(std::ostream& err, std::string_view problem);

}  // namespace rowbloom::cli
