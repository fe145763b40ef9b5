// The exit codes and diagnostics of a program: one line on standard error each.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace rowbloom::cli {

// The exit codes of a process. Among several the greatest counts. Scripts rely
// on the numbers.
enum class ExitCode : int {
  kOk = 0,
  kFinding = 1,  // no such cell, an absent row, damage, two files that differ
  kFailed = 2,   // wrong usage, or something that cannot be used at all
};

// The stream of a program's diagnostics.
struct Diagnostics {
  std::ostream& stream;
  bool is_terminal = false;  // shows progress, too
  // The start of each line. The run of a program sets it.
  std::string_view program = {};
};

// The exit code of a job that failed. If a signal ended it early, the code is
// as shells have it, 130 for SIGINT and 143 for SIGTERM. If `signal` is 0,
// no signal ended it.
ExitCode FailedBy(int signal);

// The problem, as a clause that is fit for a terminal. The kind of error is
// named only if the message needs it.
std::string Describe(const rocksdb::Status& status);

// Prints `<program>: <problem>` as a line of its own.
void Complain(const Diagnostics& err, std::string_view problem);

// Complains and returns kFailed.
ExitCode Fail(const Diagnostics& err, std::string_view problem);
ExitCode Fail(const Diagnostics& err, const rocksdb::Status& status);

// Fail for verbs that look for damage: kFinding for Corruption.
ExitCode Judge(const Diagnostics& err, const rocksdb::Status& status);

}  // namespace rowbloom::cli
