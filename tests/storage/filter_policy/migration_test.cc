// An engineer migrates a database in use, step by step: the extractor and the
// policy come, files are rewritten, layout and type change, rowbloom goes.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "tests/storage/filter_policy/filtered_db.h"

namespace rowbloom::migration_test {
namespace {

using rocksdb::BottommostLevelCompaction;
using test::AbsentRow;
using test::ExpectOk;
using test::kLayout;
using test::MakeFilterPolicy;
using test::Row;
using test::Rows;
using test::StatsOf;

constexpr char kOurs[] =
    "rowbloom.filter:ROWCOL:bloom:0.01:0:uniform:delimited::";
constexpr char kStock[] = "bloomfilter";
const Rows kRows = {.end = 200};
// One read of each row and one of an absent row behind it.
constexpr int kQuestions = 400;

using Policy = std::shared_ptr<const rocksdb::FilterPolicy>;
using Extractor = std::shared_ptr<const rocksdb::SliceTransform>;

class Migration : public test::FilteredDb {
 protected:
  void WriteFiles() { Write(kRows); }
  void ExpectCells() { ExpectRows(kRows); }
  uint64_t GetSkips() { return SkipsOfAbsentRows(kRows); }
  void Compact(BottommostLevelCompaction bottommost) {
    rocksdb::CompactRangeOptions compact;
    compact.bottommost_level_compaction = bottommost;
    ExpectOk(db_->CompactRange(compact, nullptr, nullptr));
  }
  // Returns the lookups that scans of all rows make in rowbloom's filters.
  uint64_t ScanQuestions(const Policy& policy) {
    const uint64_t before = StatsOf(*policy).asked;
    for (int row = 0; row < kRows.end; ++row) {
      EXPECT_EQ(CellsOf(Row(row)), 2);
      EXPECT_EQ(CellsOf(AbsentRow(row)), 0);
    }
    return StatsOf(*policy).asked - before;
  }
  std::set<std::string> Policies() {
    const auto names = PolicyNames();
    return {names.begin(), names.end()};
  }
  // Returns how many filters those scans probe, of any policy, as RocksDB
  // counts.
  uint64_t FilesAskedByScans() {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::PerfContext* counters = rocksdb::get_perf_context();
    counters->Reset();
    for (int row = 0; row < kRows.end; ++row) {
      CellsOf(Row(row));
      CellsOf(AbsentRow(row));
    }
    const uint64_t asked =
        counters->bloom_sst_hit_count + counters->bloom_sst_miss_count;
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    return asked;
  }
};

// A plain CompactRange leaves the files of the last level as they are.
TEST_F(Migration, OldFilesOfTheLastLevelWaitForAForcedCompaction) {
  Open(test::StockBloom(), NewRowPrefixExtractor(kLayout));
  WriteFiles();
  Compact(BottommostLevelCompaction::kIfHaveCompactionFilter);
  const auto policy = MakeFilterPolicy({.key_layout = kLayout});
  Open(policy, NewRowPrefixExtractor(kLayout));
  EXPECT_EQ(Policies(), std::set<std::string>{kStock});
  Compact(BottommostLevelCompaction::kIfHaveCompactionFilter);
  EXPECT_EQ(Policies(), std::set<std::string>{kStock});
  EXPECT_EQ(StatsOf(*policy).blocks_built, 0u);

  uint64_t live_bytes = 0;
  ASSERT_TRUE(db_->GetIntProperty(rocksdb::DB::Properties::kLiveSstFilesSize,
                                  &live_bytes));
  const uint64_t written = Ticker(rocksdb::COMPACT_WRITE_BYTES);
  Compact(BottommostLevelCompaction::kForceOptimized);
  EXPECT_EQ(Policies(), std::set<std::string>{kOurs});
  EXPECT_GT(StatsOf(*policy).blocks_built, 0u);
  // All is written again, once; a filter and properties of another size aside.
  const uint64_t cost = Ticker(rocksdb::COMPACT_WRITE_BYTES) - written;
  EXPECT_GT(cost, live_bytes * 8 / 10);
  EXPECT_LT(cost, live_bytes * 12 / 10);
  ExpectCells();
}

TEST_F(Migration, FilesWithoutTheExtractorAreNotAskedByScans) {
  const auto policy = MakeFilterPolicy({.key_layout = kLayout});
  Open(policy, nullptr);
  WriteFiles();
  EXPECT_TRUE(IsFilterActive(db_.get()));
  EXPECT_GT(GetSkips(), uint64_t{kQuestions});
  ExpectCells();

  // The policy first, the extractor later: gets go on, scans wait.
  Open(policy, NewRowPrefixExtractor(kLayout));
  EXPECT_GT(GetSkips(), uint64_t{kQuestions});
  EXPECT_EQ(ScanQuestions(policy), 0u);
  ExpectCells();
  Compact(BottommostLevelCompaction::kForceOptimized);
  EXPECT_GT(ScanQuestions(policy), uint64_t{kQuestions} / 2);
  ExpectCells();
}

TEST_F(Migration, ExtractorBeforeThePolicyKeepsGetsFiltered) {
  for (const bool another : {false, true}) {
    SCOPED_TRACE(another ? "another extractor before" : "none before");
    Remove();
    Open(test::StockBloom(),
         another ? Extractor(rocksdb::NewCappedPrefixTransform(7)) : nullptr);
    WriteFiles();
    EXPECT_GT(GetSkips(), uint64_t{kQuestions});
    Open(test::StockBloom(), NewRowPrefixExtractor(kLayout));
    EXPECT_GT(GetSkips(), uint64_t{kQuestions});
    EXPECT_EQ(FilesAskedByScans(), 0u);
    ExpectCells();
    const auto policy = MakeFilterPolicy({.key_layout = kLayout});
    Open(policy, NewRowPrefixExtractor(kLayout));
    EXPECT_GT(GetSkips(), uint64_t{kQuestions});
    EXPECT_EQ(FilesAskedByScans(), 0u);
    EXPECT_EQ(StatsOf(*policy).asked, 0u) << "all files are RocksDB's still";
    ExpectCells();
    Compact(BottommostLevelCompaction::kForceOptimized);
    EXPECT_GT(FilesAskedByScans(), uint64_t{kQuestions} / 2);
  }
}

// Scans over many rows need total_order_seek as soon as there is an extractor,
// with RocksDB's own filters too.
TEST_F(Migration, ScansAcrossRowsNeedTotalOrderSeek) {
  for (const bool stock : {true, false}) {
    Remove();
    Open(stock ? test::StockBloom()
               : MakeFilterPolicy({.key_layout = kLayout}));
    WriteFiles();
    rocksdb::ReadOptions total;
    total.total_order_seek = true;
    int lost = 0;
    for (int row = 0; row < kRows.end; ++row) {
      const int following = (kRows.end - row - 1) * 2;
      ASSERT_EQ(CellsFrom(db_.get(), AbsentRow(row), total), following);
      if (CellsFrom(db_.get(), AbsentRow(row), {}) < following) ++lost;
    }
    EXPECT_GT(lost, kRows.end / 2) << "scans from absent rows, in prefix mode";
  }
}

TEST_F(Migration, FilesKeepTheirLayoutUntilTheyAreRewritten) {
  const auto old_policy = MakeFilterPolicy({.key_layout = kLayout});
  Open(old_policy, NewRowPrefixExtractor(kLayout));
  WriteFiles();
  // Rows of 7 bytes, without the delimiter.
  const KeyLayout other = KeyLayout::FixedRow(7);
  const auto policy = MakeFilterPolicy({.key_layout = other});
  Open(policy, NewRowPrefixExtractor(other));
  EXPECT_GT(GetSkips(), uint64_t{kQuestions})
      << "asked with the layout they name";
  EXPECT_EQ(ScanQuestions(policy), 0u) << "another extractor's rows";
  EXPECT_EQ(StatsOf(*policy).blocks_unusable, 0u);
  ExpectCells();
  Compact(BottommostLevelCompaction::kForceOptimized);
  EXPECT_GT(ScanQuestions(policy), 0u);
  ExpectCells();
}

TEST_F(Migration, FilesKeepTheirTypeUntilTheyAreRewritten) {
  const auto row_only =
      MakeFilterPolicy({.bloom_type = BloomType::kRow, .key_layout = kLayout});
  Open(row_only, NewRowPrefixExtractor(kLayout));
  WriteFiles();
  const auto row_col = MakeFilterPolicy({.key_layout = kLayout});
  Open(row_col, NewRowPrefixExtractor(kLayout));
  ExpectCells();
  EXPECT_GT(StatsOf(*row_col).row.skipped, 0u);
  EXPECT_EQ(StatsOf(*row_col).row_col.checked, 0u);
  Compact(BottommostLevelCompaction::kForceOptimized);
  ExpectCells();
  EXPECT_GT(StatsOf(*row_col).row_col.skipped, 0u);
}

// Gets of keys that a layout does not fit skip files as with RocksDB's filters;
// that they have no row shows in the counters.
TEST_F(Migration, KeysWithoutARowAreIndexedWhole) {
  const KeyLayout other = KeyLayout::Delimited('|');
  const auto policy = MakeFilterPolicy({.key_layout = other});
  Open(policy, NewRowPrefixExtractor(other));
  WriteFiles();
  EXPECT_TRUE(IsFilterActive(db_.get())) << "it cannot see the keys";
  EXPECT_GT(GetSkips(), 0u);
  const FilterStats stats = StatsOf(*policy);
  EXPECT_EQ(stats.row.checked, 0u);
  EXPECT_EQ(stats.row_col.checked, stats.asked);
  EXPECT_LT(stats.may_match, stats.asked / 10);
  std::string value;
  for (int row = 0; row < kRows.end; ++row) {
    ExpectOk(db_->Get({}, Row(row) + "a", &value));
  }
}

// Without an extractor RocksDB ignores prefix_same_as_start: a scan that leaves
// its end to the iterator then reads other rows, one that looks at its keys is
// right before, with and after rowbloom.
TEST_F(Migration, ScansThatWatchTheirRowSurviveTheExtractor) {
  for (const bool extractor : {true, false}) {
    Open(extractor ? MakeFilterPolicy({.key_layout = kLayout}) : nullptr,
         extractor ? NewRowPrefixExtractor(kLayout) : nullptr);
    if (extractor) WriteFiles();
    EXPECT_EQ(CellsOf(Row(0)), extractor ? 2 : 2 * kRows.end);
    for (int row = 0; row < kRows.end; ++row) {
      for (const std::string& start : {Row(row), AbsentRow(row)}) {
        const std::unique_ptr<rocksdb::Iterator> it(
            db_->NewIterator(test::SamePrefix()));
        int cells = 0;
        for (it->Seek(start); it->Valid() && it->key().starts_with(start);
             it->Next()) {
          ++cells;
        }
        ASSERT_EQ(cells, start == Row(row) ? 2 : 0) << start;
      }
    }
  }
}

}  // namespace
}  // namespace rowbloom::migration_test
