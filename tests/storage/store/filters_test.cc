// The store's reads consult the filters: counted, not inferred from answers.
#include <gtest/gtest.h>

#include "tests/storage/store/test_store.h"
#include "tests/support/owned_address.h"
#include "tests/support/random.h"

namespace rowbloom::test::filters_test {
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
    {"versioned", {.max_versions = 3}},
};
// Families with a ROWCOL section, in either cell format.
constexpr const char* kOfCells[] = {"rowcol", "versioned"};

std::string PresentRow(uint64_t index) { return DistinctKey(index); }
// Distinct from all present rows, among them in key order.
std::string AbsentRow(uint64_t index) {
  return DistinctKey(kFiles * kRowsPerFile + index);
}

// Every family in kFiles files with rows of their own, and one row that all of
// them share, each with a column of its own.
class StoreFilters : public ::testing::Test {
 protected:
  // A front filter would answer before the files' filters are probed.
  void SetUp() override {
    store_ =
        OpenOrFail({.front_filter_limit_bytes = 0, .auto_compaction = false},
                   dir_.File("db"), kFamilies);
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

  // Files that ROWCOL has ruled out.
  uint64_t SkippedByRowCol(const std::string& family) {
    return StatsOf(family).filter.row_col.skipped;
  }

  FamilyStats StatsOf(const std::string& family) {
    return StoreStatsOf(*store_).families[family];
  }

  TempDir dir_;
  std::unique_ptr<Store> store_;
};

TEST_F(StoreFilters, StatsTellFilesAndFilterBytes) {
  StoreStats stats = StoreStatsOf(*store_);
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
    std::vector<Cell> cells = GetRowOf(*store_, AbsentRow(i));
    ASSERT_TRUE(cells.empty());
    ASSERT_THAT(store_->GetRow(AbsentRow(i), &cells, {.qualifier_prefix = "q"}),
                IsOk());
    ASSERT_TRUE(cells.empty());
  }
  for (const char* family : {"prefix", "row", "rowcol", "versioned"}) {
    const FilterStats filter = StatsOf(family).filter;
    EXPECT_GT(filter.row.checked, 2 * kQuestions * kFiles * 9 / 10) << family;
    EXPECT_GT(filter.row.skipped, filter.row.checked * 95 / 100) << family;
    EXPECT_EQ(filter.row_col.checked, 0u) << family;
  }
  EXPECT_EQ(StatsOf("none").filter.asked, 0u);
}

TEST_F(StoreFilters, GetOfAbsentRowsSkipsFilesThroughRow) {
  for (uint64_t i = 0; i < kQuestions; ++i) {
    for (const FamilyDescriptor& family : kFamilies) {
      ASSERT_FALSE(ValueOf(*store_, AbsentRow(i), family.name, "q"));
    }
  }
  for (const char* family : {"prefix", "row", "rowcol", "versioned"}) {
    const FilterStats filter = StatsOf(family).filter;
    EXPECT_GT(filter.row.checked, kQuestions * kFiles * 9 / 10) << family;
    EXPECT_GT(filter.row.skipped, filter.row.checked * 95 / 100) << family;
  }
  EXPECT_EQ(StatsOf("none").filter.asked, 0u);
}

TEST_F(StoreFilters, GetOfAbsentColumnsSkipsFilesThroughRowCol) {
  for (uint64_t i = 0; i < kQuestions; ++i) {
    for (const FamilyDescriptor& family : kFamilies) {
      // Between the columns of the row in key order.
      ASSERT_FALSE(
          ValueOf(*store_, kSharedRow, family.name, "1-" + std::to_string(i)));
    }
  }
  for (const char* family : kOfCells) {
    const FilterStats filter = StatsOf(family).filter;
    EXPECT_GT(filter.row_col.checked, kQuestions * kFiles * 9 / 10) << family;
    EXPECT_GT(filter.row_col.skipped, filter.row_col.checked * 95 / 100)
        << family;
    EXPECT_EQ(filter.row.skipped, 0u) << family;  // the row is in every file
  }
  const FilterStats row = StatsOf("row").filter;
  EXPECT_EQ(row.row_col.checked, 0u);
  EXPECT_EQ(row.row.skipped, 0u);
}

TEST_F(StoreFilters, BatchesAndChosenColumnsAskRowAndThenRowCol) {
  for (const std::string family : kOfCells) {
    SCOPED_TRACE(family);
    std::vector<OwnedAddress> absent_rows;
    std::vector<OwnedAddress> absent_columns;
    for (uint64_t i = 0; i < kQuestions; ++i) {
      absent_rows.push_back({AbsentRow(i), family, "q"});
      absent_columns.push_back({kSharedRow, family, "1-" + std::to_string(i)});
    }
    std::vector<std::vector<Cell>> cells;
    const uint64_t by_row = StatsOf(family).filter.row.skipped;
    ASSERT_THAT(store_->MultiGet(ViewsOf(absent_rows), &cells), IsOk());
    EXPECT_GT(StatsOf(family).filter.row.skipped - by_row,
              kQuestions * kFiles * 9 / 10);
    // The row is in all files, the columns are in none.
    const auto expect_skips = [&](const char* how, const auto& read) {
      const uint64_t before = SkippedByRowCol(family);
      read();
      EXPECT_GT(SkippedByRowCol(family) - before, kQuestions * kFiles * 9 / 10)
          << how;
    };
    expect_skips("MultiGet", [&] {
      ASSERT_THAT(store_->MultiGet(ViewsOf(absent_columns), &cells), IsOk());
    });
    expect_skips("chosen columns of a row", [&] {
      for (const OwnedAddress& at : absent_columns) {
        ASSERT_TRUE(
            GetRowOf(*store_, kSharedRow, {.columns = {{family, at.qualifier}}})
                .empty());
      }
    });
  }
}

