// What an engineer does to a database in use, step by step: the extractor and
// the policy come, files are rewritten, layout and type change, rowbloom goes.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

using rocksdb::BottommostLevelCompaction;
using test::ExpectOk;
using test::MakeFilterPolicy;
using test::OpenDb;
using test::StatsOf;
using test::TempDir;
using test::TestDbOptions;

const KeyLayout kLayout = KeyLayout::Delimited(':');
constexpr char kOurs[] =
    "rowbloom.filter:ROWCOL:bloom:0.01:0:uniform:delimited::";
constexpr char kStock[] = "bloomfilter";
constexpr int kFiles = 4;
constexpr int kRows = 400;

using Policy = std::shared_ptr<const rocksdb::FilterPolicy>;
using Extractor = std::shared_ptr<const rocksdb::SliceTransform>;

// Odd rows are in no file.
std::string Row(int row) { return "row" + std::to_string(1000 + row) + ":"; }

class Migration : public testing::Test {
 protected:
  static Policy Stock() { return Policy(rocksdb::NewBloomFilterPolicy(10)); }

  void Open(const Policy& policy, const Extractor& extractor) {
    options_ = TestDbOptions({policy, extractor});
    db_.reset();
    db_ = OpenDb(options_, dir_.File("db"));
  }
  // Each even row in one file, whose ranges overlap, with the columns a and b.
  void WriteFiles() {
    for (int file = 0; file < kFiles; ++file) {
      for (int row = 2 * file; row < kRows; row += 2 * kFiles) {
        ExpectOk(db_->Put({}, Row(row) + "a", "v"));
        ExpectOk(db_->Put({}, Row(row) + "b", "v"));
      }
      ExpectOk(db_->Flush({}));
    }
  }
  void Compact(BottommostLevelCompaction bottommost) {
    rocksdb::CompactRangeOptions compact;
    compact.bottommost_level_compaction = bottommost;
    ExpectOk(db_->CompactRange(compact, nullptr, nullptr));
  }
  int Cells(const rocksdb::ReadOptions& read, const std::string& from) {
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read));
    int cells = 0;
    for (it->Seek(from); it->Valid(); it->Next()) ++cells;
    ExpectOk(it->status());
    return cells;
  }
  // Every get and row scan is right, whatever filters there are.
  void ExpectCells() {
    rocksdb::ReadOptions scan;
    scan.prefix_same_as_start = true;
    std::string value;
    for (int row = 0; row < kRows; ++row) {
      const bool present = row % 2 == 0;
      ASSERT_EQ(db_->Get({}, Row(row) + "b", &value).ok(), present) << row;
      ASSERT_TRUE(db_->Get({}, Row(row) + "c", &value).IsNotFound());
      if (options_.prefix_extractor != nullptr) {
        ASSERT_EQ(Cells(scan, Row(row)), present ? 2 : 0) << row;
      }
    }
  }
  // Files that filters ruled out for gets of all absent rows.
  uint64_t GetSkips() {
    const uint64_t before =
        options_.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL);
    std::string value;
    for (int row = 1; row < kRows; row += 2) {
      EXPECT_TRUE(db_->Get({}, Row(row) + "a", &value).IsNotFound());
    }
    return options_.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL) -
           before;
  }
  // Questions that row scans of all rows asked of rowbloom's filters.
  uint64_t ScanQuestions(const Policy& policy) {
    const uint64_t before = StatsOf(*policy).asked;
    rocksdb::ReadOptions scan;
    scan.prefix_same_as_start = true;
    for (int row = 0; row < kRows; ++row) {
      EXPECT_EQ(Cells(scan, Row(row)), row % 2 == 0 ? 2 : 0);
    }
    return StatsOf(*policy).asked - before;
  }
  // Filters of any policy that they asked, as RocksDB counts.
  uint64_t FilesAskedByScans() {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::PerfContext* counters = rocksdb::get_perf_context();
    counters->Reset();
    rocksdb::ReadOptions scan;
    scan.prefix_same_as_start = true;
    for (int row = 0; row < kRows; ++row) Cells(scan, Row(row));
    const uint64_t asked =
        counters->bloom_sst_hit_count + counters->bloom_sst_miss_count;
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    return asked;
  }
  std::set<std::string> PolicyNames() {
    rocksdb::TablePropertiesCollection properties;
    ExpectOk(db_->GetPropertiesOfAllTables(&properties));
    std::set<std::string> names;
    for (const auto& [file, table] : properties) {
      names.insert(table->filter_policy_name);
    }
    return names;
  }

  TempDir dir_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
};

// What a plain CompactRange does to the last level: nothing.
TEST_F(Migration, OldFilesOfTheLastLevelWaitForAForcedCompaction) {
  Open(Stock(), NewRowPrefixExtractor(kLayout));
  WriteFiles();
  Compact(BottommostLevelCompaction::kIfHaveCompactionFilter);
  const auto policy = MakeFilterPolicy({.key_layout = kLayout});
  Open(policy, NewRowPrefixExtractor(kLayout));
  EXPECT_EQ(PolicyNames(), std::set<std::string>{kStock});
  Compact(BottommostLevelCompaction::kIfHaveCompactionFilter);
  EXPECT_EQ(PolicyNames(), std::set<std::string>{kStock});
  EXPECT_EQ(StatsOf(*policy).blocks_built, 0u);

  uint64_t live_bytes = 0;
  ASSERT_TRUE(db_->GetIntProperty(rocksdb::DB::Properties::kLiveSstFilesSize,
                                  &live_bytes));
  const auto ticker = [&](rocksdb::Tickers which) {
    return options_.statistics->getTickerCount(which);
  };
  const uint64_t written = ticker(rocksdb::COMPACT_WRITE_BYTES);
  Compact(BottommostLevelCompaction::kForceOptimized);
  EXPECT_EQ(PolicyNames(), std::set<std::string>{kOurs});
  EXPECT_GT(StatsOf(*policy).blocks_built, 0u);
  // All is written again, once; a filter and properties of another size aside.
  const uint64_t cost = ticker(rocksdb::COMPACT_WRITE_BYTES) - written;
  EXPECT_GT(cost, live_bytes * 8 / 10);
  EXPECT_LT(cost, live_bytes * 12 / 10);
  ExpectCells();
}

