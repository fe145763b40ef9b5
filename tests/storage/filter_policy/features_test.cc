// Features of RocksDB that touch filters, with rowbloom's: answers are right,
// and counters show that the filters were asked. Scans, partitions and the
// construction of filters have files of their own.
#include "tests/storage/filter_policy/features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using test::ExpectOk;
using test::Features;
using test::Key;
using test::kFiles;
using test::kRows;
using test::OpenDb;
using test::Row;
using test::StatsOf;
using test::TempDir;

TEST_F(Features, MultiGetOfAnAbsentRowSkipsEveryFile) {
  Open(Options());
  WriteFiles();
  // An absent row within the range of every file.
  std::vector<std::string> keys;
  for (int column = 0; column < 10; ++column) {
    keys.push_back("row1100x:" + std::to_string(column));
  }
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  const FilterStats before = StatsOf(*policy_);
  db_->MultiGet({}, db_->DefaultColumnFamily(), keys.size(), slices.data(),
                values.data(), statuses.data());
  for (const rocksdb::Status& status : statuses) {
    EXPECT_TRUE(status.IsNotFound());
  }
  const FilterStats after = StatsOf(*policy_);
  EXPECT_EQ(after.asked - before.asked, keys.size() * kFiles);
  EXPECT_EQ(after.row.skipped - before.row.skipped, keys.size() * kFiles);
}

TEST_F(Features, AutoPrefixModeAsksTheRowWhenTheBoundIsInsideIt) {
  Open(Options());
  WriteFiles();
  const std::string bound = Row(7) + "\xff";
  const Slice upper_bound(bound);
  rocksdb::ReadOptions scan;
  scan.auto_prefix_mode = true;
  scan.iterate_upper_bound = &upper_bound;
  const FilterStats before = StatsOf(*policy_);
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(scan));
  int cells = 0;
  for (it->Seek(Row(7)); it->Valid(); it->Next()) ++cells;
  EXPECT_EQ(cells, 2);
  EXPECT_EQ(StatsOf(*policy_).row.skipped - before.row.skipped, kFiles - 1u);
}

TEST_F(Features, TotalOrderSeekAsksNothingAndSeesAll) {
  Open(Options());
  WriteFiles();
  rocksdb::ReadOptions scan;
  scan.total_order_seek = true;
  const FilterStats before = StatsOf(*policy_);
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(scan));
  int cells = 0;
  for (it->Seek("row1100x:"); it->Valid(); it->Next()) ++cells;
  EXPECT_EQ(cells, (kRows - 101) * 2);
  EXPECT_EQ(StatsOf(*policy_).asked, before.asked);
}

TEST_F(Features, DeletedRangesStayDeletedWhereFiltersSkip) {
  Open(Options());
  WriteFiles();
  // The tombstone lies in a file without a key of the row.
  ExpectOk(db_->DeleteRange({}, db_->DefaultColumnFamily(), Row(7),
                            Row(7) + "\xff"));
  ExpectOk(db_->Flush({}));
  std::string value;
  EXPECT_TRUE(db_->Get({}, Key(7, "a"), &value).IsNotFound());
  EXPECT_EQ(CellsInRow(db_.get(), 7), 0);
  EXPECT_EQ(CellsInRow(db_.get(), 8), 2);
  ExpectOk(db_->Put({}, Key(7, "c"), "new"));
  EXPECT_EQ(CellsInRow(db_.get(), 7), 1);
}

TEST_F(Features, SingleDeletesAndTombstonesAreFound) {
  Open(Options());
  WriteFiles();
  ExpectOk(db_->SingleDelete({}, Key(3, "a")));
  ExpectOk(db_->Delete({}, Key(3, "b")));
  ExpectOk(db_->Flush({}));
  std::string value;
  EXPECT_TRUE(db_->Get({}, Key(3, "a"), &value).IsNotFound());
  EXPECT_TRUE(db_->Get({}, Key(3, "b"), &value).IsNotFound());
  EXPECT_EQ(CellsInRow(db_.get(), 3), 0);
}

