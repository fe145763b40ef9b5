// advise of a database: its prediction for the filters that are there, against
// files that reads open for nothing, as RocksDB counts them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst_inspect/run_tool.h"

namespace rowbloom::test {
namespace {

using testing::HasSubstr;

constexpr int kRows = 6000;
constexpr int kColumns = 3;
constexpr int kReads = 20000;

// Names that sort in another order than they are numbered in.
std::string Row(int number) {
  return std::to_string(10'000'000'000'000'000'000U +
                        Mix64(static_cast<uint64_t>(number) + 1) % (1U << 31)) +
         std::to_string(number);
}

class FamilyAdvice : public testing::Test {
 protected:
  FamilyAdvice() : path_(dir_.File("db")) {}

  void Open(std::shared_ptr<const rocksdb::FilterPolicy> policy) {
    options_ = TestDbOptions(
        {.policy = std::move(policy),
         .extractor = NewRowPrefixExtractor(KeyLayout::Delimited(':'))});
    options_.num_levels = 7;
    db_ = OpenDb(options_, path_);
  }

  // Writes the cells of the rows [from, to) into a file of this level.
  void WriteFile(int from, int to, int level, int columns = kColumns) {
    for (int row = from; row < to; ++row) {
      for (int column = 0; column < columns; ++column) {
        ExpectOk(
            db_->Put({}, Row(row) + ":" + std::to_string(column), "value"));
      }
    }
    ExpectOk(db_->Flush({}));
    if (level == 0) return;
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    for (const auto& file : files) {
      if (file.level == 0) {
        rocksdb::CompactionOptions compaction;
        compaction.output_file_size_limit = file_bytes_;
        ExpectOk(db_->CompactFiles(compaction, {file.name}, level));
      }
    }
  }

