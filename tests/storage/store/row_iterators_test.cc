// Reads of rows through iterators that are kept between reads: they see what
// was written since, and hold nothing that is gone.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr size_t kColumns = 10;

std::string ColumnName(size_t i) { return "q" + std::to_string(i); }

std::vector<CellAddress> AllColumns(const std::string& row) {
  std::vector<CellAddress> addresses;
  for (size_t i = 0; i < kColumns; ++i) {
    addresses.push_back({row, "f", ColumnName(i)});
  }
  return addresses;
}

size_t FilesOnDisk(const std::string& path) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    files += entry.path().extension() == ".sst" ? 1 : 0;
  }
  return files;
}

// By max_versions: one for each cell format.
class KeptIterators : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    store_ = OpenOrFail({.auto_compaction = false}, path_,
                        {{"f", {.max_versions = GetParam()}}});
    ASSERT_NE(store_, nullptr);
  }

  void PutRow(const std::string& row, const std::string& value) {
    WriteBatch batch;
    for (size_t i = 0; i < kColumns; ++i) {
      batch.Put(row, "f", ColumnName(i), value);
    }
    ASSERT_THAT(store_->Write(batch), IsOk());
  }

  // The number of columns that the row has, asked in both ways.
  size_t CountColumns(const std::string& row,
                      const Snapshot* snapshot = nullptr) {
    std::vector<Cell> whole;
    EXPECT_THAT(store_->GetRow(row, &whole, {.snapshot = snapshot}), IsOk());
    std::vector<std::vector<Cell>> columns;
    EXPECT_THAT(
        store_->MultiGet(AllColumns(row), &columns, {.snapshot = snapshot}),
        IsOk());
    EXPECT_THAT(columns, SizeIs(kColumns));
    size_t found = 0;
    for (const std::vector<Cell>& versions : columns) {
      found += versions.empty() ? 0 : 1;
    }
    EXPECT_EQ(whole.size(), found) << row;
    return found;
  }

  FilterStats Filters() {
    StoreStats stats;
    EXPECT_THAT(store_->Stats(&stats), IsOk());
    return stats.families["f"].filter;
  }

  TempDir dir_;
  const std::string path_ = dir_.File("db");
  std::unique_ptr<Store> store_;
};

TEST_P(KeptIterators, ReadsSeeWhatWasWrittenAfterTheLastOne) {
  PutRow("other", "v");
  for (int round = 0; round < 20; ++round) {
    const std::string row = "row" + std::to_string(round % 3);
    ASSERT_EQ(CountColumns(row), 0u) << round;
    PutRow(row, "v");
    ASSERT_EQ(CountColumns(row), kColumns) << round;
    if (round % 4 == 1) {
      ASSERT_THAT(store_->Flush(), IsOk());
    }
    if (round % 8 == 7) {
      ASSERT_THAT(store_->Compact(), IsOk());
    }
    ASSERT_EQ(CountColumns(row), kColumns) << round;
    ASSERT_THAT(store_->DeleteRow(row), IsOk());
    ASSERT_EQ(CountColumns(row), 0u) << round;
    ASSERT_EQ(CountColumns("other"), kColumns) << round;
  }
}

