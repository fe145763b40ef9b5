// That read_bench compares like with like, and that its check can fail.
#include "bench/read_bench.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/cells.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::bench {
namespace {

using rowbloom::test::SeedFromEnv;
using rowbloom::test::TempDir;

constexpr uint64_t kQuestions = 16'000;

std::vector<ShapeResult> Bench(Tree tree, uint64_t columns, uint64_t fewest,
                               uint64_t seed,
                               const std::vector<Caching>& cachings = {
                                   kAllCachings.begin(), kAllCachings.end()}) {
  TempDir dir;
  Cells cells;
  uint64_t replaced = 0;
  rocksdb::Status status =
      cells.Fill(SyntheticCells(4000, columns, fewest), &replaced);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(replaced, 0u);
  ReadBenchOptions options;
  options.tree = tree;
  options.cachings = cachings;
  options.questions = kQuestions;
  options.seconds = 0;
  options.seed = seed;
  options.db_dir = dir.path().string();
  std::vector<ShapeResult> results;
  status = BenchReads(cells, options, &results);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(results.size(), cachings.size());
  return results;
}

class EachTree : public testing::TestWithParam<Tree> {};

TEST_P(EachTree, IsReadWithEveryFilter) {
  const uint64_t seed = SeedFromEnv();
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(seed));
  const Tree tree = GetParam();
  const std::vector<ShapeResult> results = Bench(tree, 12, 12, seed);
  ASSERT_EQ(results.size(), 2u);
  for (const ShapeResult& result : results) {
    SCOPED_TRACE(ToString(result.caching));
    EXPECT_EQ(result.tree, tree);
    EXPECT_EQ(result.files, tree == Tree::kFiveLevels ? 16 : SortedRuns(tree));
    ASSERT_EQ(result.filters.size(), kAllFilters.size());
    for (const FilterResult& filter : result.filters) {
      SCOPED_TRACE(ToString(filter.filter));
      EXPECT_EQ(filter.filter_bytes == 0, filter.filter == Filter::kNone);
      for (const Read read : kAllReads) {
        SCOPED_TRACE(ToString(read));
        const ReadResult& own = filter[read];
        EXPECT_GT(own.operations, 0u);
        EXPECT_GE(own.files_considered, own.found + own.wrong_opens);
        EXPECT_EQ(own.found > 0, read == Read::kGetPresent ||
                                     read == Read::kBatchPresent ||
                                     read == Read::kColumnsPresent);
        EXPECT_GE(own.blocks, own.blocks_read);
        EXPECT_GT(own.median_us, 0);
        EXPECT_GE(own.p99_us, own.median_us);
        EXPECT_GT(own.cpu_ratio, 0);
        EXPECT_GT(own.wall_ratio, 0);
        const bool probed = result.caching == Caching::kAll &&
                            KeysOf(read) == 1 && read != Read::kScanAbsentRow &&
                            filter.filter != Filter::kNone;
        EXPECT_EQ(own.probe_nanos > 0, probed);
      }
      EXPECT_EQ(filter[Read::kGetPresent].found,
                filter[Read::kGetPresent].operations);
    }
    EXPECT_EQ(result[Filter::kStock][Read::kGetPresent].cpu_ratio, 1);
    // The same keys, asked for one by one and in batches.
    for (const Filter filter : kAllFilters) {
      EXPECT_EQ(result[filter][Read::kGetAbsentRow].wrong_opens,
                result[filter][Read::kBatchAbsentRow].wrong_opens);
      EXPECT_EQ(result[filter][Read::kGetPresent].wrong_opens,
                result[filter][Read::kBatchPresent].wrong_opens);
    }
    // The control differs in where it lies alone.
    EXPECT_EQ(result[Filter::kStockAgain].filter_bytes,
              result[Filter::kStock].filter_bytes);
    for (const Read read : kAllReads) {
      EXPECT_EQ(result[Filter::kStockAgain][read].wrong_opens,
                result[Filter::kStock][read].wrong_opens);
    }
    // Filters are asked, and worth it.
    const ReadResult& none = result[Filter::kNone][Read::kGetAbsentRow];
    EXPECT_GT(none.wrong_opens, kQuestions / 2);
    EXPECT_GT(none.blocks, 0);
    for (const Filter filter : {Filter::kStock, Filter::kStockKey,
                                Filter::kStockRibbon, Filter::kRowbloom}) {
      EXPECT_LT(10 * result[filter][Read::kGetAbsentRow].wrong_opens,
                none.wrong_opens);
    }
  }
  // Blocks are read where the cache is too small for them, and nowhere else.
  EXPECT_EQ(results[0][Filter::kNone][Read::kGetPresent].blocks_read, 0);
  EXPECT_GT(results[1][Filter::kNone][Read::kGetPresent].blocks_read, 0);
}

