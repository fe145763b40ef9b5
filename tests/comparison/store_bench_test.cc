// That the contenders of store_bench and hfile_bench give the same answers, and
// that claims can be missed.
#include "bench/store_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "bench/cells.h"
#include "bench/comparison.h"
#include "bench/turns.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::bench {
namespace {

using rowbloom::test::SeedFromEnv;
using rowbloom::test::TempDir;
using testing::Pair;

Contender Doing(const std::string& name, uint64_t work) {
  return {name, [work](uint64_t, uint64_t, uint64_t* done) {
            *done = work;
            return rocksdb::Status::OK();
          }};
}

TEST(Turns, EachContenderDoesAllOperationsInTurn) {
  std::vector<uint64_t> begins[2];
  const auto note = [&begins](size_t i) {
    return Contender{std::to_string(i),
                     [&begins, i](uint64_t begin, uint64_t end,
                                  uint64_t* work) -> rocksdb::Status {
                       begins[i].push_back(begin);
                       *work = end - begin;
                       return rocksdb::Status::OK();
                     }};
  };
  std::vector<Timing> timings;
  ASSERT_TRUE(
      TakeTurns({note(0), note(1)},
                {.operations = 25, .turn = 10, .min_rounds = 4, .seconds = 0},
                &timings)
          .ok());
  const std::vector<uint64_t> expected = {0, 10, 0, 10, 0};
  EXPECT_EQ(begins[0], expected);
  EXPECT_EQ(begins[1], expected);
  ASSERT_EQ(timings.size(), 2u);
  EXPECT_EQ(timings[0].cpu_ratio, 1);
  EXPECT_EQ(timings[1].name, "1");
}

TEST(Turns, EachContenderFollowsEachOtherEquallyOften) {
  for (size_t count = 1; count <= 6; ++count) {
    SCOPED_TRACE(std::to_string(count) + " contenders");
    std::vector<size_t> first(count);
    std::vector<std::vector<size_t>> after(count, std::vector<size_t>(count));
    for (uint64_t round = 0; round < 2 * count; ++round) {
      ++first[ContenderAt(0, round, count)];
      for (size_t place = 1; place < count; ++place) {
        ++after[ContenderAt(place - 1, round, count)]
               [ContenderAt(place, round, count)];
      }
    }
    for (size_t a = 0; a < count; ++a) {
      EXPECT_EQ(first[a], 2u);
      for (size_t b = 0; b < count; ++b) EXPECT_EQ(after[a][b], a == b ? 0 : 2);
    }
  }
}

TEST(Turns, ContendersThatDoDifferentWorkAreNotCompared) {
  const TurnOptions once = {.min_rounds = 1, .seconds = 0};
  std::vector<Timing> timings;
  EXPECT_TRUE(TakeTurns({Doing("a", 5), Doing("b", 5)}, once, &timings).ok());
  EXPECT_TRUE(TakeTurns({Doing("a", 5), Doing("b", 4)}, once, &timings)
                  .IsInvalidArgument());
  EXPECT_TRUE(TakeTurns({Doing("a", 0)}, once, &timings).IsInvalidArgument());
}

TEST(Turns, QuantilesAreOfTheSortedValues) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Quantile({4, 1, 3, 2, 5}, 1), 5);
  EXPECT_EQ(Quantile({4, 1, 3, 2, 5}, 0), 1);
}

TEST(Claims, AreOfTheSecondContenderAndCanBeMissed) {
  Comparison comparison{"get", "16 files", "get", 1.1};
  comparison.timings = {{.name = "RocksDB", .cpu_ratio = 1, .wall_ratio = 1},
                        {.name = "store", .cpu_ratio = 1.2, .wall_ratio = 1}};
  EXPECT_EQ(MissedClaims({comparison}).size(), 1u);
  comparison.by_wall_time = true;
  EXPECT_TRUE(MissedClaims({comparison}).empty());
  comparison.by_wall_time = false;
  comparison.claimed_ratio.reset();
  EXPECT_TRUE(MissedClaims({comparison}).empty());
}

TEST(StoreBench, AnswersAgreeAndClaimsAreThoseOfItsReadme) {
  const uint64_t seed = SeedFromEnv();
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(seed));
  TempDir dir;
  const std::vector<InputCell> input = SyntheticCells(400, 12, 2);
  Cells cells;
  uint64_t replaced = 0;
  ASSERT_TRUE(cells.Fill(input, &replaced).ok());
  StoreBenchOptions options;
  options.files = 3;
  options.questions = 600;
  options.seconds = 0;
  options.loads = 1;
  options.cells_in_file = 200'000;
  options.updates = 300;
  options.seed = seed;
  options.db_dir = dir.path().string();
  StoreBenchResult result;
  const rocksdb::Status status = BenchStore(input, cells, options, &result);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(result.cells, cells.all().size());
  std::map<std::string, double> claims;
  for (const Comparison& comparison : result.comparisons) {
    if (!comparison.claimed_ratio) continue;
    const auto [claim, is_new] =
        claims.emplace(comparison.what, *comparison.claimed_ratio);
    EXPECT_EQ(claim->second, *comparison.claimed_ratio) << comparison.what;
  }
  // Those of bench/README.md.
  EXPECT_THAT(claims,
              testing::UnorderedElementsAre(
                  Pair("put", 1.1), Pair("put, 64 in a batch", 1.1),
                  Pair("load", 1 / 0.7), Pair("get, present cell", 1.15),
                  Pair("10 columns of an absent row", 0.75),
                  Pair("10 columns of an absent row, same filters", 1.2),
                  Pair("scan", 1.1), Pair("get, present cell, versioned", 1.6),
                  Pair("whole row, absent", 1.0 / 5),
                  Pair("get, absent row, more cells", 1.5),
                  Pair("increments of one cell", 3),
                  Pair("get after many updates", 3)));
  ASSERT_EQ(result.load_memory.size(), 3u);
  EXPECT_EQ(result.load_memory[2].cells, 4 * input.size());
}

TEST(StoreBench, FewerRowsThanFilesAreRefused) {
  TempDir dir;
  const std::vector<InputCell> input = SyntheticCells(2, 12);
  Cells cells;
  uint64_t replaced = 0;
  ASSERT_TRUE(cells.Fill(input, &replaced).ok());
  StoreBenchOptions options;
  options.db_dir = dir.path().string();
  StoreBenchResult result;
  EXPECT_TRUE(BenchStore(input, cells, options, &result).IsInvalidArgument());
}

}  // namespace
}  // namespace rowbloom::bench
