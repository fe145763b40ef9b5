// CellsAhead gives what MergedCells gives, whatever the sizes of cells, up to
// the same error, and ends when it is told.
#include "storage/hfile_transfer/cells_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/storage/hfile/test_cells.h"
#include "tests/storage/hfile_transfer/transfers.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::hfile_transfer {
namespace {

using rocksdb::Status;
using test::MakeCell;

struct Seen {
  std::vector<std::string> cells;  // with their files
  Status status;
  uint64_t files_read = 0;
};

template <typename Cells>
Seen WalkOver(Cells* cells) {
  Seen seen;
  seen.status = cells->Start();
  while (seen.status.ok() && cells->Valid()) {
    const HFileCell cell(cells->cell());
    seen.cells.push_back(cell.row + "/" + cell.family + "/" + cell.qualifier +
                         "/" + std::to_string(cell.timestamp_ms) + "/" +
                         cell.value + cell.tags + " of " + cells->file().path);
    seen.status = cells->Next();
  }
  seen.files_read = cells->files_read();
  return seen;
}

class Ahead : public ::testing::Test {
 protected:
  void Add(const std::vector<HFileCell>& cells) {
    SourceFile file;
    file.path = dir_.File(std::to_string(files_.size()));
    file.family = cells[0].family;
    file.first_row = cells[0].row;
    file.place = files_.size();
    test::WriteCells({}, file.path, cells);
    files_.push_back(std::move(file));
  }
  // Both walks see the same.
  Seen Walk() {
    MergedCells merged({}, files_);
    const Seen expected = WalkOver(&merged);
    CellsAhead ahead({}, files_);
    Seen seen = WalkOver(&ahead);
    EXPECT_EQ(seen.status.ToString(), expected.status.ToString());
    EXPECT_EQ(seen.files_read, expected.files_read);
    EXPECT_TRUE(seen.cells == expected.cells)
        << seen.cells.size() << " cells, expected " << expected.cells.size();
    return seen;
  }

  const uint64_t seed_ = test::SeedFromEnv();
  const testing::ScopedTrace trace_{__FILE__, __LINE__,
                                    "ROWBLOOM_SEED=" + std::to_string(seed_)};
  test::TempDir dir_;
  std::vector<SourceFile> files_;
};

// Values of all sizes around that of a batch.
std::vector<HFileCell> CellsOfAllSizes(test::Random* random, size_t count) {
  std::vector<HFileCell> cells;
  for (size_t i = 0; i < count; ++i) {
    const size_t size = i % 50 == 7    ? (64 << 10) - 40 + random->Below(80)
                        : i % 100 == 3 ? 200'000
                                       : random->Below(200);
    cells.push_back(
        MakeCell(std::to_string(1'000'000 + i), "q", 7, HFileCellType::kPut,
                 std::string(size, static_cast<char>('a' + i % 26))));
  }
  return cells;
}

TEST_F(Ahead, GivesTheSameCells) {
  test::Random random(seed_);
  for (const size_t count : {1, 300, 5000}) {
    Add(CellsOfAllSizes(&random, count));
  }
  const Seen seen = Walk();
  EXPECT_THAT(seen.status, test::IsOk());
  EXPECT_EQ(seen.cells.size(), 5301u);
  EXPECT_EQ(seen.files_read, 3u);
}

TEST_F(Ahead, GivesAllCellsBeforeAnError) {
  test::Random random(seed_);
  Add(CellsOfAllSizes(&random, 3000));
  std::string bytes = test::ReadFile(files_[0].path);
  bytes[bytes.size() / 2] ^= 1;
  test::WriteFile(files_[0].path, bytes);
  const Seen seen = Walk();
  EXPECT_EQ(seen.status.code(), Status::kCorruption);
  EXPECT_GT(seen.cells.size(), 1000u);
  EXPECT_LT(seen.cells.size(), 3000u);
}

TEST_F(Ahead, GivesTheErrorOfTheFirstFile) {
  Add({MakeCell("a", "q", 7)});
  files_[0].path += "-absent";
  const Seen seen = Walk();
  EXPECT_EQ(seen.status.code(), Status::kIOError);
  EXPECT_EQ(seen.cells.size(), 0u);
}

TEST_F(Ahead, EndsInTheMiddle) {
  test::Random random(seed_);
  Add(CellsOfAllSizes(&random, 3000));
  for (const size_t steps : {0, 1, 100, 2999}) {
    CellsAhead cells({}, files_);
    ASSERT_THAT(cells.Start(), test::IsOk());
    for (size_t i = 0; i < steps; ++i) ASSERT_THAT(cells.Next(), test::IsOk());
    EXPECT_TRUE(cells.Valid());
  }
  const CellsAhead never_started({}, files_);
}

}  // namespace
}  // namespace rowbloom::hfile_transfer
