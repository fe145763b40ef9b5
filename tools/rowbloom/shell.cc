#include <editline/readline.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/result.h"
#include "rowbloom/store.h"
#include "tools/cli/input.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

constexpr std::string_view kBlanks = " \t\r";

// Splits a line into words at blanks. Quotes, ' or ", keep blanks in a word;
// they have no escapes. Error: no closing quote.
Result<std::vector<std::string>> SplitWords(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    const bool is_blank = kBlanks.find(c) != std::string_view::npos;
    if (!is_blank && !in_word) words.emplace_back();
    in_word = !is_blank;
    if (is_blank) continue;
    if (c != '\'' && c != '"') {
      words.back() += c;
      continue;
    }
    const size_t end = line.find(c, at + 1);
    if (end == std::string_view::npos) {
      return Error{fmt::format("expected a closing {} for that of column {}", c,
                               at + 1)};
    }
    words.back() += line.substr(at + 1, end - at - 1);
    at = end;
  }
  return words;
}

// Returns the words that begin a line.
const std::vector<std::string>& FirstWords() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all = {"exit", "help"};
    for (const Verb& verb : Verbs()) all.emplace_back(verb.name);
    return all;
  }();
  return words;
}

// Returns the next of them that begins with `text`; starts with the first one
// if `state` is 0. The caller frees it.
char* NextWord(const char* text, int state) {
  static size_t next = 0;
  if (state == 0) next = 0;
  while (next < FirstWords().size()) {
    const std::string& word = FirstWords()[next++];
    if (word.starts_with(text)) return strdup(word.c_str());
  }
  return nullptr;
}

char* NoWord(const char* /*text*/, int /*state*/) { return nullptr; }

// Makes lines of a terminal editable: Tab completes their first word.
void PrepareEditor() {
  // The editor drops bytes that are no characters of the locale, and "C" has
  // those of ASCII alone.
  const char* const locale = std::setlocale(LC_CTYPE, "");
  if (locale == nullptr || std::string_view(locale) == "C") {
    std::setlocale(LC_CTYPE, "C.UTF-8");
  }
  rl_attempted_completion_function = [](const char* text, int start,
                                        int /*end*/) {
    rl_attempted_completion_over = 1;  // no names of files
    return rl_completion_matches(text, start == 0 ? NextWord : NoWord);
  };
}

// Returns the next line, of a script or a prepared terminal, whose arrow keys
// recall earlier ones; nullopt: there is none.
std::optional<std::string> NextLine(const Streams& streams) {
  if (!streams.in_is_terminal) {
    std::string line;
    if (!std::getline(streams.in, line)) return std::nullopt;
    return line;
  }
  // A verb may have read the input to its end, after which a terminal goes on.
  streams.in.clear();
  streams.out.flush();
  const std::unique_ptr<char, decltype(&std::free)> line(readline("rowbloom> "),
                                                         &std::free);
  if (line == nullptr) return std::nullopt;
  if (*line != '\0') add_history(line.get());
  return std::string(line.get());
}

struct ShellArgs : StoreArgs {
  void AddTo(CLI::App* command) {
    StoreArgs::AddTo(command);
    command->footer(
        "Reads verbs and their arguments, a line each; --db is the shell's own "
        "unless given.\nQuotes keep blanks in an argument. Lines that start "
        "with # are comments; exit, or\nthe end of the input, ends the shell.");
  }
};

ExitCode Shell(const ShellArgs& args, const Streams& streams) {
  if (streams.session != nullptr) {
    return Fail(streams.err, "this is a shell already");
  }
  StoreOptions options = args.Options();
  // A shell is open for long enough to profit from a front filter.
  options.front_filter_limit_bytes = StoreOptions().front_filter_limit_bytes;
  const Session session{.store = args.Open(options, {}, streams),
                        .db = args.db};
  Streams of_shell = streams;
  of_shell.session = &session;
  if (streams.in_is_terminal) PrepareEditor();
  uint64_t line_number = 0;
  int greatest = static_cast<int>(ExitCode::kOk);
  while (const auto line = NextLine(streams)) {
    ++line_number;
    const size_t start = line->find_first_not_of(kBlanks);
    // A comment may have a single quote.
    if (start == std::string::npos || (*line)[start] == '#') continue;
    auto words = SplitWords(*line);
    int code = static_cast<int>(ExitCode::kOk);
    if (!words) {
      code = static_cast<int>(Fail(streams.err, words.error()));
    } else if (words->front() == "exit") {
      break;
    } else {
      code = Run(*words, of_shell);
    }
    if (code > static_cast<int>(ExitCode::kFinding) &&
        !streams.in_is_terminal) {
      Complain(streams.err,
               fmt::format("line {} failed, and the shell ends", line_number));
      return static_cast<ExitCode>(code);
    }
    greatest = std::max(greatest, code);
  }
  // A read failed, so the rest of a script did not run.
  if (streams.in.bad()) {
    return Fail(streams.err, "standard input: " + ReadProblem(streams.in));
  }
  if (!streams.in_is_terminal) return static_cast<ExitCode>(greatest);
  streams.out << '\n';
  return ExitCode::kOk;
}

}  // namespace

std::vector<Verb> ShellVerbs() {
  return {
      {"shell", "Reads verbs, a line each, for one open store.",
       "--db users.db\n"
       "--db users.db <commands.txt",
       Of<Shell>},
  };
}

}  // namespace rowbloom::cli