// Joins operands with a comma.
class Append : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value,
             std::string* result, rocksdb::Logger*) const override {
    *result = existing == nullptr
                  ? value.ToString()
                  : existing->ToString() + "," + value.ToString();
    return true;
  }
  const char* Name() const override { return "test.Append"; }
};

TEST_F(Features, MergeOperandsOfSeveralFilesAreAllFound) {
  rocksdb::Options options = Options();
  options.merge_operator = std::make_shared<Append>();
  Open(options);
  for (int file = 0; file < kFiles; ++file) {
    for (int row = 0; row < 50; ++row) {
      if (row % kFiles == file) continue;  // each row lacks one file
      ExpectOk(db_->Merge({}, Key(row, "m"), std::to_string(file)));
    }
    ExpectOk(db_->Flush({}));
  }
  const FilterStats before = StatsOf(*policy_);
  for (int row = 0; row < 50; ++row) {
    std::string expected;
    for (int file = 0; file < kFiles; ++file) {
      if (row % kFiles == file) continue;
      expected += (expected.empty() ? "" : ",") + std::to_string(file);
    }
    std::string value;
    ExpectOk(db_->Get({}, Key(row, "m"), &value));
    EXPECT_EQ(value, expected);
  }
  EXPECT_GT(StatsOf(*policy_).row.skipped - before.row.skipped, 40u);
}

TEST_F(Features, IngestedFilesAreFiltered) {
  const rocksdb::Options options = Options();
  Open(options);
  WriteFiles();
  const std::string path = dir_.File("ingested.sst");
  {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    ExpectOk(writer.Open(path));
    for (int row = kRows; row < kRows + 50; ++row) {
      ExpectOk(writer.Put(Key(row, "a"), "ingested"));
    }
    ExpectOk(writer.Finish());
  }
  ExpectOk(db_->IngestExternalFile({path}, {}));
  std::string value;
  const FilterStats before = StatsOf(*policy_);
  for (int row = kRows; row < kRows + 50; ++row) {
    ExpectOk(db_->Get({}, Key(row, "a"), &value));
    EXPECT_TRUE(db_->Get({}, Key(row, "b"), &value).IsNotFound());
  }
  EXPECT_GT(StatsOf(*policy_).row_col.skipped - before.row_col.skipped, 40u);
}

TEST_F(Features, ReadOnlyAndSecondaryInstancesFilter) {
  const rocksdb::Options options = Options();
  Open(options);
  WriteFiles();
  rocksdb::DB* opened = nullptr;
  ExpectOk(rocksdb::DB::OpenForReadOnly(options, dir_.File("db"), &opened));
  std::unique_ptr<rocksdb::DB> other(opened);
  EXPECT_TRUE(IsFilterActive(other.get()));
  ExpectCellsAndSkips(other.get());
  rocksdb::Options secondary = options;
  secondary.max_open_files = -1;
  ExpectOk(rocksdb::DB::OpenAsSecondary(secondary, dir_.File("db"),
                                        dir_.File("secondary"), &opened));
  other.reset(opened);
  ExpectOk(other->TryCatchUpWithPrimary());
  EXPECT_TRUE(IsFilterActive(other.get()));
  ExpectCellsAndSkips(other.get());
}

