#include "rowbloom/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <set>

#include "tests/storage/store/test_store.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// family:qualifier=value of each cell.
std::vector<std::string> Brief(const std::vector<Cell>& cells) {
  std::vector<std::string> brief;
  for (const Cell& cell : cells) {
    brief.push_back(cell.family + ":" + cell.qualifier + "=" + cell.value);
  }
  return brief;
}

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenOrFail({}, path_, {{"a", {}}, {"b", {}}});
  }

  std::vector<std::string> Row(std::string_view row) {
    return Brief(GetRowOf(*store_, row));
  }

  TempDir dir_;
  const std::string path_ = dir_.File("db");
  std::unique_ptr<Store> store_;
};

// The cells of a `latest` and of a `versioned` family, in a memtable and in a
// block; short values move with the object that holds them.
TEST_F(StoreTest, PinnedCellsStayAsTheyWereRead) {
  const std::string long_value(5000, 'l');
  ASSERT_THAT(store_->CreateFamily(
                  "v", {.timestamps = Timestamps::kClient, .max_versions = 3}),
              IsOk());
  std::vector<PinnableCell> cells;
  std::vector<std::string> expected;
  for (const bool flushed : {false, true}) {
    for (const std::string& value : {std::string("s"), long_value}) {
      const std::string qualifier = std::to_string(expected.size());
      ASSERT_THAT(store_->Put("r", "a", qualifier, value), IsOk());
      ASSERT_THAT(store_->Put("r", "v", qualifier, "old", {.timestamp_ms = 6}),
                  IsOk());
      ASSERT_THAT(store_->Put("r", "v", qualifier, value, {.timestamp_ms = 7}),
                  IsOk());
      if (flushed) {
        ASSERT_THAT(store_->Flush(), IsOk());
      }
      for (const char* family : {"a", "v"}) {
        PinnableCell cell;
        ASSERT_THAT(store_->Get("r", family, qualifier, &cell), IsOk());
        ASSERT_TRUE(cell);
        const std::vector<Cell> versions =
            GetVersionsOf(*store_, "r", family, qualifier);
        ASSERT_EQ(versions.size(), 1u);
        EXPECT_EQ(cell.timestamp_ms(), versions[0].timestamp_ms);
        cells.push_back(std::move(cell));
        expected.push_back(value);
      }
    }
  }
  ASSERT_THAT(store_->DeleteRow("r"), IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  for (size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(cells[i].value(), expected[i]) << i;
  }
  // The next read lets go of it.
  ASSERT_THAT(store_->Get("r", "a", "0", &cells[0]), IsOk());
  EXPECT_FALSE(cells[0]);
  EXPECT_EQ(cells[0].value(), "");
  EXPECT_EQ(cells[0].timestamp_ms(), 0u);
  ASSERT_THAT(
      store_->Get("r", "v", "0", &cells[1], {.time_range = TimeRange::At(6)}),
      IsOk());
  EXPECT_FALSE(cells[1]);
}

TEST_F(StoreTest, NothingIsGivenForWhatIsAbsent) {
  ASSERT_THAT(store_->Put("r", "a", "q", "v"), IsOk());
  const CellAddress absent[] = {
      {"r", "a", "q2"}, {"r", "b", "q"}, {"r2", "a", "q"}};
  for (const CellAddress& at : absent) {
    std::optional<std::string> value = "before";
    EXPECT_THAT(store_->Get(at.row, at.family, at.qualifier, &value), IsOk());
    EXPECT_EQ(value, std::nullopt);
    PinnableCell cell;
    EXPECT_THAT(store_->Get(at.row, at.family, at.qualifier, &cell), IsOk());
    EXPECT_FALSE(cell);
    std::vector<Cell> versions(1);
    EXPECT_THAT(store_->GetVersions(at.row, at.family, at.qualifier, &versions),
                IsOk());
    EXPECT_THAT(versions, IsEmpty());
  }
  std::vector<std::vector<Cell>> cells;
  EXPECT_THAT(store_->MultiGet(absent, &cells), IsOk());
  EXPECT_THAT(cells, ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
  EXPECT_THAT(Row("r2"), IsEmpty());
}

TEST_F(StoreTest, RowIsGivenByFamilyThenQualifierBytes) {
  ASSERT_THAT(store_->Put("r", "b", "1", "v"), IsOk());
  ASSERT_THAT(store_->Put("r", "a", "\xff", "v"), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  ASSERT_THAT(store_->Put("r", "a", "", "v"), IsOk());
  ASSERT_THAT(store_->Put("r", "a", "x", "v"), IsOk());
  ASSERT_THAT(store_->Put("r2", "a", "x", "v"), IsOk());
  EXPECT_THAT(Row("r"), ElementsAre("a:=v", "a:x=v", "a:\xff=v", "b:1=v"));
}

TEST_F(StoreTest, RowsOfAnyBytesStayApart) {
  // Rows that are prefixes of each other, and bytes that the layout escapes.
  std::vector<std::string> names;
  for (const char* part : {"", "r", "\x01", "\xff", "\xfe"}) {
    for (const int byte : {0, 1, 0xff}) {
      for (size_t count = 1; count <= 3; ++count) {
        names.push_back(part + std::string(count, static_cast<char>(byte)));
      }
    }
  }
  const std::set<std::string> rows(names.begin(), names.end());
  const std::vector<std::string> qualifiers = {
      "", std::string(1, '\0'), std::string("\0\1", 2), "\xff", "\1"};
  for (const std::string& row : rows) {
    for (const std::string& qualifier : qualifiers) {
      ASSERT_THAT(store_->Put(row, "a", qualifier, row + "/" + qualifier),
                  IsOk());
    }
  }
  ASSERT_THAT(store_->Flush(), IsOk());
  for (const std::string& row : rows) {
    const std::vector<Cell> cells = GetRowOf(*store_, row);
    EXPECT_EQ(cells.size(), qualifiers.size());
    for (const Cell& cell : cells) {
      EXPECT_EQ(cell.value, row + "/" + cell.qualifier);
    }
  }
  for (const std::string& row : rows) {
    ASSERT_THAT(store_->DeleteRow(row), IsOk());
    EXPECT_THAT(Row(row), IsEmpty());
  }
}

TEST_F(StoreTest, RowDeleteTakesAllFamiliesAndNoNeighbour) {
  for (const char* row : {"q\xff", "r", "r0", "s"}) {
    ASSERT_THAT(store_->Put(row, "a", "\xff\xff", row), IsOk());
    ASSERT_THAT(store_->Put(row, "b", "", row), IsOk());
  }
  ASSERT_THAT(store_->Flush(), IsOk());
  ASSERT_THAT(store_->DeleteRow("r"), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_THAT(Row("r"), IsEmpty());
  for (const char* row : {"q\xff", "r0", "s"}) {
    EXPECT_EQ(Row(row).size(), 2u) << row;
  }
  // A row comes back with what is put after the delete, and that alone.
  ASSERT_THAT(store_->Put("r", "a", "new", "v"), IsOk());
  EXPECT_THAT(Row("r"), ElementsAre("a:new=v"));
}

TEST_F(StoreTest, BatchIsAppliedInOrder) {
  WriteBatch batch;
  batch.Put("r", "a", "q", "lost");
  batch.DeleteRow("r");
  batch.Put("r", "a", "q", "first");
  batch.Put("r", "a", "q", "second");
  batch.Put("s", "b", "q", "lost");
  batch.Delete("s", "b", "q");
  ASSERT_THAT(store_->Write(batch), IsOk());
  EXPECT_THAT(Row("r"), ElementsAre("a:q=second"));
  EXPECT_THAT(Row("s"), IsEmpty());
  batch.Clear();
  EXPECT_EQ(batch.size(), 0u);
  EXPECT_THAT(store_->Write(batch), IsOk());
}

TEST_F(StoreTest, BatchWithABadChangeWritesNothing) {
  WriteBatch batch;
  batch.Put("r", "a", "q", "v");
  batch.Put("r", "b", "q", "v");
  batch.Put("r", "c", "q", "v");
  EXPECT_THAT(store_->Write(batch),
              StatusIs(Status::kInvalidArgument, HasSubstr("family \"c\"")));
  EXPECT_THAT(Row("r"), IsEmpty());
}

TEST_F(StoreTest, UnknownFamilyIsNamedWithTheKnownOnes) {
  const auto is_unknown =
      StatusIs(Status::kInvalidArgument,
               HasSubstr("family \"x\\x0A\" is not in the store at " + path_ +
                         "; it has: a, b"));
  std::optional<std::string> value;
  PinnableCell cell;
  EXPECT_THAT(store_->Put("r", "x\n", "q", "v"), is_unknown);
  EXPECT_THAT(store_->Delete("r", "x\n", "q"), is_unknown);
  EXPECT_THAT(store_->Get("r", "x\n", "q", &value), is_unknown);
  EXPECT_THAT(store_->Get("r", "x\n", "q", &cell), is_unknown);
  EXPECT_THAT(
      store_->Put("r", "default", "q", "v"),
      StatusIs(Status::kInvalidArgument, HasSubstr("family \"default\"")));
}

TEST_F(StoreTest, SizesOutOfLimitsAreNamed) {
  std::optional<std::string> value;
  std::vector<Cell> cells;
  for (const size_t bytes : {size_t{0}, kMaxRowBytes + 1}) {
    const std::string row(bytes, 'r');
    const auto is_refused =
        StatusIs(Status::kInvalidArgument,
                 HasSubstr("a row of " + std::to_string(bytes) +
                           " bytes: expected 1 to 32767"));
    EXPECT_THAT(store_->Put(row, "a", "q", "v"), is_refused);
    EXPECT_THAT(store_->Delete(row, "a", "q"), is_refused);
    EXPECT_THAT(store_->DeleteRow(row), is_refused);
    EXPECT_THAT(store_->Get(row, "a", "q", &value), is_refused);
    EXPECT_THAT(store_->GetRow(row, &cells), is_refused);
  }
  const std::string qualifier(kMaxQualifierBytes + 1, 'q');
  const auto is_long_qualifier =
      StatusIs(Status::kInvalidArgument,
               HasSubstr("a qualifier of 1048577 bytes: expected at most "
                         "1048576"));
  EXPECT_THAT(store_->Put("r", "a", qualifier, "v"), is_long_qualifier);
  EXPECT_THAT(store_->Delete("r", "a", qualifier), is_long_qualifier);
  EXPECT_THAT(store_->Get("r", "a", qualifier, &value), is_long_qualifier);
  // Refused by its size: its bytes, which are not there, are not looked at.
  for (const size_t bytes : {kMaxValueBytes + 1, size_t{1} << 62}) {
    const auto is_huge = StatusIs(Status::kInvalidArgument,
                                  HasSubstr("of " + std::to_string(bytes) +
                                            " bytes: expected at most 1"));
    const std::string_view huge("v", bytes);
    EXPECT_THAT(store_->Put("r", "a", "q", huge), is_huge);
    EXPECT_THAT(store_->Put("r", "a", huge, "v"), is_huge);
  }
}

TEST_F(StoreTest, LongestRowAndQualifierAreKept) {
  const std::string row(kMaxRowBytes, '\0');  // twice as long when escaped
  const std::string qualifier(kMaxQualifierBytes, '\xff');
  ASSERT_THAT(store_->Put(row, "a", qualifier, "v"), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_EQ(ValueOf(*store_, row, "a", qualifier), "v");
  ASSERT_THAT(store_->DeleteRow(row), IsOk());
  EXPECT_EQ(ValueOf(*store_, row, "a", qualifier), std::nullopt);
}

// The bytes after a row or a qualifier end, or begin, a range that has all up
// to it. After the longest ones they are no row and no qualifier.
TEST_F(StoreTest, RangesMayEndAfterTheLongestRowAndQualifier) {
  const std::string row(kMaxRowBytes, 'r');
  const std::string qualifier(kMaxQualifierBytes, 'q');
  ASSERT_THAT(store_->Put(row, "a", qualifier, "v"), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  const std::string after_row = row + '\0';
  const std::string after_qualifier = qualifier + '\0';
  const auto rows = [this](const ScanOptions& options) {
    RowScanner found;
    EXPECT_THAT(store_->Scan(options, &found), IsOk());
    const auto count = std::ranges::distance(found);
    EXPECT_THAT(found.status(), IsOk());
    return count;
  };
  EXPECT_EQ(rows({.start_row = row, .stop_row = after_row}), 1);
  EXPECT_EQ(rows({.start_row = after_row}), 0);
  EXPECT_EQ(rows({.row_prefix = after_row}), 0);
  EXPECT_EQ(rows({.ranges = {{"", after_row}}, .reverse = true}), 1);
  const auto cells = [&](const RowOptions& options) {
    return GetRowOf(*store_, row, options).size();
  };
  EXPECT_EQ(
      cells({.qualifier_start = qualifier, .qualifier_stop = after_qualifier}),
      1u);
  EXPECT_EQ(cells({.qualifier_start = after_qualifier}), 0u);
  EXPECT_EQ(cells({.qualifier_prefix = after_qualifier}), 0u);
  EXPECT_THAT(store_->Compact({.start_row = row, .stop_row = after_row}),
              IsOk());
  std::unique_ptr<CellIterator> it;
  ASSERT_THAT(
      store_->NewCellIterator(
          {.family = "a", .start_row = row, .stop_row = after_row}, &it),
      IsOk());
  EXPECT_TRUE(it->Valid());
}

TEST_F(StoreTest, FlushLetsTheLogGo) {
  const auto log_bytes = [this] {
    uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      if (entry.path().extension() != ".log") continue;
      std::error_code gone;  // since it was listed
      const uint64_t size = entry.file_size(gone);
      if (!gone) bytes += size;
    }
    return bytes;
  };
  ASSERT_THAT(store_->Put("r", "a", "q", std::string(1 << 20, 'v')), IsOk());
  EXPECT_GT(log_bytes(), uint64_t{1} << 20);
  ASSERT_THAT(store_->Flush(), IsOk());
  // RocksDB removes the old log behind the scenes.
  EXPECT_TRUE(WaitFor([&] { return log_bytes() < uint64_t{1} << 20; }))
      << log_bytes();
}

TEST(FixedLayout, RowsHaveTheLengthOfTheLayout) {
  const TempDir dir;
  const auto store = OpenOrFail({.key_layout = KeyLayout::FixedRow(2)},
                                dir.File("db"), {{"f", {}}});
  EXPECT_THAT(
      store->Put("abc", "f", "q", "v"),
      StatusIs(Status::kInvalidArgument,
               AllOf(HasSubstr("a row of 3 bytes"), HasSubstr("fixed:2"))));
  EXPECT_THAT(store->Put("ab", "f", "q", "v"), IsOk());
}

TEST(FixedLayout, LastRowOfAllCanBeDeleted) {
  const TempDir dir;
  const auto store = OpenOrFail({.key_layout = KeyLayout::FixedRow(2)},
                                dir.File("db"), {{"f", {}}});
  const std::string last = "\xff\xff";
  ASSERT_THAT(store->Put(last, "f", "", "v"), IsOk());
  ASSERT_THAT(
      store->Put(last, "f", std::string(kMaxQualifierBytes, '\xff'), "v"),
      IsOk());
  ASSERT_THAT(store->Put("\xff\xfe", "f", "\xff", "v"), IsOk());
  ASSERT_THAT(store->DeleteRow(last), IsOk());
  std::vector<Cell> cells = GetRowOf(*store, last);
  EXPECT_THAT(cells, IsEmpty());
  ASSERT_THAT(store->GetRow("\xff\xfe", &cells), IsOk());
  EXPECT_EQ(cells.size(), 1u);
}

}  // namespace
}  // namespace rowbloom::test
