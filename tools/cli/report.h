// The streams of a run, the exit codes of a program, and its diagnostics. Each
// diagnostic is one line on standard error.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "rocksdb/status.h"
#include "rowbloom/result.h"

namespace rowbloom::cli {

// The exit codes of a process. Of several results the greatest code counts.
// Scripts rely on the numbers.
enum class ExitCode : int {
  kOk = 0,
  kFinding = 1,  // no such cell, an absent row, damage, two files that differ
  kFailed = 2,   // wrong usage, or an input that cannot be used at all
};

// The stream of a program's diagnostics.
struct Diagnostics {
  std::ostream& stream;
  bool is_terminal = false;  // shows progress, too
  // The start of each line. RunProgram sets it.
  std::string_view program = {};
};

// The state that verbs of one shell share; the program with a shell defines it.
struct Session;

struct Streams {
  std::istream& in;   // standard input
  std::ostream& out;  // data
  Diagnostics err;    // diagnostics, and progress on a terminal
  bool in_is_terminal = false;
  bool out_is_terminal = false;
  // The size of `in`; nullopt: unknown, as for a pipe.
  std::optional<uint64_t> in_bytes = std::nullopt;
  const Session* session = nullptr;  // null: no shell
};

// Returns the standard input for a verb to read. Throws a Failure if standard
// input is the script of a shell: the verb would read the commands after it.
std::istream& InputOf(const Streams& streams);

// Asks the question if standard input is a terminal and `yes` is false. Returns
// true if it did not ask or the answer is yes.
bool Confirm(const Streams& streams, bool yes, std::string_view question);

// Returns the exit code of a job that failed. If a signal ended it, the code is
// that of shells: 130 for SIGINT, 143 for SIGTERM. If `signal` is 0, no signal
// ended it.
ExitCode FailedBy(int signal);

// Returns kFinding for Corruption, kFailed for other errors, else kOk.
ExitCode CodeOf(const rocksdb::Status& status);

// Returns the problem as a clause without control characters. It names the kind
// of error only if the message needs it.
std::string Describe(const rocksdb::Status& status);

// Thrown to end a verb, or its work on one file. RunProgram turns it into a
// line and kFailed.
class Failure : public std::runtime_error {
 public:
  Failure(const std::string& problem, ExitCode code)
      : std::runtime_error(problem), code_(code) {}

  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// Throws a Failure with Describe and CodeOf the status if it is an error.
void Require(const rocksdb::Status& status);
// Throws a Failure with kFailed if there is an error.
void Require(const std::optional<Error>& error);
// Returns the value of a result; throws a Failure with kFailed if it has none.
template <typename Value>
Value Require(Result<Value> result) {
  if (!result) Require(std::optional<Error>(Error{result.error()}));
  return *std::move(result);
}

// Prints `<program>: <problem>` as a line of its own, with control characters
// escaped.
void Complain(const Diagnostics& err, std::string_view problem);

// Complains and returns kFailed.
ExitCode Fail(const Diagnostics& err, std::string_view problem);

// Complains and returns CodeOf the status.
ExitCode Judge(const Diagnostics& err, const rocksdb::Status& status);

}  // namespace rowbloom::cli