TEST_F(StoreFilters, TheFrontFilterAnswersForAbsentRows) {
  StoreStats stats = StoreStatsOf(*store_);
  EXPECT_EQ(stats.front_filter, std::nullopt);
  store_.reset();
  store_ = OpenOrFail({.auto_compaction = false}, dir_.File("db"), {});
  ArmedStats(store_.get());
  // This row is in a memtable.
  ASSERT_THAT(store_->Put(AbsentRow(kQuestions), "row", "q", "v"), IsOk());
  for (uint64_t i = 0; i < kQuestions; ++i) {
    ASSERT_TRUE(GetRowOf(*store_, AbsentRow(i)).empty());
    for (const FamilyDescriptor& family : kFamilies) {
      ASSERT_FALSE(ValueOf(*store_, AbsentRow(i), family.name, "q"));
    }
  }
  EXPECT_TRUE(ValueOf(*store_, AbsentRow(kQuestions), "row", "q"));

  ASSERT_THAT(store_->Stats(&stats), IsOk());
  ASSERT_NE(stats.front_filter, std::nullopt);
  const FrontFilterStats& front = *stats.front_filter;
  // Each read probes it once.
  EXPECT_EQ(front.asked, kFamilies.size() * 2 * kQuestions + 1);
  // Three families have ROW sections. 6 % of absent rows pass one of 6 files.
  EXPECT_GT(front.answered, 3 * 2 * kQuestions * 85 / 100);
  EXPECT_GT(front.bytes, 3 * kFiles * kRowsPerFile);
  for (const FrontFilterFamilyStats& family : front.families) {
    SCOPED_TRACE(family.name);
    const bool has_rows = family.name == "row" || family.name == "rowcol" ||
                          family.name == "versioned";
    const bool is_family = family.name != "default";
    EXPECT_EQ(family.state, is_family ? FrontFilterState::kArmed
                                      : FrontFilterState::kDisarmed);
    EXPECT_EQ(family.files_known, has_rows ? kFiles : 0);
    EXPECT_EQ(family.files_unknown, is_family && !has_rows ? kFiles : 0);
  }
  // The files' own filters were probed for the few that it passed.
  for (const char* family : {"row", "rowcol", "versioned"}) {
    EXPECT_LT(StatsOf(family).filter.row.checked, kQuestions * kFiles / 2);
  }
}

// Once a row was deleted, each get of a versioned cell has to know the deletes
// of its row.
TEST_F(StoreFilters, TheFrontFilterKnowsRowsWithoutDeletes) {
  const auto open = [this] {
    store_.reset();
    store_ = OpenOrFail({.auto_compaction = false}, dir_.File("db"), {});
  };
  const auto answered = [this] {
    return ArmedStats(store_.get()).front_filter->answered;
  };
  const auto check = [&](const char* where) {
    SCOPED_TRACE(where);
    const uint64_t before = answered();
    std::optional<std::string> value;
    for (uint64_t i = 0; i < kQuestions; ++i) {
      ASSERT_THAT(store_->Get(PresentRow(i), "versioned", "q", &value), IsOk());
      ASSERT_EQ(value.has_value(), i % 100 != 50);
    }
    EXPECT_GT(answered() - before, kQuestions * 90 / 100);
  };
  open();
  WriteBatch batch;
  for (uint64_t i = 50; i < kQuestions; i += 100) {
    batch.DeleteFamily(PresentRow(i), "versioned");
  }
  ASSERT_THAT(store_->Write(batch), IsOk());
  check("in memory");
  ASSERT_THAT(store_->Flush(), IsOk());
  check("in a file");
  open();
  check("opened again");
  ASSERT_THAT(store_->Compact(), IsOk());
  check("compacted");
}

TEST_F(StoreFilters, PresentCellsAndRowsAreFoundAfterReopening) {
  store_.reset();
  store_ = OpenOrFail({.front_filter_limit_bytes = 0, .auto_compaction = false},
                      dir_.File("db"), {});
  for (uint64_t i = 0; i < kFiles * kRowsPerFile; ++i) {
    ASSERT_EQ(GetRowOf(*store_, PresentRow(i)).size(), kFamilies.size());
    for (const FamilyDescriptor& family : kFamilies) {
      ASSERT_TRUE(ValueOf(*store_, PresentRow(i), family.name, "q"));
    }
  }
  EXPECT_EQ(GetRowOf(*store_, kSharedRow).size(), kFiles * kFamilies.size());
  EXPECT_GT(StatsOf("rowcol").filter.row.skipped, 0u);
}

}  // namespace
}  // namespace rowbloom::test::filters_test
