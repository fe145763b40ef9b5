// FilterStats counts what happened, by column family and level. With
// NewFilterStatistics it also counts wasted reads of files.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/statistics.h"
#include "rowbloom/bloom_math.h"
#include "storage/filter_policy/filter_counters.h"
#include "tests/storage/filter_policy/filtered_db.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

using test::ExpectOk;
using test::kLayout;
using test::MakeFilterPolicy;
using test::Row;
using test::StatsOf;
using test::TestDbOptions;

constexpr int kFiles = 8;
constexpr int kRows = 4000;
// Odd numbers are left out.
const test::Rows kWritten = {.end = kRows, .step = 2, .files = kFiles};
constexpr double kRate = 0.1;  // false positives are plenty

class FilterStatsTest : public test::FilteredDb {
 protected:
  explicit FilterStatsTest(BloomType type = BloomType::kRowCol)
      : policy_(MakeFilterPolicy({.bloom_type = type,
                                  .key_layout = kLayout,
                                  .false_positive_rate = kRate})),
        inner_(rocksdb::CreateDBStatistics()) {}

  void Open(bool partitioned = false) {
    rocksdb::Options options =
        TestDbOptions({policy_, NewRowPrefixExtractor(kLayout), partitioned});
    options.statistics = NewFilterStatistics(inner_);
    FilteredDb::Open(options);
  }
  void WriteFiles() { Write(kWritten); }
  // Makes a new database with files. All counters begin at 0.
  void BeginAnew(bool partitioned) {
    policy_ =
        MakeFilterPolicy({.key_layout = kLayout, .false_positive_rate = kRate});
    inner_ = rocksdb::CreateDBStatistics();
    Remove();
    Open(partitioned);
    WriteFiles();
  }
  uint64_t Ticker(rocksdb::Tickers ticker) const {
    return inner_->getTickerCount(ticker);
  }
  // The rate is within five standard deviations of `questions` trials at the
  // rate that is predicted for sections of `keys` keys.
  static void ExpectRate(const SectionStats& section, uint64_t questions,
                         uint64_t keys) {
    EXPECT_EQ(section.false_positives + section.true_negatives, questions);
    const double bits_per_key = BitsPerKey(kRate);
    const auto blocks = static_cast<uint64_t>(
        std::ceil(static_cast<double>(keys) * bits_per_key / kBloomBlockBits));
    const double rate =
        BlockedFalsePositiveRate(keys, blocks, BestProbes(bits_per_key));
    const double deviation =
        std::sqrt(rate * (1 - rate) / static_cast<double>(questions));
    EXPECT_NEAR(section.FalsePositiveRate(), rate, 5 * deviation);
    EXPECT_GT(section.false_positives, 0u);
  }

  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::shared_ptr<rocksdb::Statistics> inner_;
};