TEST_P(KeptIterators, SnapshotsSeeTheirMoment) {
  ASSERT_EQ(CountColumns("row"), 0u);
  const auto before = store_->GetSnapshot();
  PutRow("row", "v");
  const auto between = store_->GetSnapshot();
  ASSERT_THAT(store_->DeleteRow("row"), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_EQ(CountColumns("row", before.get()), 0u);
  EXPECT_EQ(CountColumns("row", between.get()), kColumns);
  EXPECT_EQ(CountColumns("row"), 0u);
}

TEST_P(KeptIterators, ColumnsOfAnAbsentRowAskForItOnce) {
  constexpr uint64_t kFiles = 8;
  constexpr uint64_t kRows = 200;
  for (uint64_t file = 0; file < kFiles; ++file) {
    for (uint64_t i = 0; i < kRows; ++i) {
      ASSERT_THAT(
          store_->Put(DistinctKey(file * kRows + i), "f", ColumnName(0), "v"),
          IsOk());
    }
    ASSERT_THAT(store_->Flush(), IsOk());
  }
  const FilterStats before = Filters();
  constexpr uint64_t kQuestions = 300;
  std::vector<std::vector<Cell>> cells;
  for (uint64_t i = 0; i < kQuestions; ++i) {
    ASSERT_THAT(
        store_->MultiGet(AllColumns(DistinctKey(kFiles * kRows + i)), &cells),
        IsOk());
    ASSERT_THAT(cells, SizeIs(kColumns));
    for (const std::vector<Cell>& versions : cells) {
      ASSERT_THAT(versions, IsEmpty());
    }
  }
  const FilterStats after = Filters();
  // Rows at the ends of a file's range are not asked for; where a filter is
  // wrong the columns may be asked for one by one.
  EXPECT_GT(after.row.skipped - before.row.skipped,
            kQuestions * kFiles * 9 / 10);
  EXPECT_LT(after.row.checked - before.row.checked, 3 * kQuestions * kFiles);
}

TEST_P(KeptIterators, PresentRowsAreFoundHoweverManyWereAbsent) {
  for (uint64_t i = 0; i < 200; ++i) {
    PutRow(DistinctKey(i), "v");
    if (i % 40 == 39) {
      ASSERT_THAT(store_->Flush(), IsOk());
    }
  }
  // The luck of looking first changes several times.
  for (const uint64_t first : {0, 1000, 0, 1000}) {
    for (uint64_t i = first; i < first + 100; ++i) {
      ASSERT_EQ(CountColumns(DistinctKey(i)), first == 0 ? kColumns : 0u);
    }
  }
}

TEST_P(KeptIterators, FilesThatWereCompactedGoFromTheDisk) {
  for (int file = 0; file < 4; ++file) {
    PutRow("row" + std::to_string(file), "v");
    ASSERT_THAT(store_->Flush(), IsOk());
    ASSERT_EQ(CountColumns("row0"), kColumns);
    ASSERT_EQ(CountColumns("absent"), 0u);
  }
  // The four, and those of the store's records.
  const size_t before = FilesOnDisk(path_);
  ASSERT_GE(before, 4u);
  ASSERT_THAT(store_->Compact(), IsOk());
  const auto give_up =
      std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (FilesOnDisk(path_) > before - 3 &&
         std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(FilesOnDisk(path_), before - 3);
}

TEST_P(KeptIterators, ReadersNeverSeeARowInPartOrGoBack) {
  constexpr int kReaders = 3;
  const uint64_t writes = Scaled(600);
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&, reader] {
      uint64_t last = 0;
      std::vector<std::vector<Cell>> columns;
      std::vector<Cell> whole;
      while (!done) {
        std::vector<Cell> cells;
        if (reader % 2 == 0) {
          ASSERT_THAT(store_->MultiGet(AllColumns("row"), &columns), IsOk());
          for (const std::vector<Cell>& versions : columns) {
            cells.insert(cells.end(), versions.begin(), versions.end());
          }
        } else {
          ASSERT_THAT(store_->GetRow("row", &whole), IsOk());
          cells = whole;
        }
        if (cells.empty() && last == 0) continue;
        ASSERT_THAT(cells, SizeIs(kColumns));
        const uint64_t now = std::stoull(cells.front().value);
        for (const Cell& cell : cells) {
          ASSERT_EQ(cell.value, cells.front().value);
        }
        ASSERT_GE(now, last);
        last = now;
      }
    });
  }
  for (uint64_t i = 1; i <= writes; ++i) {
    PutRow("row", std::to_string(i));
    if (i % 40 == 0) {
      EXPECT_THAT(store_->Flush(), IsOk());
    }
    if (i % 200 == 0) {
      EXPECT_THAT(store_->Compact(), IsOk());
    }
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(CountColumns("row"), kColumns);
}

TEST_P(KeptIterators, AReadOnlyStoreReadsRowsAgainAndAgain) {
  PutRow("row", "v");
  ASSERT_THAT(store_->Flush(), IsOk());
  store_.reset();
  store_ = OpenOrFail({.read_only = true}, path_, {});
  ASSERT_NE(store_, nullptr);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(CountColumns("row"), kColumns);
    EXPECT_EQ(CountColumns("absent"), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, KeptIterators, ::testing::Values(1, 3),
                         [](const auto& param) {
                           return param.param == 1 ? "Latest" : "Versioned";
                         });

}  // namespace
}  // namespace rowbloom::test
