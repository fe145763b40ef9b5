// Both formats of hfile_bench give all cells, and neither denies a row that it
// has.
#include "bench/hfile_bench.h"

#include <gtest/gtest.h>

#include <string>

#include "bench/cells.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::bench {
namespace {

class EachCodec : public testing::TestWithParam<HFileCompression> {};

TEST_P(EachCodec, BothFormatsGiveAllCells) {
  const uint64_t seed = rowbloom::test::SeedFromEnv();
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
  options.seed = seed;
  options.dir = dir.path().string();
  Bench bench;
  bench.seconds = 0;
  HFileBenchSizes sizes;
  const rocksdb::Status status = BenchHFile(cells, options, &bench, &sizes);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_GT(sizes.hfile_bytes, 0u);
  EXPECT_GT(sizes.sst_bytes, 0u);
  // Write, scan, scan and seek by encoding, import, Bloom twice.
  ASSERT_EQ(bench.comparisons().size(), 7u);
  for (const Comparison& comparison : bench.comparisons()) {
    SCOPED_TRACE(comparison.what);
    EXPECT_EQ(!comparison.claims.empty(),
              comparison.what.ends_with("by encoding") ||
                  (GetParam() == HFileCompression::kLz4 &&
                   !comparison.what.starts_with("Bloom")));
  }
}

INSTANTIATE_TEST_SUITE_P(HFileBench, EachCodec,
                         testing::Values(HFileCompression::kNone,
                                         HFileCompression::kLz4),
                         [](const auto& codec) {
                           return codec.param == HFileCompression::kLz4
                                      ? "Lz4"
                                      : "None";
                         });

}  // namespace
}  // namespace rowbloom::bench
