// Random cells in order, and files of them.
#pragma once

#include <string>
#include <vector>

#include "rowbloom/hfile.h"
#include "storage/hfile/file_form.h"
#include "tests/support/random.h"

namespace rowbloom::test {

struct CellSpec {
  size_t rows = 200;
  size_t max_value_bytes = 60;
  bool tags = false;
  bool mvcc = true;
  bool deletes = true;
};

// Rows are distinct, some of them prefixes of others; each has up to five
// columns of up to three versions, with markers among them. All keys differ,
// but for a few that occur twice.
std::vector<HFileCell> RandomCells(const CellSpec& spec, Random* random);

// Fails the test when the cells cannot be written.
void WriteCells(const hfile::FileForm& options, const std::string& path,
                const std::vector<HFileCell>& cells);

}  // namespace rowbloom::test