INSTANTIATE_TEST_SUITE_P(ReadBench, EachTree, testing::ValuesIn(kAllTrees),
                         [](const auto& tree) {
                           return std::string(ToString(tree.param));
                         });

TEST(ReadBench, NarrowRowsAskForColumnsThatTheyDoNotHave) {
  const std::vector<ShapeResult> results =
      Bench(Tree::kEight, 2, 1, SeedFromEnv());
  ASSERT_EQ(results.size(), 2u);
  const ReadResult& columns =
      results[0][Filter::kRowbloom][Read::kColumnsPresent];
  EXPECT_GT(columns.found, columns.operations);
  EXPECT_LT(columns.found, 2 * columns.operations);
}

// The five levels, whose files compaction writes.
TEST(ReadBench, CountsRepeatWithTheSeed) {
  const std::vector<ShapeResult> first =
      Bench(Tree::kFiveLevels, 12, 12, 7, {Caching::kAll});
  const std::vector<ShapeResult> again =
      Bench(Tree::kFiveLevels, 12, 12, 7, {Caching::kAll});
  const std::vector<ShapeResult> other =
      Bench(Tree::kFiveLevels, 12, 12, 8, {Caching::kAll});
  ASSERT_FALSE(first.empty() || again.empty() || other.empty());
  bool differs = false;
  for (const Filter filter : kAllFilters) {
    for (const Read read : kAllReads) {
      SCOPED_TRACE(std::string(ToString(filter)) + ", " +
                   std::string(ToString(read)));
      const ReadResult& a = first[0][filter][read];
      const ReadResult& b = again[0][filter][read];
      EXPECT_EQ(a.files_considered, b.files_considered);
      EXPECT_EQ(a.wrong_opens, b.wrong_opens);
      EXPECT_EQ(a.found, b.found);
      differs |= a.files_considered != other[0][filter][read].files_considered;
    }
  }
  EXPECT_TRUE(differs) << "the seed has no effect";
}

TEST(ReadBench, FewerRowsThanFilesIsInvalid) {
  TempDir dir;
  Cells cells;
  uint64_t replaced = 0;
  ASSERT_TRUE(cells.Fill(SyntheticCells(20, 12), &replaced).ok());
  ReadBenchOptions options;
  options.db_dir = dir.path().string();
  std::vector<ShapeResult> results;
  EXPECT_TRUE(BenchReads(cells, options, &results).IsInvalidArgument());
}

// As good as claimed, to the byte and file.
ShapeResult AsClaimed() {
  ShapeResult result;
  for (const Filter filter : kAllFilters) {
    FilterResult one{.filter = filter, .filter_bytes = 1000, .reads = {}};
    for (const Read read : kAllReads) one[read].wrong_opens = 1000;
    result.filters.push_back(one);
  }
  FilterResult* rowbloom =
      &result.filters[static_cast<size_t>(Filter::kRowbloom)];
  for (const Read read : kAllReads) (*rowbloom)[read].wrong_opens = 1050;
  for (const Read read :
       {Read::kGetAbsentRow, Read::kBatchAbsentRow, Read::kColumnsAbsentRow}) {
    (*rowbloom)[read].wrong_opens = 20;
  }
  return result;
}

TEST(BrokenClaims, NoneWhereAllIsAsClaimed) {
  EXPECT_TRUE(BrokenClaims(AsClaimed()).empty());
}

TEST(BrokenClaims, OneWrongOpenTooManyIsNamed) {
  for (const Read read : kAllReads) {
    ShapeResult result = AsClaimed();
    ++result.filters[static_cast<size_t>(Filter::kRowbloom)][read].wrong_opens;
    const std::vector<std::string> broken = BrokenClaims(result);
    ASSERT_EQ(broken.size(), 1u) << ToString(read);
    EXPECT_EQ(broken[0].find(ToString(read)), 0u) << broken[0];
  }
}

TEST(BrokenClaims, MoreBytesThanTheBaselineAreNamed) {
  ShapeResult result = AsClaimed();
  ++result.filters[static_cast<size_t>(Filter::kRowbloom)].filter_bytes;
  const std::vector<std::string> broken = BrokenClaims(result);
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_EQ(broken[0], "filters take 1001 bytes, RocksDB's 1000");
}

TEST(BrokenClaims, NothingAskedIsNoProof) {
  ShapeResult result = AsClaimed();
  for (FilterResult& filter : result.filters) {
    filter[Read::kGetAbsentRow].wrong_opens = 0;
  }
  const std::vector<std::string> broken = BrokenClaims(result);
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_NE(broken[0].find("too few"), std::string::npos) << broken[0];
}

}  // namespace
}  // namespace rowbloom::bench