TEST_F(FilterStatsTest, GetsTellTrueFromFalsePositives) {
  for (const bool partitioned : {false, true}) {
    SCOPED_TRACE(partitioned ? "partitioned" : "full");
    BeginAnew(partitioned);
    std::string value;
    uint64_t absent = 0;
    for (int row = 0; row < kRows; row += 2) {
      ExpectOk(db_->Get({}, Row(row) + "a", &value));
      // Some thousand files hold the row and not the column.
      EXPECT_TRUE(db_->Get({}, Row(row) + "absent", &value).IsNotFound());
      EXPECT_TRUE(db_->Get({}, Row(row + 1) + "a", &value).IsNotFound());
      ++absent;
    }
    const FilterStats stats = StatsOf(*policy_);
    const uint64_t positives = Ticker(rocksdb::BLOOM_FILTER_FULL_POSITIVE);
    const uint64_t found = Ticker(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
    EXPECT_EQ(found, uint64_t{kRows} / 2);
    EXPECT_EQ(stats.row_col.true_positives, found);
    EXPECT_EQ(stats.row_col.false_positives, positives - found);
    EXPECT_EQ(stats.row_col.true_negatives, stats.row_col.skipped);
    EXPECT_GT(stats.row_col.skipped, absent / 2);
    if (!partitioned) {
      ExpectRate(stats.row_col, stats.row_col.checked - found, kRows / kFiles);
    }
    // ROW never had the last word on a cell.
    EXPECT_EQ(stats.row.true_positives, 0u);
    EXPECT_EQ(stats.row.false_positives, 0u);
    EXPECT_EQ(stats.row.true_negatives, 0u);
    EXPECT_GT(stats.row.skipped, absent * kFiles);
    db_.reset();
  }
}

TEST_F(FilterStatsTest, MultiGetsTellTheSameAsGets) {
  std::vector<std::string> keys;
  for (int row = 0; row < kRows; ++row) {
    keys.push_back(Row(row) + (row % 6 == 0 ? "absent" : "a"));
  }
  // A MultiGet may look up keys in several partitions of a filter.
  for (const bool partitioned : {false, true}) {
    SCOPED_TRACE(partitioned ? "partitioned" : "full");
    BeginAnew(partitioned);
    std::string value;
    for (const std::string& key : keys) db_->Get({}, key, &value);
    const FilterStats one_by_one = StatsOf(*policy_);
    const uint64_t found = Ticker(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
    EXPECT_GT(found, 0u);
    EXPECT_EQ(one_by_one.row_col.true_positives, found);

    constexpr size_t kBatch = 100;
    std::vector<std::string> values;
    for (size_t start = 0; start < keys.size(); start += kBatch) {
      test::MultiGet(db_.get(),
                     {keys.begin() + start, keys.begin() + start + kBatch},
                     &values);
    }
    const FilterStats both = StatsOf(*policy_);
    EXPECT_EQ(both.asked, 2 * one_by_one.asked);
    EXPECT_EQ(both.may_match, 2 * one_by_one.may_match);
    EXPECT_EQ(both.row_col.true_positives,
              2 * one_by_one.row_col.true_positives);
    EXPECT_EQ(both.row_col.false_positives,
              2 * one_by_one.row_col.false_positives);
    EXPECT_EQ(both.row_col.true_negatives,
              2 * one_by_one.row_col.true_negatives);
  }
}

TEST_F(FilterStatsTest, GetsWithoutWholeKeysCountForTheRow) {
  rocksdb::Options options =
      TestDbOptions({policy_, NewRowPrefixExtractor(kLayout),
                     /*partitioned=*/false, /*whole_key_filtering=*/false});
  options.statistics = NewFilterStatistics(inner_);
  FilteredDb::Open(options);
  WriteFiles();
  std::string value;
  for (int row = 0; row < kRows; ++row) db_->Get({}, Row(row) + "a", &value);
  const FilterStats stats = StatsOf(*policy_);
  EXPECT_EQ(stats.row.true_positives, uint64_t{kRows} / 2);
  EXPECT_EQ(stats.row.true_positives + stats.row.false_positives,
            stats.may_match);
  EXPECT_EQ(stats.row.true_negatives, stats.row.skipped);
}

TEST_F(FilterStatsTest, BareRowsOfAMultiGetAreNoTruePositivesOfCells) {
  Open();
  ExpectOk(db_->Put({}, Row(0), "v"));
  ExpectOk(db_->Put({}, Row(0) + "a", "v"));
  ExpectOk(db_->Flush({}));
  std::vector<std::string> values;
  test::MultiGet(db_.get(), {Row(0), Row(0) + "a"}, &values);
  EXPECT_EQ(values, (std::vector<std::string>{"v", "v"}));
  EXPECT_EQ(StatsOf(*policy_).row_col.true_positives, 0u);
  std::string value;
  ExpectOk(db_->Get({}, Row(0), &value));
  ExpectOk(db_->Get({}, Row(0) + "a", &value));
  const FilterStats stats = StatsOf(*policy_);
  EXPECT_EQ(stats.row_col.true_positives, 1u);
  EXPECT_EQ(stats.row_col.false_positives, 0u);
}

TEST_F(FilterStatsTest, AllElseIsThatOfTheOtherStatistics) {
  constexpr uint32_t kTicker = rocksdb::BYTES_READ;
  constexpr uint32_t kHistogram = rocksdb::DB_GET;
  const auto outer = NewFilterStatistics(inner_);
  outer->setTickerCount(kTicker, 7);
  EXPECT_EQ(inner_->getTickerCount(kTicker), 7u);
  outer->recordTick(kTicker, 2);
  EXPECT_EQ(outer->getTickerCount(kTicker), 9u);
  std::map<std::string, uint64_t> tickers;
  EXPECT_TRUE(outer->getTickerMap(&tickers));
  EXPECT_EQ(tickers["rocksdb.bytes.read"], 9u);
  EXPECT_EQ(outer->getAndResetTickerCount(kTicker), 9u);
  EXPECT_EQ(inner_->getTickerCount(kTicker), 0u);
  outer->recordInHistogram(kHistogram, 5);
  rocksdb::HistogramData data;
  outer->histogramData(kHistogram, &data);
  EXPECT_EQ(data.count, 1u);
  EXPECT_EQ(outer->getHistogramString(kHistogram),
            inner_->getHistogramString(kHistogram));
  EXPECT_EQ(outer->ToString(), inner_->ToString());
  ExpectOk(outer->Reset());
  inner_->histogramData(kHistogram, &data);
  EXPECT_EQ(data.count, 0u);
}

TEST_F(FilterStatsTest, RowScansThatFindNothingTellTheRateOfRow) {
  Open();
  WriteFiles();
  const auto scan = test::SamePrefix();
  uint64_t scans = 0;
  for (int row = 1; row < kRows - 2 * kFiles; row += 2) {
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(scan));
    if (row % 4 == 1) {
      it->Seek(Row(row));
    } else {
      it->SeekForPrev(Row(row) + "\xff");
    }
    EXPECT_FALSE(it->Valid());
    ++scans;
  }
  // The outcome of a scan is known at the next read of its thread.
  std::string value;
  db_->Get({}, "outside the layout", &value);
  const FilterStats stats = StatsOf(*policy_);
  EXPECT_EQ(stats.row.true_negatives, stats.row.skipped);
  EXPECT_EQ(stats.row.true_positives, 0u);
  // A file whose keys all lie before or behind the row is not probed.
  EXPECT_NEAR(static_cast<double>(stats.row.checked),
              static_cast<double>(scans * kFiles), 2.0 * kFiles);
  ExpectRate(stats.row, stats.row.checked, kRows / 2 / kFiles);
}

TEST_F(FilterStatsTest, RowScansOfOneFileTellTruePositives) {
  Open();
  WriteFiles();
  uint64_t of_one_file = 0;
  for (int row = 0; row < kRows; row += 2) {
    const uint64_t before = StatsOf(*policy_).may_match;
    const std::unique_ptr<rocksdb::Iterator> it(
        db_->NewIterator(test::SamePrefix()));
    it->Seek(Row(row));
    EXPECT_TRUE(it->Valid());
    if (StatsOf(*policy_).may_match == before + 1) ++of_one_file;
  }
  const FilterStats stats = StatsOf(*policy_);
  EXPECT_GT(of_one_file, uint64_t{kRows} / 10);
  EXPECT_LT(of_one_file, uint64_t{kRows} / 2);
  EXPECT_EQ(stats.row.true_positives, of_one_file);
  EXPECT_EQ(stats.row.false_positives, 0u);
  EXPECT_EQ(stats.row.true_negatives, 0u);
}

// Versions of one key make an iterator seek again within a step: this lookup is
// no user's seek.
TEST_F(FilterStatsTest, ReseeksAreNotTakenForSeeks) {
  Open();
  std::list<rocksdb::ManagedSnapshot> snapshots;
  for (int file = 0; file < kFiles; ++file) {
    for (int version = 0; version < 20; ++version) {
      ExpectOk(db_->Put({}, Row(0) + "a", std::to_string(version)));
      snapshots.emplace_back(db_.get());  // keeps the version
    }
    ExpectOk(db_->Put({}, Row(0) + "b", "v"));
    ExpectOk(db_->Flush({}));
  }
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(test::SamePrefix()));
  it->Seek(Row(0));
  ASSERT_TRUE(it->Valid());
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), Row(0) + "b");
  it->Next();
  EXPECT_FALSE(it->Valid());
  std::string value;
  db_->Get({}, "outside the layout", &value);
  const FilterStats stats = StatsOf(*policy_);
  EXPECT_GT(Ticker(rocksdb::NUMBER_OF_RESEEKS_IN_ITERATION), 0u);
  EXPECT_GT(stats.row.checked, uint64_t{kFiles});
  EXPECT_EQ(stats.row.false_positives, 0u);
}

