#include "tools/cli/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <exception>
#include <iostream>
#include <system_error>
#include <utility>

#include "rowbloom/printable.h"
#include "tools/cli/input.h"
#include "tools/cli/interruption.h"
#include "tools/cli/manual.h"

namespace rowbloom::cli {
namespace {

// Returns the end of a verb's help: its notes, its examples, the exit codes.
std::string Footer(const VerbTable& table, const Verb& verb,
                   const std::string& notes) {
  return (notes.empty() ? "" : notes + "\n\n") + "Examples:\n" +
         Examples(table, verb) + "\n\n" + table.footer;
}

// Adds the option --generate to a program.
void AddGenerateTo(CLI::App* app, const VerbTable& program,
                   const Streams& streams) {
  app->add_option_function<std::string>(
         "--generate",
         [&](const std::string& form) {
           if (form == "man") {
             PrintManPage(program, ROWBLOOM_VERSION, streams.out);
           } else {
             PrintCompletion(program, streams.out);
           }
           throw CLI::Success();
         },
         "Print the manual page, for man, or the completion, for bash")
      ->transform(CLI::IsMember({"man", "bash"}, CLI::ignore_case))
      ->type_name("FORM");
}

// Returns the end of the message on a missing argument. The argument may have
// been given: CLI11 takes one that starts with '-' for an option.
std::string HintOf(const CLI::App& app) {
  for (const std::string& extra : app.remaining(/*recurse=*/true)) {
    if (!extra.starts_with('-')) continue;
    return ", found \"" + ToPrintable(extra) +
           "\", which is no option; an argument that starts with - goes after "
           "--";
  }
  return "";
}

// Replaces `--option=` by the option and an empty value. CLI11 (2.1) would take
// the next argument for the value. Refuses `++`, with which CLI11 would end the
// verb's arguments, and `-hello`, which would be -h and more.
std::vector<std::string> WithEmptyValues(const CLI::App& command,
                                         std::vector<std::string> args) {
  for (auto arg = args.begin(); arg != args.end() && *arg != "--"; ++arg) {
    if (*arg == "++" || (arg->starts_with("-h") && *arg != "-h")) {
      Require(Error{"\"" + ToPrintable(*arg) + "\" goes after --"});
    }
    const size_t name_bytes = std::min(arg->find('='), arg->size());
    const CLI::Option* const option =
        arg->starts_with("--")
            ? command.get_option_no_throw(arg->substr(0, name_bytes))
            : nullptr;
    if (option == nullptr || option->get_items_expected_max() == 0) continue;
    if (name_bytes + 1 == arg->size()) {
      arg->pop_back();
      arg = args.emplace(arg + 1);
    } else if (name_bytes == arg->size() && arg + 1 != args.end()) {
      ++arg;  // its value
    }
  }
  return args;
}

#if CLI11_VERSION_MAJOR * 100 + CLI11_VERSION_MINOR >= 205
// Doubles each character of values in brackets, which is how CLI11 is told that
// they are no lists.
void EscapeBrackets(std::vector<std::string>* args) {
  bool has_options = true;  // until --
  for (std::string& arg : *args) {
    has_options = has_options && arg != "--";
    const bool is_option = has_options && arg.starts_with("--");
    const size_t start = is_option ? arg.find('=') + 1 : 0;  // npos + 1 is 0
    const std::string value = arg.substr(start);
    if (!value.starts_with('[') || !value.ends_with(']')) continue;
    arg.resize(start);
    for (const char c : value) arg.append(2, c);
  }
}
#endif

ExitCode Dispatch(const VerbTable& table, std::vector<std::string> args,
                  const Streams& streams) {
  // `help VERB` is `VERB --help`, and `help` is `--help`.
  if (!args.empty() && args.front() == "help") {
    args.front() = "--help";
    if (args.size() > 1) std::swap(args[0], args[1]);
  }
  const std::string first = args.empty() ? "" : args.front();
  const auto named = std::ranges::find(table.verbs, first, &Verb::name);
  const bool is_named = named != table.verbs.end();
  // CLI11 would accept options before the verb, and report a wrong verb with
  // less detail.
  const bool asks = first == "-h" || first == "--help" ||
                    first == "--version" || first == "--generate";
  if (!asks && !is_named) {
    const std::string found =
        args.empty() ? "nothing" : "\"" + ToPrintable(first) + "\"";
    return Fail(streams.err, std::string("expected ") + table.first_argument +
                                 ", found " + found + "; see " + table.name +
                                 " --help");
  }

  CLI::App app(table.summary, table.name);
  if (!is_named) {
    app.set_version_flag("--version",
                         std::string(table.name) + " " ROWBLOOM_VERSION);
    AddGenerateTo(&app, table, streams);
  }
  // CLI11 (2.7) would miss a verb before it calls --generate.
  if (first != "--generate") app.require_subcommand(1);
  Action action;
  for (const Verb& verb : table.verbs) {
    CLI::App* const command = app.add_subcommand(verb.name, verb.summary);
    if (!is_named || &verb != &*named) continue;  // the help lists it
    action = verb.add_to(command);
    command->footer(Footer(table, verb, command->get_footer()));
    if (table.finish != nullptr) table.finish(streams, command);
    args = WithEmptyValues(*command, std::move(args));
#if CLI11_VERSION_MAJOR * 100 + CLI11_VERSION_MINOR >= 205
    EscapeBrackets(&args);
#endif
  }
  // Verbs inherit a footer and --help that are set before they are added.
  app.footer(table.footer);
  // CLI11 gives the program what follows `--` and the verb has no place for.
  if (is_named) app.set_help_flag();
  try {
    // CLI11 expects the arguments in reverse order.
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::Success& wish) {  // --help, --version or --generate
    app.exit(wish, streams.out, streams.err.stream);
    return ExitCode::kOk;
  } catch (const CLI::ExtrasError&) {  // its text has them in reverse order
    std::string found = "not expected:";
    for (const std::string& extra : app.remaining(/*recurse=*/true)) {
      found += " " + ToPrintable(extra);
    }
    return Fail(streams.err, found);
  } catch (const CLI::RequiredError& error) {
    return Fail(streams.err, error.what() + HintOf(app));
  } catch (const CLI::ParseError& error) {
    return Fail(streams.err, error.what());
  }
  return action(streams);
}

// Opens those of descriptors 0 to 2 that are closed at the start. Otherwise a
// file of a database could get such a number, and output would be written to
// it. Reads and writes of them still fail. Returns false if it cannot.
bool HoldStandardDescriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    // open() returns the smallest free number, which is `fd`.
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) {
      return false;
    }
  }
  return true;
}

