// The store's reads consult the filters: counted, not inferred from answers.
#include <gtest/gtest.h>

#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test {
namespace {

constexpr uint64_t kFiles = 6;
constexpr uint64_t kRowsPerFile = 500;
constexpr uint64_t kQuestions = 300;
constexpr char kSharedRow[] = "shared";

const std::vector<FamilyDescriptor> kFamilies = {
    {"none", {.bloom_type = BloomType::kNone}},
    {"prefix",
     {.bloom_type = BloomType::kRowPrefixFixedLength, .row_prefix_length = 8}},
    {"row", {.bloom_type = BloomType::kRow}},
    {"rowcol", {.bloom_type = BloomType::kRowCol}},
};

std::string PresentRow(uint64_t index) { return DistinctKey(index); }
// Distinct from all present rows, among them in key order.
std::string AbsentRow(uint64_t index) {
  return DistinctKey(kFiles * kRowsPerFile + index);
}

// Every family in kFiles files with rows of their own, and one row that all of
// them share, each with a column of its own.
class StoreFilters : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenOrFail({.auto_compaction = false}, dir_.File("db"), kFamilies);
    ASSERT_NE(store_, nullptr);
    for (uint64_t file = 0; file < kFiles; ++file) {
      WriteBatch batch;
      for (const FamilyDescriptor& family : kFamilies) {
        for (uint64_t i = 0; i < kRowsPerFile; ++i) {
          batch.Put(PresentRow(file * kRowsPerFile + i), family.name, "q", "v");
        }
        batch.Put(kSharedRow, family.name, std::to_string(file), "v");
      }
      ASSERT_THAT(store_->Write(batch), IsOk());
      ASSERT_THAT(store_->Flush(), IsOk());
    }
  }

  FamilyStats StatsOf(const std::string& family) {
    StoreStats stats;
    EXPECT_THAT(store_->Stats(&stats), IsOk());
    return stats.families[family];
  }

  TempDir dir_;
  std::unique_ptr<Store> store_;
};

TEST_F(StoreFilters, StatsTellFilesAndFilterBytes) {
  StoreStats stats;
  ASSERT_THAT(store_->Stats(&stats), IsOk());
  EXPECT_EQ(stats.key_layout, "escaped");
  EXPECT_GT(stats.block_cache_bytes_used, 0u);
  ASSERT_EQ(stats.families.size(), kFamilies.size());
  for (const FamilyDescriptor& family : kFamilies) {
    const FamilyStats& found = stats.families[family.name];
    EXPECT_EQ(found.options, family.options);
    EXPECT_EQ(found.files, kFiles);
    EXPECT_EQ(found.estimated_cells, kFiles * (kRowsPerFile + 1));
    EXPECT_GT(found.file_bytes, found.filter_bytes);
    EXPECT_EQ(found.filter.blocks_unusable, 0u);
  }
  EXPECT_EQ(stats.families["none"].filter_bytes, 0u);
  EXPECT_EQ(stats.families["none"].filter.blocks_built, 0u);
  EXPECT_EQ(stats.families["row"].filter.blocks_built, kFiles);
  EXPECT_GT(stats.families["row"].filter_bytes, kFiles * kRowsPerFile);
  EXPECT_GT(stats.families["rowcol"].filter_bytes,
            stats.families["row"].filter_bytes);
}

TEST_F(StoreFilters, GetRowOfAbsentRowsSkipsFilesThroughRow) {
  for (uint64_t i = 0; i < kQuestions; ++i) {
    std::vector<Cell> cells;
    ASSERT_THAT(store_->GetRow(AbsentRow(i), &cells), IsOk());
    ASSERT_TRUE(cells.empty());
  }
  for (const char* family : {"prefix", "row", "rowcol"}) {
    const FilterStats filter = StatsOf(family).filter;
    EXPECT_GT(filter.row.checked, kQuestions * kFiles * 9 / 10) << family;
    EXPECT_GT(filter.row.skipped, filter.row.checked * 95 / 100) << family;
    EXPECT_EQ(filter.row_col.checked, 0u) << family;
  }
  EXPECT_EQ(StatsOf("none").filter.asked, 0u);
}

TEST_F(StoreFilters, GetOfAbsentRowsSkipsFilesThroughRow) {
  for (uint64_t i = 0; i < kQuestions; ++i) {
    for (const FamilyDescriptor& family : kFamilies) {
      std::string value;
      ASSERT_TRUE(
          store_->Get(AbsentRow(i), family.name, "q", &value).IsNotFound());
    }
  }
  for (const char* family : {"prefix", "row", "rowcol"}) {
    const FilterStats filter = StatsOf(family).filter;
    EXPECT_GT(filter.row.checked, kQuestions * kFiles * 9 / 10) << family;
    EXPECT_GT(filter.row.skipped, filter.row.checked * 95 / 100) << family;
  }
  EXPECT_EQ(StatsOf("none").filter.asked, 0u);
}

TEST_F(StoreFilters, GetOfAbsentColumnsSkipsFilesThroughRowCol) {
  for (uint64_t i = 0; i < kQuestions; ++i) {
    for (const FamilyDescriptor& family : kFamilies) {
      std::string value;
      // Between the columns of the row in key order.
      ASSERT_TRUE(
          store_->Get(kSharedRow, family.name, "1-" + std::to_string(i), &value)
              .IsNotFound());
    }
  }
  const FilterStats rowcol = StatsOf("rowcol").filter;
  EXPECT_GT(rowcol.row_col.checked, kQuestions * kFiles * 9 / 10);
  EXPECT_GT(rowcol.row_col.skipped, rowcol.row_col.checked * 95 / 100);
  EXPECT_EQ(rowcol.row.skipped, 0u);  // the row is in every file
  const FilterStats row = StatsOf("row").filter;
  EXPECT_EQ(row.row_col.checked, 0u);
  EXPECT_EQ(row.row.skipped, 0u);
}

TEST_F(StoreFilters, PresentCellsAndRowsAreFoundAfterReopening) {
  store_.reset();
  store_ = OpenOrFail({.auto_compaction = false}, dir_.File("db"), {});
  ASSERT_NE(store_, nullptr);
  for (uint64_t i = 0; i < kFiles * kRowsPerFile; ++i) {
    std::vector<Cell> cells;
    ASSERT_THAT(store_->GetRow(PresentRow(i), &cells), IsOk());
    ASSERT_EQ(cells.size(), kFamilies.size());
    for (const FamilyDescriptor& family : kFamilies) {
      std::string value;
      ASSERT_THAT(store_->Get(PresentRow(i), family.name, "q", &value), IsOk());
    }
  }
  std::vector<Cell> cells;
  ASSERT_THAT(store_->GetRow(kSharedRow, &cells), IsOk());
  EXPECT_EQ(cells.size(), kFiles * kFamilies.size());
  EXPECT_GT(StatsOf("rowcol").filter.row.skipped, 0u);
}

}  // namespace
}  // namespace rowbloom::test