class RowFilterStats : public FilterStatsTest {
 protected:
  RowFilterStats() : FilterStatsTest(BloomType::kRow) {}
};

TEST_F(RowFilterStats, AbsentColumnOfAPresentRowIsOpenedInVain) {
  Open();
  WriteFiles();
  std::string value;
  for (int row = 0; row < kRows; row += 2) {
    EXPECT_TRUE(db_->Get({}, Row(row) + "absent", &value).IsNotFound());
  }
  const FilterStats stats = StatsOf(*policy_);
  EXPECT_EQ(stats.row_col.checked, 0u);
  EXPECT_EQ(stats.row.true_positives, 0u);
  EXPECT_EQ(stats.row.false_positives, stats.may_match);
  EXPECT_GE(stats.row.false_positives, uint64_t{kRows} / 2);
  EXPECT_EQ(stats.row.true_negatives, stats.row.skipped);
}

TEST_F(FilterStatsTest, LevelsAreToldApart) {
  Open();
  rocksdb::ColumnFamilyHandle* created = nullptr;
  ExpectOk(db_->CreateColumnFamily(
      rocksdb::ColumnFamilyOptions(db_->GetOptions()), "users", &created));
  const std::unique_ptr<rocksdb::ColumnFamilyHandle> users(created);
  ExpectOk(db_->Put({}, "a:x", "v"));
  ExpectOk(db_->Flush({}));
  ExpectOk(db_->Put({}, users.get(), "a:x", "v"));
  ExpectOk(db_->Flush({}, users.get()));
  rocksdb::CompactRangeOptions compact;
  compact.change_level = true;
  compact.target_level = 3;
  compact.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForce;
  ExpectOk(db_->CompactRange(compact, users.get(), nullptr, nullptr));
  std::string value;
  ExpectOk(db_->Get({}, "a:x", &value));
  for (int i = 0; i < 3; ++i)
    ExpectOk(db_->Get({}, users.get(), "a:x", &value));

  std::vector<LevelFilterStats> levels;
  ExpectOk(GetFilterStats(*policy_, &levels));
  std::map<int, FilterStats> by_level;
  FilterStats sum;
  for (const LevelFilterStats& level : levels) {
    EXPECT_TRUE(by_level.emplace(level.level, level.stats).second);
    sum += level.stats;
  }
  ASSERT_EQ(by_level.count(0), 1u);
  EXPECT_EQ(by_level[0].asked, 1u);
  EXPECT_EQ(by_level[0].blocks_built, 2u) << "of both families";
  uint64_t asked_below = 0;
  for (const auto& [level, stats] : by_level) {
    if (level <= 0) continue;
    asked_below += stats.asked;
    EXPECT_EQ(stats.blocks_built, 1u) << "level " << level;
    EXPECT_EQ(stats.row_col.true_positives, 3u);
  }
  EXPECT_EQ(asked_below, 3u);
  const FilterStats total = StatsOf(*policy_);
  EXPECT_EQ(sum.asked, total.asked);
  EXPECT_EQ(sum.blocks_built, total.blocks_built);
  EXPECT_EQ(sum.row_col.true_positives, total.row_col.true_positives);
  EXPECT_EQ(total.row_col.true_positives, 4u);
}

