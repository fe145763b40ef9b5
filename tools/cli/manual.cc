#include "tools/cli/manual.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace rowbloom::cli {
namespace {

// Calls `visit` for each verb that does something, also behind another verb,
// with the table that has it.
void ForEachVerb(const VerbTable& table,
                 const std::function<void(const VerbTable& table,
                                          const Verb& verb)>& visit) {
  for (const Verb& verb : table.verbs) {
    if (verb.verbs == nullptr) {
      visit(table, verb);
    } else {
      ForEachVerb(*verb.verbs, visit);
    }
  }
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

// The lines of the script that complete what follows the names of `table`,
// which are those behind the program's in `before`.
void PrintCases(const VerbTable& table, const std::string& before,
                std::ostream& out) {
  std::string words;
  for (const Verb& verb : table.verbs) {
    const std::string names = before + verb.name + " ";
    words.append(" ").append(verb.name);
    if (verb.verbs != nullptr) {
      PrintCases(*verb.verbs, names, out);
      continue;
    }
    CLI::App command;
    verb.add_to(&command);
    out << "    '" << names << "'*) options+='";
    for (const CLI::Option* option : OptionsOf(command)) {
      if (option->nonpositional()) out << " --" << option->get_lnames()[0];
    }
    out << "' ;;\n";
  }
  out << "    '" << before << "') choice='" << words.substr(1) << "' ;;\n";
}

}  // namespace

void PrintManPage(const VerbTable& program, std::string_view version,
                  std::ostream& out) {
  out << fmt::format(
      ".TH {0} 1 \"\" \"{0} {1}\"\n.SH NAME\n{0} \\- {2}\n"
      ".SH SYNOPSIS\n.B {0}\n.I verb\n[\\fIargument\\fR...]\n.br\n.B {0}\n"
      ".I verb\n.B \\-\\-help\n.SH VERBS\n",
      program.name, version, Roff(program.summary));
  ForEachVerb(program, [&](const VerbTable& table, const Verb& verb) {
    CLI::App command;
    verb.add_to(&command);
    out << ".SS " << Roff(std::string(table.name) + " " + verb.name) << '\n'
        << Roff(verb.summary) << '\n';
    for (const CLI::Option* option : OptionsOf(command)) {
      out << Describe(*option);
    }
    if (const std::string notes = command.get_footer(); !notes.empty()) {
      out << Lines(notes);
    }
    out << Lines(Examples(table, verb));
  });
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
  PrintCases(program, "", out);
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
