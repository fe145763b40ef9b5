// The contenders of store_bench give the same answers, and its claims are as
// documented.
#include "bench/store_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "bench/cells.h"
#include "bench/comparison.h"
#include "bench/engines.h"
#include "bench/random.h"
#include "bench/store_bench_mixes.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::bench {
namespace {

using rowbloom::test::SeedFromEnv;
using rowbloom::test::TempDir;
using testing::Pair;

TEST(StoreBench, AnswersAgreeAndClaimsAreThoseOfItsReadme) {
  const uint64_t seed = SeedFromEnv();
  TempDir dir;
  const std::vector<InputCell> input = SyntheticCells(400, 12, 2);
  Cells cells;
  uint64_t replaced = 0;
  ASSERT_TRUE(cells.Fill(input, &replaced).ok());
  StoreBenchOptions options;
  options.files = 3;
  options.questions = 600;
  options.loads = 1;
  options.cells_in_file = 200'000;
  options.updates = 300;
  options.seed = seed;
  options.db_dir = dir.path().string();
  Bench bench;
  bench.seconds = 0;
  std::vector<LoadMemory> load_memory;
  const rocksdb::Status status =
      BenchStore(input, cells, options, &bench, &load_memory);
  ASSERT_TRUE(status.ok()) << status.ToString();
  std::map<std::string, double> claims;
  for (const Comparison& comparison : bench.comparisons()) {
    EXPECT_EQ(comparison.measurements.back().name, kControl);
    for (const Claim& claim : comparison.claims) {
      const auto [kept, is_new] =
          claims.emplace(comparison.what, claim.at_most);
      EXPECT_EQ(kept->second, claim.at_most) << comparison.what;
    }
  }
  // The claims of doc/benchmarks.md.
  EXPECT_THAT(
      claims,
      testing::UnorderedElementsAre(
          Pair("put", 1.1), Pair("put, 64 in a batch", 1.1),
          Pair("check and put", 1.25), Pair("increment", 1.25),
          Pair("transaction of a get and a put", 1.25),
          Pair("get of a value of 16 KiB", 1.15),
          Pair("put of a value of 16 KiB", 1.15), Pair("load", 1 / 0.7),
          Pair("get, present cell", 1.15),
          Pair("10 columns of an absent row", 0.75),
          Pair("10 columns of an absent row, same filters", 1.2),
          Pair("scan", 1.1), Pair("scan, a filter keeps 1 % of values", 1.1),
          Pair("scan, last day", 0.1), Pair("whole row, last day", 0.1),
          Pair("get, present cell, versioned", 1.6),
          Pair("get, present cell, other row deleted", 1.6),
          Pair("whole row, absent", 1.0 / 5),
          Pair("get, absent row, more cells", 1.5),
          Pair("increments of one cell", 3),
          Pair("get after many updates", 3)));
  ASSERT_EQ(load_memory.size(), 3u);
  EXPECT_EQ(load_memory[2].cells, 4 * input.size());
}

TEST(StoreBench, FewerRowsThanFilesAreRefused) {
  TempDir dir;
  const std::vector<InputCell> input = SyntheticCells(2, 12);
  Cells cells;
  uint64_t replaced = 0;
  ASSERT_TRUE(cells.Fill(input, &replaced).ok());
  StoreBenchOptions options;
  options.db_dir = dir.path().string();
  Bench bench;
  std::vector<LoadMemory> load_memory;
  EXPECT_TRUE(BenchStore(input, cells, options, &bench, &load_memory)
                  .IsInvalidArgument());
}

// All engines of this build give the answers that are expected of them, or
// MeasureMixes fails.
TEST(StoreBenchMixes, EnginesOfThisBuildAnswerAlike) {
  const uint64_t seed = SeedFromEnv();
  TempDir dir;
  StoreBenchOptions options;
  options.mix_rows = 500;
  options.mix_operations = 1000;
  options.seed = seed;
  options.db_dir = dir.path().string();
  Bench bench;
  bench.seconds = 0;
  std::vector<EngineSize> sizes;
  const rocksdb::Status status = MeasureMixes(options, &bench, &sizes);
  ASSERT_TRUE(status.ok()) << status.ToString();
  std::vector<std::string> expected;
  for (const EngineKind& kind : EngineKinds()) {
    if (kind.create != nullptr) expected.emplace_back(kind.name);
  }
  ASSERT_EQ(sizes.size(), expected.size());
  for (const EngineSize& size : sizes) {
    SCOPED_TRACE(size.engine);
    // Values do not compress.
    EXPECT_GT(size.file_bytes, 500u * 10 * 100);
  }
  expected.emplace_back(kControl);
  // Eight mixes, with each size of cache.
  ASSERT_EQ(bench.comparisons().size(), 16u);
  for (const Comparison& comparison : bench.comparisons()) {
    std::vector<std::string> names;
    for (const Measurement& own : comparison.measurements) {
      names.push_back(own.name);
    }
    EXPECT_EQ(names, expected) << comparison.what;
  }
}

// The chances follow from the definition; the generator only approximates
// those of numbers from 2 on.
TEST(StoreBenchMixes, ZipfianDrawsPopularNumbersAsOftenAsItSays) {
  constexpr uint64_t kCount = 1000;
  constexpr int kDraws = 400'000;
  double zeta = 0;
  for (uint64_t k = 1; k <= kCount; ++k) {
    zeta += std::pow(static_cast<double>(k), -0.99);
  }
  const Zipfian zipfian(kCount);
  Random random(SeedFromEnv());
  std::vector<int> drawn(kCount);
  for (int i = 0; i < kDraws; ++i) ++drawn.at(zipfian.Next(&random));
  double below_hundred = 0;
  for (uint64_t k = 0; k < 100; ++k) {
    below_hundred += std::pow(static_cast<double>(k + 1), -0.99) / zeta;
  }
  EXPECT_NEAR(drawn[0], kDraws / zeta, 0.02 * kDraws / zeta);
  EXPECT_NEAR(drawn[1], kDraws * std::pow(2.0, -0.99) / zeta,
              0.03 * kDraws / zeta);
  EXPECT_NEAR(std::accumulate(drawn.begin(), drawn.begin() + 100, 0.0),
              kDraws * below_hundred, 0.02 * kDraws);
  EXPECT_GT(*std::min_element(drawn.begin(), drawn.end()), 0);
}

}  // namespace
}  // namespace rowbloom::bench
