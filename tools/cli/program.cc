#include "tools/cli/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>

#include "rowbloom/printable.h"
#include "tools/cli/input.h"
#include "tools/cli/text.h"

namespace rowbloom::cli {
namespace {

// The verb's examples as whole command lines, with two spaces before each.
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

// Options and positional arguments but --help.
std::vector<const CLI::Option*> OptionsOf(const CLI::App& command) {
  std::vector<const CLI::Option*> options =
      command.get_options([&](const CLI::Option* option) {
        return option != command.get_help_ptr();
      });
  for (const CLI::App* group : command.get_subcommands({})) {
    for (const CLI::Option* option : OptionsOf(*group)) {
      options.push_back(option);
    }
  }
  return options;
}

// Text as roff prints it again.
std::string Roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool starts_line = escaped.empty() || escaped.back() == '\n';
    if (c == '.' && starts_line) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '\'') {
      escaped += "\\(aq";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Text whose lines stay as they are.
std::string Lines(std::string_view text) {
  return fmt::format(".PP\n.nf\n{}\n.fi\n", Roff(text));
}

// The bold name and the description of an option.
std::string Describe(const CLI::Option& option) {
  const CLI::Formatter formatter;
  return fmt::format(
      ".TP\n\\fB{}\\fR{}\n{}\n",
      Roff(formatter.make_option_name(&option, option.get_positional())),
      Roff(formatter.make_option_opts(&option)),
      Roff(option.get_description()));
}

// The lines of the script that complete the verbs and their options.
void PrintCases(const VerbTable& program, std::ostream& out) {
  std::string words;
  for (const Verb& verb : program.verbs) {
    words.append(" ").append(verb.name);
    CLI::App command;
    verb.add_to(&command);
    out << "    '" << verb.name << " '*) options+='";
    for (const CLI::Option* option : OptionsOf(command)) {
      if (option->nonpositional()) out << " --" << option->get_lnames()[0];
    }
    out << "' ;;\n";
  }
  out << "    '') choice='" << words.substr(1) << "' ;;\n";
}

// Prints a manual page of section 1, in the requests of man(7).
void PrintManPage(const VerbTable& program, std::string_view version,
                  std::ostream& out) {
  out << fmt::format(
      ".TH {0} 1 \"\" \"{0} {1}\"\n.SH NAME\n{0} \\- {2}\n"
      ".SH SYNOPSIS\n.B {0}\n.I verb\n[\\fIargument\\fR...]\n.br\n.B {0}\n"
      ".I verb\n.B \\-\\-help\n.SH VERBS\n",
      program.name, version, Roff(program.summary));
  for (const Verb& verb : program.verbs) {
    CLI::App command;
    verb.add_to(&command);
    out << ".SS " << Roff(std::string(program.name) + " " + verb.name) << '\n'
        << Roff(verb.summary) << '\n';
    for (const CLI::Option* option : OptionsOf(command)) {
      out << Describe(*option);
    }
    if (const std::string notes = command.get_footer(); !notes.empty()) {
      out << Lines(notes);
    }
    out << Lines(Examples(program, verb));
  }
  out << ".SH EXIT STATUS\n" << Roff(program.footer) << '\n';
}

// Prints a script for bash that completes verbs and options.
void PrintCompletion(const VerbTable& program, std::ostream& out) {
  out << fmt::format(
      "# Completes the verbs and options of {0} in bash.\n"
      "_{0}() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} choice='' options=--help\n"
      "  local before=\"${{COMP_WORDS[*]:1:$((COMP_CWORD - 1))}} \"\n"
      "  case ${{before# }} in\n",
      program.name);
  PrintCases(program, out);
  out << fmt::format(
      "  esac\n"
      "  [[ $word != -* ]] || choice=$options\n"
      "  # Nothing completed: file names are.\n"
      "  COMPREPLY=($(compgen -W \"$choice\" -- \"$word\"))\n"
      "}}\n"
      "complete -o bashdefault -o default -F _{0} {0}\n",
      program.name);
}

// Ends the help of a verb with its own notes, its examples and the exit codes.
std::string Footer(const VerbTable& table, const Verb& verb,
                   const std::string& notes) {
  return (notes.empty() ? "" : notes + "\n\n") + "Examples:\n" +
         Examples(table, verb) + "\n\n" + table.footer;
}

// Gives a program the option --generate.
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

ExitCode Dispatch(const VerbTable& table, const std::vector<std::string>& args,
                  const Streams& streams) {
  const std::string first = args.empty() ? "" : args.front();
  const auto named = std::ranges::find(table.verbs, first, &Verb::name);
  const bool is_named = named != table.verbs.end();
  // CLI11 would take options before the verb, and say less of a wrong one.
  const bool asks = first == "-h" || first == "--help" ||
                    first == "--version" || first == "--generate";
  if (!asks && !is_named) {
    const std::string found =
        args.empty() ? "nothing" : "\"" + ToPrintable(first) + "\"";
    return Fail(streams.err, "expected a verb, found " + found + "; see " +
                                 table.name + " --help");
  }

  CLI::App app(table.summary, table.name);
  app.set_version_flag("--version",
                       std::string(table.name) + " " ROWBLOOM_VERSION);
  AddGenerateTo(&app, table, streams);
  app.require_subcommand(1);
  Action action;
  for (const Verb& verb : table.verbs) {
    CLI::App* const command = app.add_subcommand(verb.name, verb.summary);
    if (!is_named || &verb != &*named) continue;  // the help lists it
    action = verb.add_to(command);
    command->footer(Footer(table, verb, command->get_footer()));
    if (table.finish != nullptr) table.finish(streams, command);
  }
  // Verbs inherit a footer that is set before they are added.
  app.footer(table.footer);
  try {
    // CLI11 takes them last first.
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::Success& wish) {  // help, version, or what is generated
    app.exit(wish, streams.out, streams.err.stream);
    return ExitCode::kOk;
  } catch (const CLI::ParseError& error) {
    return Fail(streams.err, WithoutControls(error.what()));
  }
  return action(streams);
}

}  // namespace

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
    Complain(streams.err, WithoutControls(error.what()));
  }
  if (!streams.out.flush()) {
    code = Fail(streams.err, "cannot write to standard output");
  }
  return static_cast<int>(code);
}

int Main(int argc, char** argv,
         int (*run)(const std::vector<std::string>& args,
                    const Streams& streams)) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> args(argv + 1, argv + argc);
  DescriptorBuffer input(STDIN_FILENO);
  std::istream in(&input);
  // Results are shown before the program waits for more input.
  in.tie(&std::cout);
  return run(args, {.in = in,
                    .out = std::cout,
                    .err = {std::cerr, isatty(STDERR_FILENO) == 1},
                    .in_is_terminal = isatty(STDIN_FILENO) == 1,
                    .out_is_terminal = isatty(STDOUT_FILENO) == 1,
                    .in_bytes = RemainingBytes(STDIN_FILENO)});
}

}  // namespace rowbloom::cli