TEST_F(Migration, FilesWithoutTheExtractorAreNotAskedByScans) {
  const auto policy = MakeFilterPolicy({.key_layout = kLayout});
  Open(policy, nullptr);
  WriteFiles();
  EXPECT_TRUE(IsFilterActive(db_.get()));
  EXPECT_GT(GetSkips(), uint64_t{kRows});
  ExpectCells();

  // The policy first, the extractor later: gets go on, scans wait.
  Open(policy, NewRowPrefixExtractor(kLayout));
  EXPECT_GT(GetSkips(), uint64_t{kRows});
  EXPECT_EQ(ScanQuestions(policy), 0u);
  ExpectCells();
  Compact(BottommostLevelCompaction::kForceOptimized);
  EXPECT_GT(ScanQuestions(policy), uint64_t{kRows} / 2);
  ExpectCells();
}

TEST_F(Migration, ExtractorBeforeThePolicyKeepsGetsFiltered) {
  for (const bool another : {false, true}) {
    SCOPED_TRACE(another ? "another extractor before" : "none before");
    TempDir dir;
    const auto open = [&](const Policy& policy, const Extractor& extractor) {
      options_ = TestDbOptions({policy, extractor});
      db_.reset();
      db_ = OpenDb(options_, dir.File("db"));
    };
    open(Stock(),
         another ? Extractor(rocksdb::NewCappedPrefixTransform(7)) : nullptr);
    WriteFiles();
    EXPECT_GT(GetSkips(), uint64_t{kRows});
    open(Stock(), NewRowPrefixExtractor(kLayout));
    EXPECT_GT(GetSkips(), uint64_t{kRows});
    EXPECT_EQ(FilesAskedByScans(), 0u);
    ExpectCells();
    const auto policy = MakeFilterPolicy({.key_layout = kLayout});
    open(policy, NewRowPrefixExtractor(kLayout));
    EXPECT_GT(GetSkips(), uint64_t{kRows});
    EXPECT_EQ(FilesAskedByScans(), 0u);
    EXPECT_EQ(StatsOf(*policy).asked, 0u) << "all files are RocksDB's still";
    ExpectCells();
    Compact(BottommostLevelCompaction::kForceOptimized);
    EXPECT_GT(FilesAskedByScans(), uint64_t{kRows} / 2);
    db_.reset();
  }
}

// What scans over many rows need as soon as there is an extractor, with
// RocksDB's own filters too.
TEST_F(Migration, ScansAcrossRowsNeedTotalOrderSeek) {
  for (const bool stock : {true, false}) {
    TempDir dir;
    options_ = TestDbOptions(
        {stock ? Stock() : MakeFilterPolicy({.key_layout = kLayout}),
         NewRowPrefixExtractor(kLayout)});
    db_ = OpenDb(options_, dir.File("db"));
    WriteFiles();
    rocksdb::ReadOptions total;
    total.total_order_seek = true;
    int lost = 0;
    for (int row = 1; row < kRows; row += 2) {
      const int following = (kRows - row - 1) / 2 * 2;
      ASSERT_EQ(Cells(total, Row(row)), following);
      if (Cells({}, Row(row)) < following) ++lost;
    }
    EXPECT_GT(lost, kRows / 4) << "scans from absent rows, in prefix mode";
    db_.reset();
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
  EXPECT_GT(GetSkips(), uint64_t{kRows}) << "asked with the layout they name";
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
  for (int row = 0; row < kRows; row += 2) {
    ExpectOk(db_->Get({}, Row(row) + "a", &value));
  }
}

// Without an extractor RocksDB ignores prefix_same_as_start: a scan that leaves
// its end to the iterator then reads other rows, one that looks at its keys is
// right before, with and after rowbloom.
TEST_F(Migration, ScansThatWatchTheirRowSurviveTheExtractor) {
  rocksdb::ReadOptions scan;
  scan.prefix_same_as_start = true;
  for (const bool extractor : {true, false}) {
    Open(extractor ? MakeFilterPolicy({.key_layout = kLayout}) : nullptr,
         extractor ? NewRowPrefixExtractor(kLayout) : nullptr);
    if (extractor) WriteFiles();
    EXPECT_EQ(Cells(scan, Row(0)), extractor ? 2 : kRows);
    for (int row = 0; row < kRows; ++row) {
      const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(scan));
      int cells = 0;
      for (it->Seek(Row(row)); it->Valid() && it->key().starts_with(Row(row));
           it->Next()) {
        ++cells;
      }
      ASSERT_EQ(cells, row % 2 == 0 ? 2 : 0) << row;
    }
  }
}

}  // namespace
}  // namespace rowbloom
