// Large values are in blob files, and a store with them does all that others
// do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "rowbloom/backup.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test::blob_files_test {
namespace {

constexpr uint64_t kRows = 50;
constexpr size_t kLargeBytes = 4000;
constexpr uint64_t kLargeInAll = kRows * kLargeBytes;

const FamilyOptions kLatest = {.compression = Compression::kNone,
                               .min_blob_bytes = 1000};
const FamilyOptions kVersioned = {.compression = Compression::kNone,
                                  .max_versions = 2,
                                  .min_blob_bytes = 1000};

class BlobFiles : public ::testing::Test {
 protected:
  void SetUp() override { Open({}); }

  void Open(StoreOptions options) {
    store_.reset();
    options.auto_compaction = false;
    store_ = OpenOrFail(options, dir_.File("db"),
                        {{"latest", kLatest}, {"versioned", kVersioned}});
  }

  // A large and a small value in each row, other ones each time.
  void WriteRows() {
    for (uint64_t i = 0; i < kRows; ++i) {
      WriteBatch batch;
      for (const char* family : {"latest", "versioned"}) {
        batch.Put(DistinctKey(i), family, "large", random_.Bytes(kLargeBytes));
        batch.Put(DistinctKey(i), family, "small", random_.Bytes(10));
      }
      ASSERT_THAT(store_->Write(batch), IsOk());
    }
  }

  static std::vector<Row> AllVersions(Store* store) {
    return RowsOf(*store, {.row = {.max_versions = 9}});
  }
  // The same by gets.
  static void ExpectGets(Store* store, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      for (const char* family : {"latest", "versioned"}) {
        const std::vector<Cell> cells = GetVersionsOf(
            *store, row.row, family, "large", {.max_versions = 9});
        std::vector<Cell> expected;
        std::copy_if(row.cells.begin(), row.cells.end(),
                     std::back_inserter(expected), [&](const Cell& cell) {
                       return cell.family == family &&
                              cell.qualifier == "large";
                     });
        ASSERT_EQ(cells, expected);
      }
    }
  }

  FamilyStats StatsOf(const std::string& family) {
    return StoreStatsOf(*store_).families[family];
  }

  TempDir dir_;
  Random random_{SeedFromEnv()};
  std::unique_ptr<Store> store_;
};

TEST_F(BlobFiles, AreOutOfLineOnceWritten) {
  ASSERT_NO_FATAL_FAILURE(WriteRows());
  const std::vector<Row> rows = AllVersions(store_.get());
  ASSERT_EQ(rows.size(), kRows);
  EXPECT_EQ(StatsOf("latest").blob_files, 0U);
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_EQ(StatsOf("latest").blob_files, 1U);
  EXPECT_GT(StatsOf("latest").blob_file_bytes, kLargeInAll);
  EXPECT_LT(StatsOf("latest").file_bytes, kLargeInAll / 10);
  // Versions are merged before they are moved out.
  EXPECT_EQ(StatsOf("versioned").blob_files, 0U);
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_GT(StatsOf("versioned").blob_file_bytes, kLargeInAll);
  EXPECT_LT(StatsOf("versioned").file_bytes, kLargeInAll / 10);
  EXPECT_EQ(AllVersions(store_.get()), rows);
  ExpectGets(store_.get(), rows);
  Open({.read_only = true});
  EXPECT_EQ(AllVersions(store_.get()), rows);
  ExpectGets(store_.get(), rows);
}

TEST_F(BlobFiles, GiveBackTheirSpace) {
  ASSERT_NO_FATAL_FAILURE(WriteRows());
  ASSERT_THAT(store_->Compact(), IsOk());
  const auto snapshot = SnapshotOf(*store_);
  for (int i = 0; i < 3; ++i) {
    ASSERT_NO_FATAL_FAILURE(WriteRows());
    ASSERT_THAT(store_->Compact(), IsOk());
  }
  const std::vector<Row> rows = AllVersions(store_.get());
  std::optional<std::string> old;
  EXPECT_THAT(store_->Get(rows[0].row, "latest", "large", &old,
                          {.snapshot = snapshot.get()}),
              IsOk());
  EXPECT_TRUE(old);
  EXPECT_NE(old, rows[0].cells.at(0).value);
  EXPECT_LT(StatsOf("latest").blob_file_bytes, kLargeInAll * 21 / 10);
  EXPECT_EQ(AllVersions(store_.get()), rows);
  for (const Row& row : rows) ASSERT_THAT(store_->DeleteRow(row.row), IsOk());
  EXPECT_TRUE(AllVersions(store_.get()).empty());
}

