// The example in FORMAT.md is what the builder writes.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "lib/block/filter_block_builder.h"
#include "rowbloom/filter_block.h"

namespace rowbloom {
namespace {

// The bytes of the fenced block that starts with ```hex: each line is an
// offset, bytes, and after ';' what they are.
std::string ReadHexExample(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::string bytes;
  std::string line;
  bool inside = false;
  while (std::getline(file, line)) {
    if (line.starts_with("```")) {
      inside = line == "```hex";
      continue;
    }
    if (!inside) continue;
    std::istringstream words(line.substr(0, line.find(';')));
    std::string word;
    words >> word;
    EXPECT_EQ(std::stoul(word), bytes.size()) << line;
    while (words >> word) {
      bytes += static_cast<char>(std::stoul(word, nullptr, 16));
    }
  }
  return bytes;
}

TEST(FormatExample, IsWhatTheBuilderWrites) {
  FilterBlockBuilder builder({.key_layout = KeyLayout::Delimited(':'),
                              .bits_per_key = 10,
                              .origin = {"users", 3}});
  for (const char* key : {"a:x", "a:y", "b:x"}) builder.AddKey(key);
  const std::string written = builder.Finish();
  const std::string documented = ReadHexExample(ROWBLOOM_FORMAT_MD);
  std::ostringstream dump;
  for (size_t i = 0; i < written.size(); ++i) {
    char text[32];
    if (i % 16 == 0) {
      std::snprintf(text, sizeof(text), "\n%3zu ", i);
      dump << text;
    }
    std::snprintf(text, sizeof(text), " %02x",
                  static_cast<unsigned char>(written[i]));
    dump << text;
  }
  EXPECT_EQ(written, documented) << dump.str();
}

}  // namespace
}  // namespace rowbloom
