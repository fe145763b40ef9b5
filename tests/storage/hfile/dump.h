// A dump holds what HBase's own reader printed of a file and the answers that
// it gave, as compressed text. The README beside the files describes its form.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rowbloom/hfile.h"
#include "tests/support/dump_text.h"

namespace rowbloom::test {

struct Dump {
  std::map<std::string, std::string> trailer;    // as printed
  std::map<std::string, std::string> file_info;  // bytes
  std::string bloom;                             // the line, as printed
  uint64_t cell_count = 0;
  std::vector<HFileCell> cells;
};

Dump ReadDump(const std::string& path);

// The parts between single separators; empty ones, too.
std::vector<std::string> SplitAt(const std::string& text, char separator);

}  // namespace rowbloom::test
