// Cells in order, and files of them.
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

// A cell of family f.
HFileCell MakeCell(const std::string& row, const std::string& qualifier,
                   int64_t timestamp_ms,
                   HFileCellType type = HFileCellType::kPut,
                   const std::string& value = "");

// Up to 1,000 rows row000, row001, ..., one column each; a family delete before
// the one with the number `deleted`.
std::vector<HFileCell> NumberedRows(int rows, int deleted, int64_t mvcc = 0);

// All cells of a file.
std::vector<HFileCell> CellsOf(const HFileReader& reader,
                               bool fill_cache = true);

// The report on a file whose blocks can be read.
HFileReport Verified(const HFileReader& reader);

// Fails the test when the cells cannot be written.
void WriteCells(const hfile::FileForm& options, const std::string& path,
                const std::vector<HFileCell>& cells);

}  // namespace rowbloom::test