TEST_F(Features, CheckpointsAndBackupsKeepTheirFilters) {
  const rocksdb::Options options = Options();
  Open(options);
  WriteFiles();
  {
    rocksdb::Checkpoint* created = nullptr;
    ExpectOk(rocksdb::Checkpoint::Create(db_.get(), &created));
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(created);
    ExpectOk(checkpoint->CreateCheckpoint(dir_.File("checkpoint")));
  }
  ExpectCellsAndSkips(OpenDb(options, dir_.File("checkpoint")).get());
  {
    rocksdb::BackupEngine* created = nullptr;
    ExpectOk(rocksdb::BackupEngine::Open(
        rocksdb::Env::Default(),
        rocksdb::BackupEngineOptions(dir_.File("backup")), &created));
    const std::unique_ptr<rocksdb::BackupEngine> backup(created);
    ExpectOk(backup->CreateNewBackup(db_.get()));
    ExpectOk(backup->RestoreDBFromLatestBackup(dir_.File("restored"),
                                               dir_.File("restored")));
  }
  ExpectCellsAndSkips(OpenDb(options, dir_.File("restored")).get());
}

TEST_F(Features, FiltersInTheBlockCacheComeAndGo) {
  for (const bool partitioned : {false, true}) {
    for (const bool pinned : {false, true}) {
      SCOPED_TRACE(std::to_string(partitioned) + std::to_string(pinned));
      TempDir dir;
      rocksdb::Options options = Options(partitioned);
      rocksdb::BlockBasedTableOptions* table = Table(&options);
      table->cache_index_and_filter_blocks = true;
      table->pin_l0_filter_and_index_blocks_in_cache = pinned;
      // Too small for anything to stay that is not pinned.
      table->block_cache = rocksdb::NewLRUCache(1 << 10, 0);
      db_ = OpenDb(options, dir.File("db"));
      WriteFiles();
      const FilterStats before = StatsOf(*policy_);
      ExpectCellsAndSkips(db_.get());
      const uint64_t opened =
          StatsOf(*policy_).blocks_opened - before.blocks_opened;
      if (pinned) {
        EXPECT_LE(opened, uint64_t{kFiles});
      } else {
        EXPECT_GT(opened, uint64_t{kRows});
      }
      db_.reset();
    }
  }
}

TEST_F(Features, EveryFormatVersionFilters) {
  for (uint32_t version = 2; version <= 5; ++version) {
    SCOPED_TRACE(version);
    TempDir dir;
    rocksdb::Options options = Options();
    Table(&options)->format_version = version;
    db_ = OpenDb(options, dir.File("db"));
    WriteFiles();
    ExpectCellsAndSkips(db_.get());
    db_.reset();
  }
}

TEST_F(Features, OptimizeFiltersForHitsLeavesOutTheLastLevel) {
  rocksdb::Options options = Options();
  options.optimize_filters_for_hits = true;
  Open(options);
  WriteFiles();
  ExpectCellsAndSkips(db_.get());
  rocksdb::CompactRangeOptions compact;
  compact.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForce;
  ExpectOk(db_->CompactRange(compact, nullptr, nullptr));
  const FilterStats before = StatsOf(*policy_);
  std::string value;
  for (int row = 0; row < kRows; ++row) {
    ExpectOk(db_->Get({}, Key(row, "a"), &value));
    EXPECT_TRUE(db_->Get({}, Key(row, "absent"), &value).IsNotFound());
    EXPECT_EQ(CellsInRow(db_.get(), row), 2);
  }
  EXPECT_EQ(StatsOf(*policy_).asked, before.asked);
}

TEST_F(Features, OtherFilterOptionsAreHarmless) {
  rocksdb::Options options = Options();
  Table(&options)->optimize_filters_for_memory = true;
  Table(&options)->detect_filter_construct_corruption = true;
  Open(options);
  WriteFiles();
  ExpectCellsAndSkips(db_.get());
}

