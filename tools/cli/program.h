// The verbs of a program, and the run of a command line. Both programs are
// tables of verbs, whose arguments CLI11 parses.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tools/cli/report.h"

namespace CLI {
class App;
}

namespace rowbloom::cli {

// Runs a verb with the arguments that were parsed.
using Action = std::function<ExitCode(const Streams& streams)>;

struct Verb {
  const char* name;
  const char* summary;
  // Command lines without the program and the verb, separated by newlines.
  const char* examples;
  // Adds the verb's arguments to its command, and notes about them as its
  // footer. The returned action owns the arguments, and is called after they
  // were parsed.
  Action (*add_to)(CLI::App* command);
};

struct VerbTable {
  const char* name;
  const char* summary;
  const char* footer;           // ends each help: the exit codes
  std::span<const Verb> verbs;  // in the order of the help
  // Changes a command that has its arguments; null: nothing to change.
  void (*finish)(const Streams& streams, CLI::App* command) = nullptr;
  // The form of a command line's first argument, for messages.
  const char* first_argument = "a verb";
};

// Calls a verb's function and returns its exit code, or kOk if it returns void.
template <typename Code, typename... Args>
ExitCode CodeOf(Code (*run)(const Args&... args), const Args&... args) {
  if constexpr (std::is_void_v<Code>) {
    run(args...);
    return ExitCode::kOk;
  } else {
    return run(args...);
  }
}

// Returns the action that calls `run` with the verb's arguments. Args::AddTo
// adds them to the command, and receives `more`.
template <typename Args, typename Code, typename... More>
Action AddVerb(CLI::App* command,
               Code (*run)(const Args& args, const Streams& streams),
               const More&... more) {
  const auto args = std::make_shared<Args>();
  args->AddTo(command, more...);
  return [args, run](const Streams& streams) {
    return CodeOf(run, *args, streams);
  };
}

// Calls AddVerb in the form of Verb::add_to, for arguments without `more`.
template <auto run>
Action Of(CLI::App* command) {
  return AddVerb(command, run);
}

// Returns the verb's examples as whole command lines, each after two spaces.
std::string Examples(const VerbTable& table, const Verb& verb);

// Runs the command line `args` (without the program's name) and returns the
// exit code. Help and version go to standard output; `help VERB` is
// `VERB --help`. Wrong usage, an exception of a verb, and output that cannot be
// written give one line and kFailed; Interrupted gives FailedBy(signal). Throws
// nothing. Not thread-safe, as long verbs handle the signals of the process
// (Interruption).
int RunProgram(const VerbTable& program, const std::vector<std::string>& args,
               Streams streams);

// Implements main: calls `run` with the arguments and streams of the process.
// Reads of standard input can be interrupted (Interruption). Raises the limit
// of open files as far as it is allowed.
int Main(int argc, char** argv,
         int (*run)(const std::vector<std::string>& args,
                    const Streams& streams));

}  // namespace rowbloom::cli
