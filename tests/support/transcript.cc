#include "tests/support/transcript.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/temp_dir.h"

namespace rowbloom::test {
namespace {

std::string ReadText(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void WriteText(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// In single quotes of a shell.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// A line of a stream as a transcript shows it.
std::string Shown(std::string_view line) {
  if (line.empty()) return "<empty>";
  const size_t text_end = line.find_last_not_of(' ') + 1;
  std::string shown;
  for (size_t i = 0; i < line.size(); ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    const std::string_view rest = line.substr(i);
    // Text that looks like a byte that is shown.
    const bool is_mark = rest.starts_with("<tab>") || rest.starts_with("<0x") ||
                         rest.starts_with("<empty>");
    if (byte == '\t') {
      shown += "<tab>";
    } else if (byte < 0x20 || byte > 0x7e || is_mark || i >= text_end) {
      constexpr char kHex[] = "0123456789ABCDEF";
      shown += std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">";
    } else {
      shown += static_cast<char>(byte);
    }
  }
  return shown;
}

struct Rule {
  std::string name;
  std::regex regex;
};

std::string WithRule(const Rule& rule, const std::string& line) {
  std::string result;
  auto rest = line.begin();
  for (std::sregex_iterator match(line.begin(), line.end(), rule.regex), end;
       match != end; ++match) {
    const auto& group = (*match)[match->size() > 1 ? 1 : 0];
    if (!group.matched) continue;
    result.append(rest, group.first);
    result += "{" + rule.name + "}";
    rest = group.second;
  }
  return result.append(rest, line.end());
}

// The difference of two texts, in the words of diff(1).
std::string Difference(const std::string& expected, const std::string& found) {
  const TempDir dir;
  WriteText(dir.File("expected"), expected);
  WriteText(dir.File("found"), found);
  const int status = std::system(("cd " + Quoted(dir.path().string()) +
                                  " && diff -U 9 expected found >difference")
                                     .c_str());
  return (status == 0 ? "diff(1) tells none\n" : "") +
         ReadText(dir.path() / "difference");
}

class Transcript {
 public:
  Transcript(const std::map<std::string, std::string>& programs,
             const std::map<std::string, std::string>& environment) {
    std::filesystem::create_directory(dir_.path() / "work");
    std::filesystem::create_directory(dir_.path() / "bin");
    for (const auto& [name, path] : programs) {
      std::filesystem::create_symlink(path, dir_.path() / "bin" / name);
    }
    prologue_ = "cd " + Quoted(dir_.File("work")) + " || exit 126\n" +
                "export LC_ALL=C PATH=" + Quoted(dir_.File("bin")) +
                ":\"$PATH\"\n";
    for (const auto& [name, value] : environment) {
      prologue_ += "export " + name + "=" + Quoted(value) + "\n";
    }
  }

  TranscriptResult Run(const std::string& transcript) {
    std::istringstream lines(transcript);
    size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.starts_with("> ") && !command_.empty()) {
        command_ += line.substr(2) + "\n";
      } else {
        RunCommand();
        if (!Take(line)) {
          result_.problem = "line " + std::to_string(number) + ": \"" + line +
                            "\": expected a comment, a rule, a command or what "
                            "it prints";
          return result_;
        }
        if (IsOutput(line)) continue;
      }
      result_.text += line + "\n";
    }
    RunCommand();
    return result_;
  }

 private:
  static bool IsOutput(const std::string& line) {
    return line.starts_with("  ") || line.starts_with("! ") ||
           line.starts_with("exit ") || line == "unterminated";
  }

  // False for a line that a transcript cannot have.
  bool Take(const std::string& line) {
    if (line.starts_with("$ ")) {
      command_ = line.substr(2) + "\n";
      return true;
    }
    if (line.starts_with("rule ")) return TakeRule(line.substr(5));
    if (IsOutput(line)) return result_.commands > 0;
    return line.empty() || line.starts_with("#");
  }

  bool TakeRule(const std::string& rule) {
    const size_t space = rule.find(' ');
    const std::string name = rule.substr(0, space);
    std::erase_if(rules_, [&](const Rule& r) { return r.name == name; });
    if (space == std::string::npos) return true;
    try {
      rules_.push_back({name, std::regex(rule.substr(space + 1))});
    } catch (const std::regex_error&) {
      return false;
    }
    return true;
  }

  void RunCommand() {
    if (command_.empty()) return;
    ++result_.commands;
    WriteText(dir_.path() / "command", prologue_ + std::exchange(command_, {}));
    const int status = std::system(("bash " + Quoted(dir_.File("command")) +
                                    " </dev/null >" + Quoted(dir_.File("out")) +
                                    " 2>" + Quoted(dir_.File("err")))
                                       .c_str());
    Show("  ", ReadText(dir_.path() / "out"));
    Show("! ", ReadText(dir_.path() / "err"));
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code != 0) result_.text += "exit " + std::to_string(code) + "\n";
  }

  void Show(const std::string& mark, const std::string& stream) {
    std::istringstream lines(stream);
    for (std::string line; std::getline(lines, line);) {
      line = Shown(line);
      for (const Rule& rule : rules_) line = WithRule(rule, line);
      result_.text += mark + line + "\n";
    }
    if (!stream.empty() && stream.back() != '\n') {
      result_.text += "unterminated\n";
    }
  }

  const TempDir dir_;
  std::string prologue_;
  std::vector<Rule> rules_;
  // The lines of a command that is not complete yet.
  std::string command_;
  TranscriptResult result_;
};

}  // namespace

TranscriptResult RunTranscript(
    const std::string& transcript,
    const std::map<std::string, std::string>& programs,
    const std::map<std::string, std::string>& environment) {
  return Transcript(programs, environment).Run(transcript);
}

void ExpectTranscript(const std::string& path,
                      const std::map<std::string, std::string>& programs,
                      const std::map<std::string, std::string>& environment) {
  const std::string expected = ReadText(path);
  const TranscriptResult found = RunTranscript(expected, programs, environment);
  ASSERT_EQ(found.problem, "") << path;
  ASSERT_GT(found.commands, 0U) << path;
  if (std::getenv("ROWBLOOM_REWRITE") != nullptr) {
    WriteText(path, found.text);
    GTEST_SKIP() << path << " was written again, not compared";
  }
  EXPECT_TRUE(found.text == expected)
      << path << ": ROWBLOOM_REWRITE=1 writes what is printed now\n"
      << Difference(expected, found.text);
}

}  // namespace rowbloom::test
