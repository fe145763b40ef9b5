// The examples of bytes that a FORMAT.md shows.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/hex.h"

namespace rowbloom::test {

// The bytes in lines of 16, each after its offset, as an example has them.
inline std::string HexLines(std::string_view bytes) {
  std::ostringstream lines;
  for (size_t at = 0; at < bytes.size(); at += 16) {
    lines << "\n" << std::string(at < 100 ? at < 10 ? 2 : 1 : 0, ' ') << at;
    for (const char byte : bytes.substr(at, 16)) {
      lines << " " << ToHex({&byte, 1});
    }
  }
  return lines.str();
}

// The bytes of each fenced block of a FORMAT.md that starts with ```hex: each
// line is an offset, which is checked, bytes, and after ';' what they are.
inline std::vector<std::string> ReadHexExamples(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::vector<std::string> examples;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line == "```hex";
      if (inside) examples.emplace_back();
      continue;
    }
    if (!inside) continue;
    std::istringstream words(line.substr(0, line.find(';')));
    std::string word;
    words >> word;
    EXPECT_EQ(std::stoul(word), examples.back().size()) << line;
    while (words >> word) examples.back() += FromHex(word);
  }
  return examples;
}

}  // namespace rowbloom::test