TEST_F(FilterStatsTest, BuildTimeAndLoadedBytesAreCounted) {
  Open();
  WriteFiles();
  std::string value;
  ExpectOk(db_->Get({}, Row(0) + "a", &value));
  const FilterStats open = StatsOf(*policy_);
  EXPECT_EQ(open.blocks_built, uint64_t{kFiles});
  EXPECT_GT(open.build_nanos, 0u);
  EXPECT_EQ(open.bytes_loaded, open.bytes_built);
  db_.reset();
  EXPECT_EQ(StatsOf(*policy_).bytes_loaded, 0u);
}

TEST_F(FilterStatsTest, EachThreadKnowsItsOwnAnswers) {
  Open();
  WriteFiles();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, thread] {
      std::string value;
      for (int row = thread; row < kRows; row += 4) {
        db_->Get({}, Row(row) + "a", &value);
        const std::unique_ptr<rocksdb::Iterator> it(
            db_->NewIterator(test::SamePrefix()));
        it->Seek(Row(row));
      }
      db_->Get({}, "outside the layout", &value);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const FilterStats stats = StatsOf(*policy_);
  EXPECT_EQ(stats.row_col.true_positives, uint64_t{kRows} / 2);
  EXPECT_EQ(stats.row_col.true_positives,
            Ticker(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE));
  EXPECT_EQ(stats.row_col.false_positives,
            Ticker(rocksdb::BLOOM_FILTER_FULL_POSITIVE) -
                Ticker(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE));
  EXPECT_GT(stats.row.true_positives, 0u);
  EXPECT_GT(stats.row.false_positives, 0u);
}