// Raises the limit of open files to its maximum: shells set it to 1,024, and a
// database may need more.
void RaiseFileLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);  // on failure the limit is unchanged
}

}  // namespace

std::string Examples(const VerbTable& table, const Verb& verb) {
  const std::string start =
      "  " + std::string(table.name) + " " + verb.name + " ";
  std::string lines = start;
  for (const char* c = verb.examples; *c != '\0'; ++c) {
    lines += *c;
    if (*c == '\n') lines += start;
  }
  return lines;
}

int RunProgram(const VerbTable& program, const std::vector<std::string>& args,
               Streams streams) {
  streams.err.program = program.name;
  ExitCode code = ExitCode::kFailed;
  try {
    code = Dispatch(program, args, streams);
  } catch (const Interrupted& end) {
    code = FailedBy(end.signal);
    if (end.signal != 0) Complain(streams.err, "interrupted");
  } catch (const std::exception& error) {
    Complain(streams.err, error.what());
  }
  if (!streams.out.flush()) {
    // The write that failed may be long ago. The next one fails for the reason.
    errno = 0;
    streams.out.rdbuf()->pubsync();
    std::string problem = "cannot write to standard output";
    if (errno != 0) problem += ": " + std::generic_category().message(errno);
    code = Fail(streams.err, problem);
  }
  return static_cast<int>(code);
}

int Main(int argc, char** argv,
         int (*run)(const std::vector<std::string>& args,
                    const Streams& streams)) {
  if (!HoldStandardDescriptors()) return static_cast<int>(ExitCode::kFailed);
  RaiseFileLimit();
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> args(argv + 1, argv + argc);
  DescriptorBuffer input(STDIN_FILENO);
  std::istream in(&input);
  // Output is flushed before the program waits for more input.
  in.tie(&std::cout);
  return run(args, {.in = in,
                    .out = std::cout,
                    .err = {std::cerr, isatty(STDERR_FILENO) == 1},
                    .in_is_terminal = isatty(STDIN_FILENO) == 1,
                    .out_is_terminal = isatty(STDOUT_FILENO) == 1,
                    .in_bytes = RemainingBytes(STDIN_FILENO)});
}

}  // namespace rowbloom::cli
