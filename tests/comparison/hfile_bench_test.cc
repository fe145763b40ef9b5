// That both contenders of hfile_bench give all cells, and deny no row.
#include "bench/hfile_bench.h"

#include <gtest/gtest.h>

#include <string>

#include "bench/cells.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::bench {
namespace {

class EachCodec : public testing::TestWithParam<HFileBenchCodec> {};

TEST_P(EachCodec, BothFormatsGiveAllCells) {
  const uint64_t seed = rowbloom::test::SeedFromEnv();
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(seed));
  rowbloom::test::TempDir dir;
  std::vector<InputCell> input = SyntheticCells(3000, 12, 2);
  // A row whose key in an SST has an escape.
  input.push_back({std::string("a\0b", 3), "q", "v"});
  Cells cells;
  uint64_t replaced = 0;
  ASSERT_TRUE(cells.Fill(std::move(input), &replaced).ok());
  HFileBenchOptions options;
  options.codec = GetParam();
  options.questions = 2000;
  options.seconds = 0;
  options.seed = seed;
  options.dir = dir.path().string();
  HFileBenchResult result;
  const rocksdb::Status status = BenchHFile(cells, options, &result);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(result.rows, 3001u);
  EXPECT_GT(result.hfile_bytes, 0u);
  EXPECT_GT(result.sst_bytes, 0u);
  // Write, scan, scan and seek by encoding, Bloom twice.
  ASSERT_EQ(result.comparisons.size(), 6u);
  for (const Comparison& comparison : result.comparisons) {
    SCOPED_TRACE(comparison.what);
    EXPECT_EQ(comparison.claimed_ratio.has_value(),
              comparison.what.ends_with("by encoding") ||
                  (GetParam() == HFileBenchCodec::kLz4 &&
                   (comparison.what == "write" || comparison.what == "scan")));
  }
}

INSTANTIATE_TEST_SUITE_P(HFileBench, EachCodec,
                         testing::Values(HFileBenchCodec::kNone,
                                         HFileBenchCodec::kLz4),
                         [](const auto& codec) {
                           return codec.param == HFileBenchCodec::kLz4 ? "Lz4"
                                                                       : "None";
                         });

}  // namespace
}  // namespace rowbloom::bench
