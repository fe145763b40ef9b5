// How the command line speaks: exit codes and diagnostics.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace rowbloom::cli {

// Scripts rely on the numbers.
enum class ExitCode : int {
  kOk = 0,
  kFinding = 1,  // no such cell, an absent row, a damaged backup
  kFailed = 2,   // wrong usage, or input or a store that cannot be used
};

// Of a job that failed: because of the signal that ended it early, as shells
// have it, 130 for SIGINT and 143 for SIGTERM; or without one, which is 0.
ExitCode FailedBy(int signal);

// What went wrong, as a clause: the kind of error is named only where the
// message needs it.
std::string Describe(const rocksdb::Status& status);

// Prints `rowbloom: <problem>` as a line of its own.
void Complain(std::ostream& err, std::string_view problem);

// Complains and returns kFailed.
ExitCode Fail(std::ostream& err, std::string_view problem);
ExitCode Fail(std::ostream& err, const rocksdb::Status& status);

}  // namespace rowbloom::cli
