// The text of files that dumps of HBase are kept in: lines, compressed with
// gzip, with bytes in hex. Users link ZLIB::ZLIB.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/hex.h"

namespace rowbloom::test {

// All lines of a gzip file. Fails the test when it cannot be read.
inline std::vector<std::string> ReadGzipLines(const std::string& path) {
  std::vector<std::string> lines;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    ADD_FAILURE() << path << ": cannot open";
    return lines;
  }
  std::string text;
  std::array<char, 65536> buffer;
  int count = 0;
  while ((count = gzread(file, buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<size_t>(count));
  }
  EXPECT_EQ(count, 0) << path << ": cannot read";
  gzclose(file);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace rowbloom::test