TEST_F(FilterStatsTest, InnerStatisticsSeeAll) {
  Open();
  WriteFiles();
  std::string value;
  ExpectOk(db_->Get({}, Row(0) + "a", &value));
  const std::shared_ptr<rocksdb::Statistics> outer =
      db_->GetDBOptions().statistics;
  ASSERT_NE(outer, nullptr);
  EXPECT_STREQ(outer->Name(), "rowbloom.FilterStatistics");
  // Threads of an open database count files that they delete at any time.
  db_.reset();
  EXPECT_GT(outer->getTickerCount(rocksdb::NUMBER_KEYS_READ), 0u);
  EXPECT_EQ(outer->getTickerCount(rocksdb::NUMBER_KEYS_READ),
            Ticker(rocksdb::NUMBER_KEYS_READ));
  EXPECT_EQ(outer->ToString(), inner_->ToString());
  std::map<std::string, uint64_t> tickers;
  EXPECT_TRUE(outer->getTickerMap(&tickers));
  EXPECT_FALSE(tickers.empty());
  rocksdb::HistogramData get;
  outer->histogramData(rocksdb::DB_GET, &get);
  EXPECT_GT(get.count, 0u);
  EXPECT_EQ(outer->getHistogramString(rocksdb::DB_GET),
            inner_->getHistogramString(rocksdb::DB_GET));
  ExpectOk(outer->Reset());
  EXPECT_EQ(Ticker(rocksdb::NUMBER_KEYS_READ), 0u);
}

TEST_F(FilterStatsTest, NoInnerStatisticsAreNeeded) {
  inner_ = nullptr;
  Open();
  WriteFiles();
  std::string value;
  ExpectOk(db_->Get({}, Row(0) + "a", &value));
  EXPECT_EQ(StatsOf(*policy_).row_col.true_positives, 1u);
  const std::shared_ptr<rocksdb::Statistics> outer =
      db_->GetDBOptions().statistics;
  EXPECT_EQ(outer->getTickerCount(rocksdb::NUMBER_KEYS_READ), 0u);
  EXPECT_EQ(outer->ToString(), "");
  ExpectOk(outer->Reset());
}

TEST(FilterCounters, AreUsedAgainAndStartAtZero) {
  LevelCounters* first = nullptr;
  {
    FilterCounters counters;
    first = counters.At(1);
    first->CountAnswer(Lookup(), MatchResult(Verdict::kMayMatch));
    first->CountBuilt(10, std::chrono::nanoseconds(20));
    EXPECT_EQ(first->Read().asked, 1u);
  }
  FilterCounters counters;
  LevelCounters* again = counters.At(2);
  EXPECT_EQ(again, first);
  EXPECT_EQ(again->Read().asked, 0u);
  EXPECT_EQ(again->Read().bytes_built, 0u);
}

}  // namespace
}  // namespace rowbloom
