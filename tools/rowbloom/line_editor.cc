#include "tools/rowbloom/line_editor.h"

#include <editline/readline.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace rowbloom::cli {
namespace {

// The words to complete to: libedit calls functions without a context.
std::vector<std::string>& Words() {
  static std::vector<std::string> words;
  return words;
}

// Returns the next word that begins with `text`, from the first one if `state`
// is 0. The caller frees it.
char* NextWord(const char* text, int state) {
  static size_t next = 0;
  if (state == 0) next = 0;
  while (next < Words().size()) {
    const std::string& word = Words()[next++];
    if (word.starts_with(text)) return strdup(word.c_str());
  }
  return nullptr;
}

char* NoWord(const char* /*text*/, int /*state*/) { return nullptr; }

}  // namespace

LineEditor::LineEditor(std::vector<std::string> words) {
  Words() = std::move(words);
  rl_attempted_completion_function = [](const char* text, int start,
                                        int /*end*/) {
    rl_attempted_completion_over = 1;  // no names of files
    return rl_completion_matches(text, start == 0 ? NextWord : NoWord);
  };
}

LineEditor::~LineEditor() {
  rl_attempted_completion_function = nullptr;
  Words().clear();
}

std::optional<std::string> LineEditor::Read(const char* prompt) {
  const std::unique_ptr<char, decltype(&std::free)> line(readline(prompt),
                                                         &std::free);
  if (line == nullptr) return std::nullopt;
  if (*line != '\0') add_history(line.get());
  return std::string(line.get());
}

}  // namespace rowbloom::cli