TEST_F(Features, UserDefinedTimestampsAreNoPartOfTheKey) {
  rocksdb::Options options = Options();
  ExpectOk(rocksdb::Comparator::CreateFromString(
      {}, "leveldb.BytewiseComparator.u64ts", &options.comparator));
  Open(options);
  const auto timestamp = [](uint64_t time) {
    std::string bytes(8, '\0');
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(time >> (8 * i));
    return bytes;
  };
  for (int file = 0; file < kFiles; ++file) {
    for (int row = file; row < kRows; row += kFiles) {
      ExpectOk(db_->Put({}, Key(row, "a"), timestamp(10 + file), "v"));
    }
    ExpectOk(db_->Flush({}));
  }
  const std::string now = timestamp(100);
  const Slice now_slice(now);
  rocksdb::ReadOptions read;
  read.timestamp = &now_slice;
  const FilterStats before = StatsOf(*policy_);
  std::string value;
  for (int row = 0; row < kRows; ++row) {
    ExpectOk(db_->Get(read, Key(row, "a"), &value));
    EXPECT_TRUE(db_->Get(read, Key(row, "b"), &value).IsNotFound());
    rocksdb::ReadOptions scan = read;
    scan.prefix_same_as_start = true;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(scan));
    it->Seek(Row(row));
    EXPECT_TRUE(it->Valid());
  }
  const FilterStats after = StatsOf(*policy_);
  EXPECT_GT(after.row.skipped - before.row.skipped, uint64_t{kRows});
  EXPECT_GT(after.row_col.skipped - before.row_col.skipped, kRows * 9u / 10);
}

TEST_F(Features, OddKeysAreKept) {
  for (const bool partitioned : {false, true}) {
    TempDir dir;
    db_ = OpenDb(Options(partitioned), dir.File("db"));
    const std::vector<std::string> keys = {
        "",              // outside the layout
        ":",             // an empty row, bare
        ":column",       // a column of the empty row
        "no delimiter",  // outside the layout
        std::string(64 << 10, 'r') + ":column",
        std::string(64 << 10, 'r') + ":",
        "row:" + std::string(64 << 10, 'c')};
    for (const std::string& key : keys) {
      ExpectOk(db_->Put({}, key, "v"));
      ExpectOk(db_->Flush({}));
    }
    std::string value;
    for (const std::string& key : keys) {
      ExpectOk(db_->Get({}, key, &value));
      EXPECT_TRUE(db_->Get({}, key.substr(0, key.size() / 2) + "|", &value)
                      .IsNotFound());
    }
    rocksdb::ReadOptions scan;
    scan.total_order_seek = true;
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(scan));
    size_t found = 0;
    for (it->Seek(""); it->Valid(); it->Next()) ++found;
    EXPECT_EQ(found, keys.size());
    it.reset();
    db_.reset();
  }
}

// A row of a million columns spans many partitions; each must know the row.
TEST_F(Features, RowOfAMillionColumnsSpansPartitions) {
  rocksdb::Options options = Options(true);
  Table(&options)->metadata_block_size = 4096;
  Table(&options)->block_size = 4096;
  options.write_buffer_size = size_t{1} << 30;
  Open(options);
  constexpr int kColumns = 1'000'000;
  ExpectOk(db_->Put({}, "before:x", ""));
  rocksdb::WriteOptions no_log;
  no_log.disableWAL = true;
  for (int column = 0; column < kColumns; ++column) {
    ExpectOk(db_->Put(no_log, "row:" + std::to_string(1'000'000 + column), ""));
  }
  ExpectOk(db_->Put({}, "ss:x", ""));
  ExpectOk(db_->Flush({}));
  std::string value;
  for (int column = 0; column < kColumns; column += 997) {
    ExpectOk(db_->Get({}, "row:" + std::to_string(1'000'000 + column), &value));
  }
  rocksdb::ReadOptions scan;
  scan.prefix_same_as_start = true;
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(scan));
  int cells = 0;
  for (it->Seek("row:"); it->Valid(); it->Next()) ++cells;
  EXPECT_EQ(cells, kColumns);
  it->SeekForPrev("row:\xff");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), "row:1999999");
  const FilterStats before = StatsOf(*policy_);
  it->Seek("rpx:");
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ(StatsOf(*policy_).row.skipped - before.row.skipped, 1u);
  EXPECT_GT(StatsOf(*policy_).blocks_opened, 100u) << "one for each partition";
}

}  // namespace
}  // namespace rowbloom
