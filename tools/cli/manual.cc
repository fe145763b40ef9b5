#include "tools/cli/manual.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace rowbloom::cli {
namespace {

// Returns options and positional arguments, without --help.
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

// Escapes text so that roff prints it unchanged.
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

// Formats text whose line breaks are kept.
std::string Lines(std::string_view text) {
  return fmt::format(".PP\n.nf\n{}\n.fi\n", Roff(text));
}

// Formats the name of an option, in bold, and its description.
std::string Describe(const CLI::Option& option) {
  const CLI::Formatter formatter;
  return fmt::format(
      ".TP\n\\fB{}\\fR{}\n{}\n",
      Roff(formatter.make_option_name(&option, option.get_positional())),
      Roff(formatter.make_option_opts(&option)),
      Roff(option.get_description()));
}

// Prints the lines of the script that complete verbs and their options.
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

}  // namespace

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

}  // namespace rowbloom::cli
