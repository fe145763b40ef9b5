// The claims of rowbloom against RocksDB's own filter hold; read_bench, which
// measures them, compares like with like, and its check can fail.
#include "bench/read_bench.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/cells.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::bench {
namespace {

using rowbloom::test::Scaled;
using rowbloom::test::SeedFromEnv;
using rowbloom::test::TempDir;

constexpr uint64_t kQuestions = 16'000;

// Benches reads of these cells, which must all differ.
rocksdb::Status BenchCells(std::vector<InputCell> input, const TempDir& dir,
                           ReadBenchOptions options,
                           std::vector<ShapeResult>* results) {
  Cells cells;
  uint64_t replaced = 0;
  const rocksdb::Status status = cells.Fill(std::move(input), &replaced);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(replaced, 0u);
  options.db_dir = dir.path().string();
  return BenchReads(cells, options, results);
}

std::vector<ShapeResult> Measure(Tree tree, uint64_t columns, uint64_t fewest,
                                 uint64_t seed,
                                 const std::vector<Caching>& cachings = {
                                     kAllCachings.begin(),
                                     kAllCachings.end()}) {
  ReadBenchOptions options;
  options.tree = tree;
  options.cachings = cachings;
  options.questions = kQuestions;
  options.seconds = 0;
  options.seed = seed;
  std::vector<ShapeResult> results;
  const rocksdb::Status status = BenchCells(
      SyntheticCells(4000, columns, fewest), TempDir(), options, &results);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(results.size(), cachings.size());
  return results;
}

class EachTree : public testing::TestWithParam<Tree> {};

TEST_P(EachTree, IsReadWithEveryFilter) {
  const Tree tree = GetParam();
  const std::vector<ShapeResult> results = Measure(tree, 12, 12, SeedFromEnv());
  ASSERT_EQ(results.size(), 2u);
  for (const ShapeResult& result : results) {
    SCOPED_TRACE(ToString(result.caching));
    EXPECT_EQ(result.tree, tree);
    EXPECT_EQ(result.files, tree == Tree::kFiveLevels ? 16 : tree.level0);
    ASSERT_EQ(result.filters.size(), kAllFilters.size());
    for (const ReadsOfFilter& filter : result.filters) {
      SCOPED_TRACE(ToString(filter.filter));
      EXPECT_EQ(filter.filter_bytes == 0, filter.filter == Filter::kNone);
      for (const Read read : kAllReads) {
        SCOPED_TRACE(ToString(read));
        const ReadResult& own = filter[read];
        EXPECT_GT(own.operations, 0u);
        EXPECT_GE(own.files_considered, own.found + own.wasted_reads);
        EXPECT_EQ(own.found > 0, read == Read::kGetPresent ||
                                     read == Read::kBatchPresent ||
                                     read == Read::kColumnsPresent);
        EXPECT_GE(own.blocks, own.blocks_read);
        EXPECT_GT(own.median_us, 0);
        EXPECT_GE(own.p99_us, own.median_us);
        EXPECT_GT(own.turns.cpu_ratio.value, 0);
        EXPECT_GT(own.turns.wall_ratio.value, 0);
        const bool probed = result.caching == Caching::kAll &&
                            KeysOf(read) == 1 && read != Read::kScanAbsentRow &&
                            filter.filter != Filter::kNone;
        EXPECT_EQ(own.probe_nanos > 0, probed);
      }
      EXPECT_EQ(filter[Read::kGetPresent].found,
                filter[Read::kGetPresent].operations);
    }
    EXPECT_EQ(result[Filter::kStock][Read::kGetPresent].turns.cpu_ratio.value,
              1);
    // The same keys, looked up one by one and in batches.
    for (const Filter filter : kAllFilters) {
      EXPECT_EQ(result[filter][Read::kGetAbsentRow].wasted_reads,
                result[filter][Read::kBatchAbsentRow].wasted_reads);
      EXPECT_EQ(result[filter][Read::kGetPresent].wasted_reads,
                result[filter][Read::kBatchPresent].wasted_reads);
    }
    // The control differs in where it lies alone.
    EXPECT_EQ(result[Filter::kStockAgain].filter_bytes,
              result[Filter::kStock].filter_bytes);
    for (const Read read : kAllReads) {
      EXPECT_EQ(result[Filter::kStockAgain][read].wasted_reads,
                result[Filter::kStock][read].wasted_reads);
    }
    // Filters are probed, and worth it.
    const ReadResult& none = result[Filter::kNone][Read::kGetAbsentRow];
    EXPECT_GT(none.wasted_reads, kQuestions / 2);
    EXPECT_GT(none.blocks, 0);
    for (const Filter filter : {Filter::kStock, Filter::kStockKey,
                                Filter::kStockRibbon, Filter::kRowbloom}) {
      EXPECT_LT(10 * result[filter][Read::kGetAbsentRow].wasted_reads,
                none.wasted_reads);
    }
  }
  // Blocks are read where the cache is too small for them, and nowhere else.
  EXPECT_EQ(results[0][Filter::kNone][Read::kGetPresent].blocks_read, 0);
  EXPECT_GT(results[1][Filter::kNone][Read::kGetPresent].blocks_read, 0);
}

INSTANTIATE_TEST_SUITE_P(ReadBench, EachTree, testing::ValuesIn(kAllTrees),
                         [](const auto& tree) { return ToString(tree.param); });

TEST(ReadBench, NarrowRowsAskForColumnsThatTheyDoNotHave) {
  const std::vector<ShapeResult> results =
      Measure(Tree::kEight, 2, 1, SeedFromEnv());
  ASSERT_EQ(results.size(), 2u);
  const ReadResult& columns =
      results[0][Filter::kRowbloom][Read::kColumnsPresent];
  EXPECT_GT(columns.found, columns.operations);
  EXPECT_LT(columns.found, 2 * columns.operations);
}

// The five levels, whose files compaction writes.
TEST(ReadBench, CountsRepeatWithTheSeed) {
  const std::vector<ShapeResult> first =
      Measure(Tree::kFiveLevels, 12, 12, 7, {Caching::kAll});
  const std::vector<ShapeResult> again =
      Measure(Tree::kFiveLevels, 12, 12, 7, {Caching::kAll});
  const std::vector<ShapeResult> other =
      Measure(Tree::kFiveLevels, 12, 12, 8, {Caching::kAll});
  ASSERT_FALSE(first.empty() || again.empty() || other.empty());
  bool differs = false;
  for (const Filter filter : kAllFilters) {
    for (const Read read : kAllReads) {
      SCOPED_TRACE(std::string(ToString(filter)) + ", " +
                   std::string(ToString(read)));
      const ReadResult& a = first[0][filter][read];
      const ReadResult& b = again[0][filter][read];
      EXPECT_EQ(a.files_considered, b.files_considered);
      EXPECT_EQ(a.wasted_reads, b.wasted_reads);
      EXPECT_EQ(a.found, b.found);
      differs |= a.files_considered != other[0][filter][read].files_considered;
    }
  }
  EXPECT_TRUE(differs) << "the seed has no effect";
}

TEST(ReadBench, FewerRowsThanFilesIsInvalid) {
  std::vector<ShapeResult> results;
  EXPECT_TRUE(BenchCells(SyntheticCells(7, 12), TempDir(), {}, &results)
                  .IsInvalidArgument());
}

TEST(ReadBench, FiltersWithoutTheBaselineAreInvalid) {
  ReadBenchOptions options;
  options.filters = {Filter::kRowbloom};
  std::vector<ShapeResult> results;
  EXPECT_TRUE(BenchCells(SyntheticCells(300, 2), TempDir(), options, &results)
                  .IsInvalidArgument());
}

TEST(ReadBench, ExistingDatabaseIsNotWrittenOver) {
  TempDir dir;
  ReadBenchOptions options;
  options.cachings = {Caching::kAll};
  options.questions = 1000;
  options.seconds = 0;
  std::vector<ShapeResult> results;
  const rocksdb::Status status =
      BenchCells(SyntheticCells(300, 2), dir, options, &results);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_FALSE(BenchCells(SyntheticCells(300, 2), dir, options, &results).ok());
}

TEST(Cells, LastOfEqualCellsStays) {
  std::vector<InputCell> all = SyntheticCells(100, 2);
  for (InputCell& cell : all) cell.value = "old";
  const std::vector<InputCell> last = SyntheticCells(100, 2);
  all.insert(all.end(), last.begin(), last.end());
  Cells cells;
  uint64_t replaced = 0;
  ASSERT_TRUE(cells.Fill(std::move(all), &replaced).ok());
  EXPECT_EQ(replaced, 200u);
  EXPECT_EQ(cells.all().size(), 200u);
  for (const Cell& cell : cells.all()) EXPECT_NE(cell.value, "old");
}

TEST(Cells, EmptyRowIsInvalid) {
  std::vector<InputCell> all = SyntheticCells(100, 2);
  all[7].row.clear();
  Cells cells;
  uint64_t replaced = 0;
  EXPECT_TRUE(cells.Fill(std::move(all), &replaced).IsInvalidArgument());
}

// The overview of 8 files, with so many lookups and rows of ten columns.
ShapeResult Overview(uint64_t rows, uint64_t questions, bool spread_rows,
                     const std::vector<Filter>& filters) {
  ReadBenchOptions options;
  options.spread_rows = spread_rows;
  options.filters = filters;
  options.reads = {kOverviewReads.begin(), kOverviewReads.end()};
  options.cachings = {Caching::kAll};
  options.questions = questions;
  options.seconds = 0;
  options.seed = SeedFromEnv();
  std::vector<ShapeResult> results;
  const rocksdb::Status status =
      BenchCells(SyntheticCells(rows, 10), TempDir(), options, &results);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return results.at(0);
}

// The main claim: at the same filter bytes, gets of absent rows open at most a
// fiftieth of the wrong files, and nothing else gets worse by more than 5 %.
void ExpectTheMainClaim(const ShapeResult& result) {
  const uint64_t stock_bytes = result[Filter::kStock].filter_bytes;
  const uint64_t bytes = result[Filter::kRowbloom].filter_bytes;
  EXPECT_LE(bytes, stock_bytes);
  EXPECT_GE(static_cast<double>(bytes),
            0.995 * static_cast<double>(stock_bytes));
  for (const Read read : kOverviewReads) {
    SCOPED_TRACE(ToString(read));
    const auto wrong =
        static_cast<double>(result[Filter::kRowbloom][read].wasted_reads);
    const auto stock =
        static_cast<double>(result[Filter::kStock][read].wasted_reads);
    // The filters were probed, and for enough files for a ratio to mean
    // something.
    EXPECT_GT(stock, 1000);
    EXPECT_LE(wrong, read == Read::kGetAbsentRow ? stock / 50 : stock * 1.05);
  }
}

TEST(Overview, RowColBeatsStockAtEqualBytes) {
  if (Scaled(1000) < 1000) {
    GTEST_SKIP() << "ratios are asserted from ROWBLOOM_TEST_SCALE=1 up";
  }
  ExpectTheMainClaim(Overview(Scaled(100'000), 8 * Scaled(50'000), false,
                              {Filter::kStock, Filter::kRowbloom}));
}

// The worst case for filters by row: every file has every row, so that ROW
// rules out nothing for a present row, and ROWCOL is on its own as stock is.
TEST(Overview, RowColIsAsGoodAsStockWhereRowsAreSpread) {
  if (Scaled(1000) != 1000) {
    GTEST_SKIP() << "ratios are asserted only with ROWBLOOM_TEST_SCALE=1";
  }
  ExpectTheMainClaim(
      Overview(50'000, 8 * 50'000, true, {Filter::kStock, Filter::kRowbloom}));
}

// ROW alone cannot tell columns apart: the file of the row is opened for every
// column that it does not have.
TEST(Overview, RowAloneOpensTheFileOfEveryAbsentColumn) {
  const ShapeResult result = Overview(
      2000, 8 * 500, false, {kOverviewFilters.begin(), kOverviewFilters.end()});
  EXPECT_GE(result[Filter::kRow][Read::kGetAbsentColumn].wasted_reads, 500u);
  for (const ReadsOfFilter& filter : result.filters) {
    SCOPED_TRACE(ToString(filter.filter));
    for (const Read read : kOverviewReads) {
      EXPECT_EQ(filter[read].operations, 500u);
      EXPECT_EQ(filter[read].SkippedPercent() > 0,
                filter.filter != Filter::kNone);
    }
  }
}

// Within the claims by so much that the intervals are, too.
ShapeResult AsClaimed() {
  ShapeResult result;
  for (const Filter filter : kAllFilters) {
    ReadsOfFilter one{.filter = filter, .filter_bytes = 1000, .reads = {}};
    for (const Read read : kAllReads) one[read].wasted_reads = 100'000;
    result.filters.push_back(one);
  }
  for (const Read read :
       {Read::kGetAbsentRow, Read::kBatchAbsentRow, Read::kColumnsAbsentRow}) {
    result.filters.back()[read].wasted_reads = 1000;
  }
  return result;
}

TEST(ReadClaims, HoldWhereAllIsAsClaimed) {
  EXPECT_TRUE(ClaimsThatAre(Verdict::kMissed, AsClaimed()).empty());
  EXPECT_TRUE(ClaimsThatAre(Verdict::kUndecided, AsClaimed()).empty());
  EXPECT_EQ(ClaimsThatAre(Verdict::kHolds, AsClaimed()).size(),
            1 + kAllReads.size());
}

TEST(ReadClaims, TooManyWastedReadsAreNamed) {
  for (const Read read : kAllReads) {
    ShapeResult result = AsClaimed();
    result.filters.back()[read].wasted_reads *= 3;
    const std::vector<std::string> missed =
        ClaimsThatAre(Verdict::kMissed, result);
    ASSERT_EQ(missed.size(), 1u) << ToString(read);
    EXPECT_EQ(missed[0].find(ToString(read)), 0u) << missed[0];
  }
}

TEST(ReadClaims, MoreBytesThanTheBaselineAreNamed) {
  ShapeResult result = AsClaimed();
  ++result.filters.back().filter_bytes;
  const std::vector<std::string> missed =
      ClaimsThatAre(Verdict::kMissed, result);
  ASSERT_EQ(missed.size(), 1u);
  EXPECT_EQ(missed[0], "filters take 1001 bytes, RocksDB's 1000");
}

// AsClaimed, but for the wasted reads of one read.
ShapeResult WithWasted(uint64_t rowbloom, uint64_t stock) {
  ShapeResult result = AsClaimed();
  for (ReadsOfFilter& filter : result.filters) {
    filter[Read::kGetAbsentRow].wasted_reads =
        filter.filter == Filter::kRowbloom ? rowbloom : stock;
  }
  return result;
}

TEST(ReadClaims, TooFewWastedReadsDecideNothing) {
  EXPECT_EQ(ClaimsThatAre(Verdict::kUndecided, WithWasted(0, 40)).size(), 1u);
}

TEST(ReadClaims, ReadsThatAreNeverWastedAreNotJudged) {
  const ShapeResult result = WithWasted(0, 0);
  EXPECT_TRUE(ClaimsThatAre(Verdict::kUndecided, result).empty());
  EXPECT_EQ(ClaimsThatAre(Verdict::kHolds, result).size(), kAllReads.size());
}

}  // namespace
}  // namespace rowbloom::bench
