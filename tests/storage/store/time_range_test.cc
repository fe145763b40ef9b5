// Scans and reads of rows with a time range pass over files that are wholly
// older, and answer as if they had read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/cells/given_times.h"
#include "tests/storage/store/model_families.h"
#include "tests/storage/store/random_names.h"
#include "tests/storage/store/store_model.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test::time_range_test {
namespace {

constexpr uint64_t kDayMs = uint64_t{24} * 60 * 60 * 1000;
constexpr uint64_t kDays = 30;
constexpr uint64_t kEndMs = kModelStart + kDays * kDayMs;

uint64_t StartOf(uint64_t day) { return kModelStart + day * kDayMs; }

const std::map<std::string, FamilyOptions> kFamilies = {
    {"expiring",
     {.timestamps = Timestamps::kClient,
      .max_versions = 3,
      .ttl_ms = 12 * kDayMs}},
    {"lasting",
     {.timestamps = Timestamps::kClient,
      .max_versions = 4,
      .min_versions = 2,
      .ttl_ms = 5 * kDayMs}},
    {"many", {.timestamps = Timestamps::kClient, .max_versions = 1000}},
    {"one",
     {.bloom_type = BloomType::kNone, .timestamps = Timestamps::kClient}},
};

class TimeRangeTest : public ::testing::Test {
 protected:
  void Open(const std::map<std::string, FamilyOptions>& of) {
    store_ = OpenOrFail(
        {.front_filter_limit_bytes = RandomFrontFilterLimit(&random_),
         .auto_compaction = false},
        dir_.File("db"), Descriptors(of), [this] { return now_ms_; });
  }

  void Put(const std::string& row, const std::string& family,
           uint64_t timestamp_ms) {
    ASSERT_THAT(store_->Put(row, family, "q", std::to_string(timestamp_ms),
                            {.timestamp_ms = timestamp_ms}),
                IsOk());
  }

  uint64_t PassedOver(const std::string& family) {
    return StoreStatsOf(*store_).families[family].files_passed_over;
  }

  std::vector<Row> Scan(const ScanOptions& options) {
    return RowsOf(*store_, options);
  }

  TempDir dir_;
  Random random_{SeedFromEnv()};
  uint64_t now_ms_ = kEndMs;
  std::unique_ptr<Store> store_;
};

TEST_F(TimeRangeTest, OlderFilesArePassedOverAndCounted) {
  Open({{"v", kFamilies.at("many")}});
  for (uint64_t day = 0; day < 3; ++day) {
    ASSERT_NO_FATAL_FAILURE(Put("row", "v", StartOf(day)));
    ASSERT_NO_FATAL_FAILURE(Put("row", "v", StartOf(day + 1) - 1));
    ASSERT_THAT(store_->Flush(), IsOk());
  }
  const TimeRange last_day{StartOf(2), StartOf(3)};
  const ScanOptions scan{.row = {.time_range = last_day, .max_versions = 9}};
  const std::vector<Cell> cells = GetRowOf(*store_, "row", scan.row);
  EXPECT_EQ(cells.size(), 2U);
  EXPECT_EQ(PassedOver("v"), 2U);
  EXPECT_EQ(Scan(scan).at(0).cells, cells);
  EXPECT_EQ(PassedOver("v"), 4U);

  // A file counts as old as its newest cell; one that is newer than the range
  // is read.
  const auto passed_from = [&](uint64_t begin_ms) {
    const uint64_t before = PassedOver("v");
    Scan({.row = {.time_range = {begin_ms, begin_ms + 1}}});
    return PassedOver("v") - before;
  };
  EXPECT_EQ(passed_from(0), 0U);
  EXPECT_EQ(passed_from(StartOf(1) - 1), 0U);
  EXPECT_EQ(passed_from(StartOf(1)), 1U);
  EXPECT_EQ(passed_from(StartOf(3) - 1), 2U);
  EXPECT_EQ(passed_from(StartOf(3)), 3U);

  // The one file that a full compaction leaves is passed over only by ranges
  // that begin after its newest cell.
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_EQ(passed_from(StartOf(3) - 1), 0U);
  EXPECT_EQ(passed_from(StartOf(3)), 1U);
}

TEST_F(TimeRangeTest, LoadedFilesArePassedOver) {
  Open({{"v", kFamilies.at("many")}});
  const auto load = LoadInto(*store_);
  ASSERT_THAT(load->Add({ChangeType::kPut, "row", "v", "q", "old", StartOf(0)}),
              IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  ASSERT_NO_FATAL_FAILURE(Put("row", "v", StartOf(1)));
  const std::vector<Row> rows = Scan(
      {.row = {.time_range = {StartOf(0) + 1, kEndMs}, .max_versions = 9}});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].cells.size(), 1U);
  EXPECT_EQ(PassedOver("v"), 1U);
}

