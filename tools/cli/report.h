// The streams of a run, the exit codes of a program, and its diagnostics: one
// line on standard error each.
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

// The standard input for a verb to read. A Failure in the script of a shell,
// which is the standard input itself: the verb would take the lines after it.
std::istream& InputOf(const Streams& streams);

// Asks a person who types and did not say --yes; false unless the answer is
// yes.
bool Confirm(const Streams& streams, bool yes, std::string_view question);

// The exit code of a job that failed. If a signal ended it early, the code is
// as shells have it, 130 for SIGINT and 143 for SIGTERM. If `signal` is 0,
// no signal ended it.
ExitCode FailedBy(int signal);

// The code of a verb that looks for damage: kFinding for Corruption, kFailed
// for what could not be read.
ExitCode CodeOf(const rocksdb::Status& status);

// The problem, as a clause that is fit for a terminal. The kind of error is
// named only if the message needs it.
std::string Describe(const rocksdb::Status& status);

// The end of a verb, or of what it does with one file. RunProgram turns it into
// a line and kFailed.
class Failure : public std::runtime_error {
 public:
  Failure(const std::string& problem, ExitCode code)
      : std::runtime_error(problem), code_(code) {}

  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// Throws a Failure with the status's description and CodeOf it if it is an
// error.
void Require(const rocksdb::Status& status);
// The same for an error alone.
void Require(const std::optional<Error>& error);
// The same for a result; returns its value.
template <typename Value>
Value Require(Result<Value> result) {
  if (!result) Require(std::optional<Error>(Error{result.error()}));
  return *std::move(result);
}

// Prints `<program>: <problem>` as a line of its own.
void Complain(const Diagnostics& err, std::string_view problem);

// Complains and returns kFailed.
ExitCode Fail(const Diagnostics& err, std::string_view problem);

// Complains and returns CodeOf the status.
ExitCode Judge(const Diagnostics& err, const rocksdb::Status& status);

}  // namespace rowbloom::cli
