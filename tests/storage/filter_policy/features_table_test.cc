// Tables with rowbloom's filters are written, cached, copied and ingested:
// answers stay right, and counters show that the filters were probed.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/sst_partitioner.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rowbloom/open_db.h"
#include "tests/storage/filter_policy/features.h"
#include "tests/support/random.h"

namespace rowbloom::features_table_test {
namespace {

using test::AbsentRow;
using test::ExpectOk;
using test::Features;
using test::Key;
using test::kFiles;
using test::kRows;
using test::OpenDb;
using test::Row;
using test::Scaled;
using test::StatsOf;
using test::TempDir;

// Up to the newest version that the library writes; what is newer it refuses.
TEST_F(Features, EveryFormatVersionFilters) {
  uint32_t version = 2;
  for (;; ++version) {
    SCOPED_TRACE(version);
    TempDir dir;
    rocksdb::Options options = Options();
    Table(&options)->format_version = version;
    const rocksdb::Status status =
        rocksdb::DB::Open(options, dir.File("db"), Into(&db_));
    if (!status.ok()) {
      EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
      break;
    }
    WriteFiles();
    ExpectCellsAndSkips(db_.get());
    db_.reset();
  }
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 904
  EXPECT_GE(version, 7u) << "format 6 and newer were tried";
#else
  EXPECT_GE(version, 6u);
#endif
}

enum class Pinned { kNone, kLevel0, kAll };

TEST_F(Features, FiltersInTheBlockCacheComeAndGo) {
  for (const bool partitioned : {false, true}) {
    for (const Pinned pinned : {Pinned::kNone, Pinned::kLevel0, Pinned::kAll}) {
      SCOPED_TRACE(std::to_string(partitioned) +
                   std::to_string(static_cast<int>(pinned)));
      rocksdb::Options options = Options(partitioned);
      rocksdb::BlockBasedTableOptions* table = Table(&options);
      table->cache_index_and_filter_blocks = true;
      table->pin_l0_filter_and_index_blocks_in_cache =
          pinned == Pinned::kLevel0;
      if (pinned == Pinned::kAll) {
        table->metadata_cache_options.unpartitioned_pinning =
            rocksdb::PinningTier::kAll;
        table->metadata_cache_options.partition_pinning =
            rocksdb::PinningTier::kAll;
        table->metadata_cache_options.top_level_index_pinning =
            rocksdb::PinningTier::kAll;
      }
      // Too small for anything to stay that is not pinned.
      table->block_cache = rocksdb::NewLRUCache(1 << 10, 0);
      Remove();
      Open(options);
      WriteFiles();
      const FilterStats before = StatsOf(*policy_);
      ExpectCellsAndSkips(db_.get());
      const uint64_t opened =
          StatsOf(*policy_).blocks_opened - before.blocks_opened;
      if (pinned != Pinned::kNone) {
        EXPECT_LE(opened, uint64_t{kFiles});
      } else {
        EXPECT_GT(opened, uint64_t{kRows});
      }
    }
  }
}

TEST_F(Features, FlushedFiltersCanStartInTheBlockCache) {
  for (const bool partitioned : {false, true}) {
    SCOPED_TRACE(partitioned);
    rocksdb::Options options = Options(partitioned);
    rocksdb::BlockBasedTableOptions* table = Table(&options);
    table->cache_index_and_filter_blocks = true;
    table->block_cache = rocksdb::NewLRUCache(8 << 20, 0);
    table->prepopulate_block_cache =
        rocksdb::BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly;
    Remove();
    Open(options);
    WriteFiles();
    ExpectCellsAndSkips(db_.get());
    EXPECT_EQ(Ticker(rocksdb::BLOCK_CACHE_FILTER_MISS), 0u);
    EXPECT_GT(Ticker(rocksdb::BLOCK_CACHE_FILTER_HIT), uint64_t{kRows});
  }
}

TEST_F(Features, MemoryMappedFilesAreRead) {
  for (const bool partitioned : {false, true}) {
    rocksdb::Options options = Options(partitioned);
    options.allow_mmap_reads = true;
    Remove();
    Open(options);
    WriteFiles();
    ExpectCellsAndSkips(db_.get());
    Open(options);
    ExpectCellsAndSkips(db_.get());
  }
}

TEST_F(Features, HashIndexOverRowsFilters) {
  rocksdb::Options options = Options();
  Table(&options)->index_type =
      rocksdb::BlockBasedTableOptions::IndexType::kHashSearch;
  Open(options);
  WriteFiles();
  ExpectCellsAndSkips(db_.get());
}

TEST_F(Features, DecoupledPartitionsFilter) {
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 906
  rocksdb::Options options = Options(true);
  Table(&options)->decouple_partitioned_filters = true;
  Open(options);
  WriteFiles();
  ExpectCellsAndSkips(db_.get());
  for (int row = 0; row < kRows; ++row) {
    const std::unique_ptr<rocksdb::Iterator> it(
        db_->NewIterator(test::SamePrefix()));
    it->SeekForPrev(Row(row) + "\xff");
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key().ToString(), Key(row, "b"));
  }
#else
  GTEST_SKIP() << "decouple_partitioned_filters came with RocksDB 9.6";
#endif
}

TEST_F(Features, OptimizeFiltersForHitsLeavesOutTheLastLevel) {
  rocksdb::Options options = Options();
  options.optimize_filters_for_hits = true;
  Open(options);
  WriteFiles();
  ExpectCellsAndSkips(db_.get());
  test::CompactAll(db_.get());
  const FilterStats before = StatsOf(*policy_);
  std::string value;
  for (int row = 0; row < kRows; ++row) {
    ExpectOk(db_->Get({}, Key(row, "a"), &value));
    EXPECT_TRUE(db_->Get({}, Key(row, "absent"), &value).IsNotFound());
    EXPECT_EQ(CellsOf(Row(row)), 2);
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

TEST_F(Features, PartitionerKeepsRowsInOneFile) {
  rocksdb::Options options = Options();
  // "row100", "row101", ...: ten rows for each file.
  options.sst_partitioner_factory =
      rocksdb::NewSstPartitionerFixedPrefixFactory(6);
  Open(options);
  WriteFiles();
  ExpectOk(db_->CompactRange({}, nullptr, nullptr));
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  EXPECT_EQ(files.size(), kRows / 10u);
  std::string value;
  const FilterStats before = StatsOf(*policy_);
  for (int row = 0; row < kRows; ++row) {
    ExpectOk(db_->Get({}, Key(row, "b"), &value));
    EXPECT_TRUE(db_->Get({}, Key(row, "aa"), &value).IsNotFound());
    EXPECT_EQ(CellsOf(Row(row)), 2);
    // This key is in the range of one file, unless it is behind its last row.
    EXPECT_TRUE(db_->Get({}, AbsentRow(row) + "a", &value).IsNotFound());
  }
  const FilterStats after = StatsOf(*policy_);
  EXPECT_GT(after.row_col.skipped - before.row_col.skipped, kRows * 95u / 100);
  EXPECT_GT(after.row.skipped - before.row.skipped, kRows * 85u / 100);
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
  std::unique_ptr<rocksdb::DB> other;
  ExpectOk(
      rocksdb::DB::OpenForReadOnly(options, dir_.File("db"), Into(&other)));
  EXPECT_TRUE(IsFilterActive(other.get()));
  ExpectCellsAndSkips(other.get());
  rocksdb::Options secondary = options;
  secondary.max_open_files = -1;
  ExpectOk(rocksdb::DB::OpenAsSecondary(secondary, dir_.File("db"),
                                        dir_.File("secondary"), Into(&other)));
  ExpectOk(other->TryCatchUpWithPrimary());
  EXPECT_TRUE(IsFilterActive(other.get()));
  ExpectCellsAndSkips(other.get());
}

TEST_F(Features, FollowersFilter) {
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 910
  const rocksdb::Options options = Options();
  Open(options);
  WriteFiles();
  std::unique_ptr<rocksdb::DB> follower;
  ExpectOk(rocksdb::DB::OpenAsFollower(options, dir_.File("follower"),
                                       dir_.File("db"), &follower));
  EXPECT_TRUE(IsFilterActive(follower.get()));
  ExpectCellsAndSkips(follower.get());
#else
  GTEST_SKIP() << "tried from RocksDB 9.10 on";
#endif
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

// A row of a million columns spans many partitions; each must know the row.
TEST_F(Features, RowOfAMillionColumnsSpansPartitions) {
  rocksdb::Options options = Options(true);
  Table(&options)->metadata_block_size = 4096;
  Table(&options)->block_size = 4096;
  options.write_buffer_size = size_t{1} << 30;
  Open(options);
  const uint64_t columns = std::max<uint64_t>(Scaled(1'000'000), 100'000);
  ExpectOk(db_->Put({}, "before:x", ""));
  rocksdb::WriteOptions no_log;
  no_log.disableWAL = true;
  for (uint64_t column = 0; column < columns; ++column) {
    ExpectOk(db_->Put(no_log, "row:" + std::to_string(1'000'000 + column), ""));
  }
  ExpectOk(db_->Put({}, "ss:x", ""));
  ExpectOk(db_->Flush({}));
  std::string value;
  for (uint64_t column = 0; column < columns; column += 997) {
    ExpectOk(db_->Get({}, "row:" + std::to_string(1'000'000 + column), &value));
  }
  const std::unique_ptr<rocksdb::Iterator> it(
      db_->NewIterator(test::SamePrefix()));
  uint64_t cells = 0;
  for (it->Seek("row:"); it->Valid(); it->Next()) ++cells;
  EXPECT_EQ(cells, columns);
  it->SeekForPrev("row:\xff");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), "row:" + std::to_string(999'999 + columns));
  const FilterStats before = StatsOf(*policy_);
  it->Seek("rpx:");
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ(StatsOf(*policy_).row.skipped - before.row.skipped, 1u);
  EXPECT_GT(StatsOf(*policy_).blocks_opened, columns / 10'000)
      << "one for each partition";
}

}  // namespace
}  // namespace rowbloom::features_table_test
