// A program: its verbs, and the run of a command line. Both programs are tables
// of verbs, with arguments by CLI11.
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

// Does what a verb does, with the arguments that were parsed.
using Action = std::function<ExitCode(const Streams& streams)>;

struct Verb {
  const char* name;
  const char* summary;
  // Command lines, each without the program and the verb, and with a newline
  // between two.
  const char* examples;
  // Adds the verb's arguments to its command, and as its footer what else there
  // is to say of them. The action owns them, and is called after they were
  // parsed.
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

// Calls a function of a verb. One that returns nothing is kOk unless it throws.
template <typename Code, typename... Args>
ExitCode CodeOf(Code (*run)(const Args&... args), const Args&... args) {
  if constexpr (std::is_void_v<Code>) {
    run(args...);
    return ExitCode::kOk;
  } else {
    return run(args...);
  }
}

// Makes the action of a verb, which runs it with its arguments. Args::AddTo
// adds these to the command, and gets `more`, too.
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

// AddVerb as a Verb has it, for arguments that need nothing more.
template <auto run>
Action Of(CLI::App* command) {
  return AddVerb(command, run);
}

// The verb's examples as whole command lines, with two spaces before each.
std::string Examples(const VerbTable& table, const Verb& verb);

// Runs the command line `args` (without the program's name). Help and version
// go to standard output; `help VERB` is `VERB --help`. Wrong usage, an
// exception of a verb, and output that cannot be written, are kFailed, in one
// line; Interrupted is FailedBy its signal. Returns the exit code. Throws
// nothing. Not thread-safe: long verbs handle the signals of the process
// (Interruption).
int RunProgram(const VerbTable& program, const std::vector<std::string>& args,
               Streams streams);

// A main: calls `run` with the arguments and the streams of the process, whose
// standard input can be interrupted (Interruption), and which may open as many
// files as it is allowed.
int Main(int argc, char** argv,
         int (*run)(const std::vector<std::string>& args,
                    const Streams& streams));

}  // namespace rowbloom::cli
