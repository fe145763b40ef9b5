// Lines that a person types on the terminal of standard input.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rowbloom::cli {

// Lines can be edited, and earlier ones come back with the arrow keys. The
// library has one terminal and no lock: one thread uses one editor at a time.
class LineEditor {
 public:
  // Tab completes the first word of a line to one of these.
  explicit LineEditor(std::vector<std::string> words);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // The next line, without its end; nullopt: there is none.
  std::optional<std::string> Read(const char* prompt);
};

}  // namespace rowbloom::cli