TEST_F(BlobFiles, ComeBackWhenAltered) {
  ASSERT_NO_FATAL_FAILURE(WriteRows());
  ASSERT_THAT(store_->Compact(), IsOk());
  const std::vector<Row> rows = AllVersions(store_.get());
  FamilyOptions in_line = kLatest;
  in_line.min_blob_bytes = 0;
  ASSERT_THAT(store_->AlterFamily("latest", in_line), IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_EQ(StatsOf("latest").blob_files, 0U);
  EXPECT_GT(StatsOf("latest").file_bytes, kLargeInAll);
  EXPECT_EQ(AllVersions(store_.get()), rows);
  ASSERT_THAT(store_->AlterFamily("latest", kLatest), IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_LT(StatsOf("latest").file_bytes, kLargeInAll / 10);
  EXPECT_EQ(AllVersions(store_.get()), rows);
}

TEST_F(BlobFiles, AreInCopies) {
  ASSERT_NO_FATAL_FAILURE(WriteRows());
  ASSERT_THAT(store_->Compact(), IsOk());
  const std::string backups = dir_.File("backups");
  ASSERT_THAT(store_->Backup(backups), IsOk());
  ASSERT_NO_FATAL_FAILURE(WriteRows());
  BackupInfo info;
  ASSERT_THAT(store_->Backup(backups, &info), IsOk());
  EXPECT_THAT(VerifyBackup(backups, info.id), IsOk());
  ASSERT_THAT(store_->Checkpoint(dir_.File("checkpoint")), IsOk());
  const std::vector<Row> rows = AllVersions(store_.get());
  store_.reset();
  std::filesystem::remove_all(dir_.File("db"));
  ASSERT_THAT(RestoreBackup(backups, info.id, dir_.File("restored")), IsOk());
  for (const char* copy : {"checkpoint", "restored"}) {
    const auto store = OpenOrFail({}, dir_.File(copy), {});
    EXPECT_EQ(AllVersions(store.get()), rows) << copy;
    ExpectGets(store.get(), rows);
  }
}

TEST_F(BlobFiles, AreLoadedAndWalked) {
  const auto load = LoadInto(*store_);
  std::map<std::string, std::string> loaded;
  for (uint64_t i = 0; i < kRows; ++i) {
    loaded[DistinctKey(i)] = random_.Bytes(kLargeBytes);
  }
  for (const auto& [row, value] : loaded) {
    for (const char* family : {"latest", "versioned"}) {
      ASSERT_THAT(load->Add(row, family, "large", value), IsOk());
    }
  }
  ASSERT_THAT(load->Finish(), IsOk());
  // The files of a load have all values.
  for (const bool compacted : {false, true}) {
    if (compacted) {
      ASSERT_THAT(store_->Compact(), IsOk());
    }
    for (const char* family : {"latest", "versioned"}) {
      SCOPED_TRACE(family);
      EXPECT_EQ(StatsOf(family).blob_files > 0, compacted);
      std::unique_ptr<CellIterator> cells;
      ASSERT_THAT(store_->NewCellIterator({.family = family}, &cells), IsOk());
      auto expected = loaded.begin();
      for (; cells->Valid(); cells->Next(), ++expected) {
        ASSERT_NE(expected, loaded.end());
        EXPECT_EQ(cells->cell().row, expected->first);
        EXPECT_EQ(cells->cell().value, expected->second);
      }
      EXPECT_THAT(cells->status(), IsOk());
      EXPECT_EQ(expected, loaded.end());
    }
  }
}

}  // namespace
}  // namespace rowbloom::test::blob_files_test