TEST_F(TimeRangeTest, FilesOfLatestFamiliesAreRead) {
  Open({{"latest", {}}});
  ASSERT_THAT(store_->Put("row", "latest", "q", "new"), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  // The later put has the older timestamp.
  now_ms_ -= kDayMs;
  ASSERT_THAT(store_->ResetClock(), IsOk());
  ASSERT_THAT(store_->Put("row", "latest", "q", "old"), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_TRUE(
      Scan({.row = {.time_range = {kEndMs - 1, kEndMs + kDayMs}}}).empty());
  EXPECT_EQ(PassedOver("latest"), 0U);
}

// A version is as far ahead of the clock as can be: the store removes it with a
// tombstone, of the cell or the row, and adds a delete of the time before.
// Neither that nor a later put is in the range of the version.
TEST_F(TimeRangeTest, FilesThatHideNewerVersionsAreRead) {
  int number = 0;
  for (const bool of_row : {false, true}) {
    for (const bool in_one_file : {true, false}) {
      SCOPED_TRACE(++number);
      Open({{"v", kFamilies.at("one")}});
      const uint64_t newest_ms = now_ms_ + GivenTimes::kMaxAheadMs;
      ASSERT_NO_FATAL_FAILURE(Put("row", "v", newest_ms));
      ASSERT_THAT(store_->Flush(), IsOk());
      ASSERT_THAT(of_row ? store_->DeleteFamily("row", "v")
                         : store_->Delete("row", "v", "q"),
                  IsOk());
      if (!in_one_file) {
        ASSERT_THAT(store_->Flush(), IsOk());
      }
      ASSERT_NO_FATAL_FAILURE(Put("row", "v", newest_ms - 2));
      ASSERT_THAT(store_->Flush(), IsOk());
      const RowOptions read{.time_range = {newest_ms, newest_ms + 1}};
      EXPECT_TRUE(Scan({.row = read}).empty());
      EXPECT_TRUE(Scan({.reverse = true, .row = read}).empty());
      EXPECT_TRUE(GetRowOf(*store_, "row", read).empty());
      store_.reset();
      ASSERT_THAT(rocksdb::DestroyDB(dir_.File("db"), {}), IsOk());
    }
  }
}

// Random writes with timestamps mostly of the day, in files by day, some of
// them compacted, against the model.
class FilesByDay : public TimeRangeTest {
 protected:
  static constexpr uint64_t kWritesADay = 60;

  std::string RandomRow() {
    return {static_cast<char>('a' + random_.Below(5))};
  }
  std::string RandomQualifier() {
    return RandomName(random_.Below(2), &random_);
  }
  // Mostly of the day, else earlier or up to two days later. Whole hours, so
  // that timestamps meet.
  uint64_t RandomTimestamp(uint64_t day) {
    constexpr uint64_t kHourMs = kDayMs / 24;
    if (random_.OneIn(8)) day = random_.Below(day + 3);
    return StartOf(day) + random_.Below(24) * kHourMs;
  }

  void WriteDay(uint64_t day) {
    for (uint64_t i = 0; i < kWritesADay; ++i) {
      WriteBatch batch;
      const std::string row = RandomRow();
      const auto& [family, options] = *std::next(
          kFamilies.begin(),
          static_cast<std::ptrdiff_t>(random_.Below(kFamilies.size())));
      const std::string qualifier = RandomQualifier();
      const uint64_t ms = RandomTimestamp(day);
      const uint64_t dice = random_.Below(24);
      if (dice == 0) {
        batch.Delete(row, family, qualifier, ms);
        model_.Delete(row, family, qualifier, ms);
      } else if (dice == 1) {
        batch.DeleteVersion(row, family, qualifier, ms);
        model_.DeleteVersion(row, family, qualifier, ms);
      } else if (dice == 2) {
        batch.DeleteFamily(row, family, ms);
        model_.DeleteFamily(row, family, ms);
      } else if (dice == 3) {
        batch.DeleteFamilyVersion(row, family, ms);
        model_.DeleteFamilyVersion(row, family, ms);
      } else {
        const std::string value = std::to_string(++writes_);
        batch.Put(row, family, qualifier, value, ms);
        model_.Put(row, family, qualifier, ms, value);
      }
      ASSERT_THAT(store_->Write(batch), IsOk());
    }
  }

  // Ends the day's file, or goes on with it tomorrow.
  void EndDay() {
    if (random_.OneIn(6)) snapshot_ = SnapshotOf(*store_);
    if (random_.OneIn(4)) snapshot_.reset();
    if (!random_.OneIn(5)) {
      ASSERT_THAT(store_->Flush(), IsOk());
    }
    if (!random_.OneIn(8)) return;
    CompactOptions part;
    if (random_.OneIn(2)) part.start_row = RandomRow();
    if (random_.OneIn(2)) part.family = "many";
    ASSERT_THAT(store_->Compact(part), IsOk());
  }

  void ExpectModelsAnswers(uint64_t day) {
    ScanOptions scan{.reverse = random_.OneIn(2)};
    scan.row.time_range.begin_ms = RandomTimestamp(day) + random_.Below(2);
    if (random_.OneIn(2)) {
      scan.row.time_range.end_ms =
          scan.row.time_range.begin_ms + random_.Below(3 * kDayMs);
    }
    scan.row.max_versions = 1 + static_cast<uint32_t>(random_.Below(5));
    if (random_.OneIn(4)) {
      scan.row.columns = {{"many"}, {"one", RandomQualifier()}};
    }
    if (random_.OneIn(4)) scan.row.column_offset = random_.Below(3);
    if (random_.OneIn(4)) scan.limit = random_.Below(4);
    const std::vector<Row> expected = model_.Scan(scan, now_ms_);
    const std::vector<Row> found = Scan(scan);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].row, expected[i].row);
      ASSERT_EQ(found[i].cells, expected[i].cells) << found[i].row;
    }
    const std::string row = RandomRow();
    ASSERT_EQ(GetRowOf(*store_, row, scan.row),
              model_.GetRow(row, scan.row, now_ms_))
        << row;
  }

  StoreModel model_{kFamilies};
  std::unique_ptr<const Snapshot> snapshot_;
  uint64_t writes_ = 0;
};

TEST_F(FilesByDay, AnswerAsTheModel) {
  for (uint64_t stores = Scaled(2); stores > 0; --stores) {
    now_ms_ = kModelStart;
    model_ = StoreModel(kFamilies);
    Open(kFamilies);
    for (uint64_t day = 0; day < kDays; ++day) {
      now_ms_ = StartOf(day + 1);
      ASSERT_NO_FATAL_FAILURE(WriteDay(day)) << "day " << day;
      ASSERT_NO_FATAL_FAILURE(EndDay()) << "day " << day;
      for (int i = 0; i < 20; ++i) {
        ASSERT_NO_FATAL_FAILURE(ExpectModelsAnswers(day)) << "day " << day;
      }
    }
    for (const auto& [name, options] : kFamilies) {
      EXPECT_GT(PassedOver(name), 0U) << name;
    }
    snapshot_.reset();
    store_.reset();
    ASSERT_THAT(rocksdb::DestroyDB(dir_.File("db"), {}), IsOk());
  }
}

}  // namespace
}  // namespace rowbloom::test::time_range_test
