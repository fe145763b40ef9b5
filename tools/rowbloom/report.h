// The exit codes and diagnostics of the command line.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace rowbloom::cli {

// Scripts rely on the numbers.
enum class ExitCode : int {
  kOk = 0,
  kFinding = 1,  // no such cell, an absent row, a damaged store or backup
  kFailed = 2,   // wrong usage, or input or a store that cannot be used
};

// The exit code of a job that failed. If a signal ended it early, the code is
// as shells have it, 130 for SIGINT and 143 for SIGTERM. If `signal` is 0,
// no signal ended it.
ExitCode FailedBy(int signal);

// The problem, as a clause. The kind of error is named only if the message
// needs it.
std::string Describe(const rocksdb::Status& status);

// Prints `rowbloom: <problem>` as a line of its own.
void Complain(std::ostream& err, std::string_view problem);

// Complains and returns kFailed.
ExitCode Fail(std::ostream& err, std::string_view problem);
ExitCode Fail(std::ostream& err, const rocksdb::Status& status);

}  // namespace rowbloom::cli
