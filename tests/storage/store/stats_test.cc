// Store::Stats agrees with what was written and read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rocksdb/cache.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/files.h"
#include "tests/support/random.h"

namespace rowbloom::test::stats_test {
namespace {

constexpr uint64_t kRows = 400;
constexpr uint64_t kColumns = 5;

class StoreStatsTest : public ::testing::Test {
 protected:
  void Open(const StoreOptions& options) {
    store_.reset();
    store_ = OpenOrFail(options, dir_.File("db"),
                        {{"a", {}}, {"v", {.max_versions = 2}}});
  }

  // kRows rows of kColumns columns in both families.
  void WriteRows(uint64_t first) {
    for (uint64_t i = first; i < first + kRows; ++i) {
      WriteBatch batch;
      for (uint64_t column = 0; column < kColumns; ++column) {
        for (const char* family : {"a", "v"}) {
          batch.Put(DistinctKey(i), family, std::to_string(column), "value");
        }
      }
      ASSERT_THAT(store_->Write(batch), IsOk());
    }
  }

  StoreStats Stats() { return StoreStatsOf(*store_); }

  TempDir dir_;
  std::unique_ptr<Store> store_;
};

TEST_F(StoreStatsTest, RowsAreCountedInFilesAndGuessedInMemory) {
  Open({.auto_compaction = false});
  EXPECT_EQ(Stats().families["a"].estimated_rows, 0u);
  ASSERT_NO_FATAL_FAILURE(WriteRows(0));
  StoreStats stats = Stats();
  EXPECT_EQ(stats.families["a"].estimated_cells, kRows * kColumns);
  EXPECT_EQ(stats.families["a"].estimated_rows, std::nullopt);
  EXPECT_GT(stats.families["a"].memtable_bytes, kRows * kColumns * 10);
  EXPECT_TRUE(stats.families["a"].levels.empty());

  ASSERT_THAT(store_->Flush(), IsOk());
  for (const char* family : {"a", "v"}) {
    EXPECT_EQ(Stats().families[family].estimated_rows, kRows) << family;
  }
  EXPECT_LT(Stats().families["a"].memtable_bytes, 10'000u);
  ASSERT_NO_FATAL_FAILURE(WriteRows(kRows));
  EXPECT_EQ(Stats().families["a"].estimated_rows, 2 * kRows);
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_EQ(Stats().families["v"].estimated_rows, 2 * kRows);

  // Once more in a third file: twice, until compacted.
  ASSERT_NO_FATAL_FAILURE(WriteRows(kRows));
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_EQ(Stats().families["a"].estimated_rows, 3 * kRows);
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_EQ(Stats().families["a"].estimated_rows, 2 * kRows);
  EXPECT_EQ(Stats().families["v"].estimated_rows, 2 * kRows);

  for (uint64_t i = 0; i < kRows; ++i) {
    ASSERT_THAT(store_->DeleteRow(DistinctKey(i)), IsOk());
  }
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_EQ(Stats().families["a"].estimated_rows, kRows);
}

TEST_F(StoreStatsTest, RowsOfABulkLoadAreCounted) {
  Open({});
  const auto load = LoadInto(*store_);
  for (int i = 0; i < 30; ++i) {
    const std::string row = std::to_string(100 + i);
    ASSERT_THAT(load->Add(row, "a", "1", "v"), IsOk());
    ASSERT_THAT(load->Add(row, "a", "2", "v"), IsOk());
  }
  ASSERT_THAT(load->Finish(), IsOk());
  EXPECT_EQ(Stats().families["a"].estimated_rows, 30u);
}

TEST_F(StoreStatsTest, LevelsHaveTheirFilesAndFilters) {
  Open({.front_filter_limit_bytes = 0, .auto_compaction = false});
  ASSERT_NO_FATAL_FAILURE(WriteRows(0));
  ASSERT_THAT(store_->Compact(), IsOk());
  ASSERT_NO_FATAL_FAILURE(WriteRows(kRows));
  ASSERT_THAT(store_->Flush(), IsOk());
  for (uint64_t i = 0; i < 100; ++i) {
    ASSERT_FALSE(ValueOf(*store_, DistinctKey(i, 1), "a", "0"));
  }
  const StoreStats stats = Stats();
  const FamilyStats& family = stats.families.at("a");
  ASSERT_GE(family.levels.size(), 2u);
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t built = 0;
  uint64_t levels_with_files = 0;
  for (const LevelStats& level : family.levels) {
    files += level.files;
    bytes += level.file_bytes;
    built += level.filter.blocks_built;
    if (level.files == 0) continue;
    ++levels_with_files;
    EXPECT_GT(level.filter.row.checked, 80u) << level.level;
    EXPECT_GT(level.filter.row.skipped, 70u) << level.level;
  }
  EXPECT_EQ(levels_with_files, 2u);
  EXPECT_EQ(family.levels.front().level, 0);
  EXPECT_EQ(files, family.files);
  EXPECT_EQ(files, 2u);
  EXPECT_EQ(bytes, family.file_bytes);
  EXPECT_EQ(built, family.filter.blocks_built);
}

// Other stores may use the cache.
TEST_F(StoreStatsTest, BytesOfTheCacheAreThoseOfAllItsUsers) {
  const auto cache = rocksdb::NewLRUCache(1 << 20);
  Open({.block_cache = cache});
  ASSERT_NO_FATAL_FAILURE(WriteRows(0));
  ASSERT_THAT(store_->Flush(), IsOk());
  ASSERT_TRUE(ValueOf(*store_, DistinctKey(0), "a", "0"));
  const auto bare =
      OpenOrFail({.block_cache = cache}, dir_.File("without families"), {});
  EXPECT_GT(StoreStatsOf(*bare).block_cache_bytes_used, 0u);
}

TEST_F(StoreStatsTest, ACacheThatIsSmallerThanTheFiltersIsAWarning) {
  Open({});
  ASSERT_NO_FATAL_FAILURE(WriteRows(0));
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_THAT(store_->Warnings(), ::testing::IsEmpty());
  Open({.block_cache_bytes = 1024});
  const auto is_warning =
      ::testing::HasSubstr("bytes, more than block_cache_bytes, 1024");
  EXPECT_THAT(store_->Warnings(), ::testing::ElementsAre(is_warning));
  store_.reset();  // its info log is whole
  EXPECT_THAT(ReadFile(dir_.File("db") + "/LOG"), is_warning);
}

TEST_F(StoreStatsTest, CacheAndTruthOfFiltersAreCountedOnDemand) {
  Open({});
  EXPECT_FALSE(Stats().cache.has_value());
  ASSERT_NO_FATAL_FAILURE(WriteRows(0));
  ASSERT_THAT(store_->Flush(), IsOk());
  Open({.statistics = true});
  const auto read_all = [this] {
    for (uint64_t i = 0; i < kRows; ++i) {
      ASSERT_TRUE(ValueOf(*store_, DistinctKey(i), "a", "0"));
    }
  };
  ASSERT_NO_FATAL_FAILURE(read_all());
  const StoreStats first = Stats();
  ASSERT_TRUE(first.cache.has_value());
  EXPECT_GT(first.cache->misses, 0u);
  EXPECT_EQ(first.families.at("a").filter.row_col.true_positives, kRows);
  ASSERT_NO_FATAL_FAILURE(read_all());
  const StoreStats second = Stats();
  EXPECT_EQ(second.cache->misses, first.cache->misses);
  EXPECT_EQ(second.cache->hits, first.cache->hits + kRows);
}

}  // namespace
}  // namespace rowbloom::test::stats_test