  // The files that a get opens for nothing, on average.
  template <typename KeyOf>
  double CountWastedReads(KeyOf key_of) {
    rocksdb::SetPerfLevel(rocksdb::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    std::string value;
    for (int i = 0; i < kReads; ++i) {
      EXPECT_TRUE(db_->Get({}, key_of(i), &value).IsNotFound());
    }
    rocksdb::SetPerfLevel(rocksdb::kDisable);
    return static_cast<double>(
               rocksdb::get_perf_context()->bloom_sst_hit_count) /
           kReads;
  }

  void ExpectPrediction() {
    const Output output = RunTool({"advise", "--json", path_});
    ASSERT_EQ(output.code, 0) << output.err;
    const nlohmann::json present = Records(output, "filter_cost").at(0);
    ASSERT_EQ(present.at("which"), "present");
    const double absent_rows =
        CountWastedReads([](int i) { return Row(kRows + i) + ":0"; });
    const double absent_columns = CountWastedReads(
        [](int i) { return Row(i % kRows) + ":a" + std::to_string(i); });
    // Fewer would be noise.
    EXPECT_GT(absent_rows * kReads, 400);
    EXPECT_GT(absent_columns * kReads, 400);
    EXPECT_NEAR(present.at("get_absent_row").get<double>() / absent_rows, 1,
                0.2);
    EXPECT_NEAR(present.at("get_absent_column").get<double>() / absent_columns,
                1, 0.2);
  }

  TempDir dir_;
  const std::string path_;
  rocksdb::Options options_;
  uint64_t file_bytes_ = uint64_t{1} << 40;  // of files below level 0
  std::unique_ptr<rocksdb::DB> db_;
};

std::shared_ptr<const rocksdb::FilterPolicy> Ours(BloomType type) {
  return MakeFilterPolicy({.bloom_type = type,
                           .key_layout = KeyLayout::Delimited(':'),
                           .false_positive_rate = 0.1});
}

TEST_F(FamilyAdvice, PredictsStockFiltersOfLevel0) {
  Open(StockBloom(6));
  for (int i = 0; i < 6; ++i) WriteFile(i * 1000, (i + 1) * 1000, 0);
  ExpectPrediction();
}

TEST_F(FamilyAdvice, PredictsRowColOfLevel0) {
  Open(Ours(BloomType::kRowCol));
  for (int i = 0; i < 6; ++i) WriteFile(i * 1000, (i + 1) * 1000, 0);
  ExpectPrediction();
}

TEST_F(FamilyAdvice, PredictsRowColOfFiveLevels) {
  Open(Ours(BloomType::kRowCol));
  // The rows of the last file are in each level.
  WriteFile(0, kRows, 5);
  WriteFile(0, 1500, 4);
  WriteFile(500, 1500, 3);
  WriteFile(4000, 4400, 2);
  WriteFile(1000, 1200, 1);
  WriteFile(0, 300, 0);
  ExpectPrediction();
}

TEST_F(FamilyAdvice, PredictsRowOfLevelsWithManyFiles) {
  file_bytes_ = 32 << 10;
  Open(Ours(BloomType::kRow));
  WriteFile(0, kRows, 2);
  WriteFile(0, 2000, 1);
  WriteFile(3000, 4000, 0);
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  EXPECT_GT(files.size(), 6U);
  ExpectPrediction();
}

TEST_F(FamilyAdvice, WeighsAlternatives) {
  Open(StockBloom(6));
  WriteFile(0, 2000, 0);
  WriteFile(1000, 3000, 0);
  const Output output = RunTool({"advise", "--json", path_});
  const auto advice = Records(output, "advice").at(0);
  EXPECT_EQ(advice.at("family"), "default");
  EXPECT_EQ(advice.at("rows"), 4000);
  EXPECT_EQ(advice.at("cells"), 12000);
  // All of 3,000 rows are considered in both files, and a third is in both.
  EXPECT_NEAR(advice.at("files_considered").get<double>(), 2, 0.01);
  EXPECT_NEAR(advice.at("files_per_row").get<double>(), 4.0 / 3, 0.01);
  EXPECT_NEAR(advice.at("front_filter_answers").get<double>(), 0.98, 0.002);
  const auto costs = Records(output, "filter_cost");
  ASSERT_EQ(costs.size(), 6U);
  EXPECT_EQ(costs[0].at("filter"), "RocksDB bloom");
  EXPECT_EQ(costs[2].at("filter"), "none");
  EXPECT_EQ(costs[2].at("bytes"), 0);
  EXPECT_NEAR(costs[2].at("get_absent_row").get<double>(), 2, 0.01);
  EXPECT_EQ(costs[3].at("filter"), "ROW bloom at 0.01");
  EXPECT_EQ(costs[4].at("filter"), "ROWCOL bloom at 0.01");
  EXPECT_EQ(costs[5].at("filter"), "ROWCOL bloom at 0.001");
  // A get of an absent column passes ROW of the files that have its row.
  EXPECT_NEAR(costs[3].at("get_absent_column").get<double>(), 4.0 / 3, 0.02);
  EXPECT_LT(costs[5].at("get_absent_column"), costs[4].at("get_absent_column"));
  EXPECT_GT(costs[5].at("bytes"), costs[4].at("bytes"));
  EXPECT_EQ(advice.at("front_filter_bytes"), costs[3].at("bytes"));
}

TEST_F(FamilyAdvice, LeavesOutFamiliesWithoutALayout) {
  options_ = TestDbOptions({.policy = StockBloom(6)});
  db_ = OpenDb(options_, path_);
  WriteFile(0, 100, 0);
  const Output output = RunTool({"advise", path_});
  EXPECT_EQ(output.code, 2);
  EXPECT_THAT(output.err, HasSubstr("family default is left out"));
  EXPECT_EQ(RunTool({"advise", "--key-layout", "delimited::", path_}).code, 0);
  EXPECT_EQ(RunTool({"advise", "--files", "3", path_}).code, 2);
}

}  // namespace
}  // namespace rowbloom::test
