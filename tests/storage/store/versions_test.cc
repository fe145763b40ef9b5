// Versions, deletes and expiry as an application sees them, whatever the order
// of arrival and wherever RocksDB has put what was written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "rowbloom/printable.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test::versions_test {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kNow = 1'000'000;

const FamilyOptions kClient = {.timestamps = Timestamps::kClient,
                               .max_versions = 3};

// Between two writes: what RocksDB does with them must not show.
enum class Between { kNothing, kFlush, kCompact, kReopen };

class Versions : public ::testing::TestWithParam<Between> {
 protected:
  void SetUp() override { Open(); }

  void Open() {
    store_.reset();
    store_ = OpenOrFail({}, dir_.File("db"),
                        {{"c", kClient},
                         {"latest", {}},
                         {"one", {.timestamps = Timestamps::kClient}},
                         {"s", {.max_versions = 3}},
                         {"ttl", {.ttl_ms = 100}},
                         {"ttl3",
                          {.timestamps = Timestamps::kClient,
                           .max_versions = 3,
                           .min_versions = 1,
                           .ttl_ms = 100}}},
                        [this] { return now_ms_; });
  }

  void Pass() {
    switch (GetParam()) {
      case Between::kNothing:
        break;
      case Between::kFlush:
        ASSERT_THAT(store_->Flush(), IsOk());
        break;
      case Between::kCompact:
        ASSERT_THAT(store_->Compact(), IsOk());
        break;
      case Between::kReopen:
        Open();
        break;
    }
  }

  void Put(const std::string& column, uint64_t timestamp_ms) {
    const size_t colon = column.find(':');
    ASSERT_THAT(
        store_->Put("r", column.substr(0, colon), column.substr(colon + 1),
                    std::to_string(timestamp_ms),
                    {.timestamp_ms = timestamp_ms}),
        IsOk());
    ASSERT_NO_FATAL_FAILURE(Pass());
  }

  // The timestamps of the versions, after GetVersions, GetRow and Scan agreed.
  std::vector<uint64_t> Get(const std::string& column,
                            const ReadOptions& options = {
                                .max_versions = 100}) {
    const std::string family = column.substr(0, column.find(':'));
    const std::string qualifier = column.substr(column.find(':') + 1);
    const std::vector<Cell> cells =
        GetVersionsOf(*store_, "r", family, qualifier, options);
    RowOptions row{.columns = {{family}},
                   .time_range = options.time_range,
                   .max_versions = options.max_versions,
                   .snapshot = options.snapshot};
    std::vector<Cell> of_row = GetRowOf(*store_, "r", row);
    std::erase_if(
        of_row, [&](const Cell& cell) { return cell.qualifier != qualifier; });
    EXPECT_EQ(cells, of_row);
    std::vector<Cell> scanned;
    for (const Row& found : RowsOf(*store_, {.row_prefix = "r", .row = row})) {
      for (const Cell& cell : found.cells) {
        if (cell.qualifier == qualifier) scanned.push_back(cell);
      }
    }
    EXPECT_EQ(cells, scanned);
    std::vector<uint64_t> timestamps;
    for (const Cell& cell : cells) timestamps.push_back(cell.timestamp_ms);
    return timestamps;
  }

  TempDir dir_;
  uint64_t now_ms_ = kNow;
  std::unique_ptr<Store> store_;
};

TEST_P(Versions, OlderPutAfterANewerOneStaysOlder) {
  ASSERT_NO_FATAL_FAILURE(Put("one:q", 100));
  ASSERT_NO_FATAL_FAILURE(Put("one:q", 50));
  EXPECT_THAT(Get("one:q"), ElementsAre(100));
  ASSERT_NO_FATAL_FAILURE(Put("c:q", 100));
  ASSERT_NO_FATAL_FAILURE(Put("c:q", 50));
  EXPECT_THAT(Get("c:q"), ElementsAre(100, 50));
}

TEST_P(Versions, PutBelowAnEarlierDeleteStaysDeleted) {
  ASSERT_THAT(store_->Delete("r", "c", "q", {.timestamp_ms = 95}), IsOk());
  ASSERT_THAT(store_->DeleteFamily("s", "c", {.timestamp_ms = 95}), IsOk());
  ASSERT_NO_FATAL_FAILURE(Pass());
  for (const uint64_t timestamp_ms : {50, 95, 96}) {
    ASSERT_NO_FATAL_FAILURE(Put("c:q", timestamp_ms));
    ASSERT_THAT(store_->Put("s", "c", "q", "v", {.timestamp_ms = timestamp_ms}),
                IsOk());
  }
  EXPECT_THAT(Get("c:q"), ElementsAre(96));
  const std::vector<Cell> cells =
      GetVersionsOf(*store_, "s", "c", "q", {.max_versions = 9});
  EXPECT_THAT(cells, ElementsAre(Cell{"c", "q", 96, "v"}));
}

TEST_P(Versions, LastWriteOfATimestampCounts) {
  ASSERT_THAT(store_->Put("r", "c", "q", "a", {.timestamp_ms = 7}), IsOk());
  ASSERT_NO_FATAL_FAILURE(Pass());
  ASSERT_THAT(store_->Put("r", "c", "q", "b", {.timestamp_ms = 7}), IsOk());
  ASSERT_NO_FATAL_FAILURE(Pass());
  const std::vector<Cell> cells =
      GetVersionsOf(*store_, "r", "c", "q", {.max_versions = 9});
  EXPECT_THAT(cells, ElementsAre(Cell{"c", "q", 7, "b"}));
}

TEST_P(Versions, DeletesTakeWhatTheyName) {
  for (const char* column : {"c:", "c:q", "c:x"}) {
    for (const uint64_t timestamp_ms : {10, 20, 30}) {
      ASSERT_NO_FATAL_FAILURE(Put(column, timestamp_ms));
    }
  }
  ASSERT_THAT(store_->DeleteVersion("r", "c", "q", {.timestamp_ms = 20}),
              IsOk());
  ASSERT_NO_FATAL_FAILURE(Pass());
  EXPECT_THAT(Get("c:q"), ElementsAre(30, 10));
  ASSERT_THAT(store_->Delete("r", "c", "x", {.timestamp_ms = 20}), IsOk());
  ASSERT_NO_FATAL_FAILURE(Pass());
  EXPECT_THAT(Get("c:x"), ElementsAre(30));
  // The cell of the empty qualifier is one like the others.
  EXPECT_THAT(Get("c:"), ElementsAre(30, 20, 10));
  ASSERT_THAT(store_->DeleteFamily("r", "c", {.timestamp_ms = 10}), IsOk());
  ASSERT_NO_FATAL_FAILURE(Pass());
  EXPECT_THAT(Get("c:q"), ElementsAre(30));
  EXPECT_THAT(Get("c:"), ElementsAre(30, 20));
  ASSERT_THAT(store_->Put("r", "latest", "q", "v"), IsOk());
  ASSERT_NO_FATAL_FAILURE(Pass());
  ASSERT_THAT(store_->DeleteRow("r"), IsOk());
  ASSERT_NO_FATAL_FAILURE(Pass());
  for (const char* column : {"c:", "c:q", "c:x", "latest:q"}) {
    EXPECT_THAT(Get(column), IsEmpty()) << column;
  }
}

// Timestamps of the application may be of any kind: sequence numbers, or
// microseconds, which are far ahead of the store's clock.
TEST_P(Versions, DeleteWithoutATimestampTakesWhatWasWrittenBefore) {
  for (const uint64_t newest : {uint64_t{7}, kNow + 500, kNow * 1000}) {
    for (const bool whole_row : {false, true}) {
      const std::string column =
          "c:q" + std::to_string(newest) + (whole_row ? "row" : "column");
      ASSERT_NO_FATAL_FAILURE(Put(column, newest - 1));
      ASSERT_NO_FATAL_FAILURE(Put(column, newest));
      ASSERT_THAT(whole_row ? store_->DeleteRow("r")
                            : store_->Delete("r", "c", column.substr(2)),
                  IsOk());
      ASSERT_NO_FATAL_FAILURE(Pass());
      EXPECT_THAT(Get(column), IsEmpty()) << newest;
      const uint64_t later = newest + 1 + (whole_row ? 1 : 0);
      ASSERT_NO_FATAL_FAILURE(Put(column, later));
      ASSERT_NO_FATAL_FAILURE(Pass());
      EXPECT_THAT(Get(column), ElementsAre(later)) << newest;
    }
  }
}

TEST_P(Versions, DeleteWithoutATimestampTakesWhatItsBatchHasPut) {
  WriteBatch batch;
  batch.Put("r", "c", "a", "v", 7);
  batch.Put("r", "c", "b", "v", kNow * 1000);
  batch.Delete("r", "c", "a");
  batch.DeleteFamily("r", "c");
  batch.Put("r", "c", "b", "v", kNow * 1000 + 1);
  ASSERT_THAT(store_->Write(batch), IsOk());
  ASSERT_NO_FATAL_FAILURE(Pass());
  EXPECT_THAT(Get("c:a"), IsEmpty());
  EXPECT_THAT(Get("c:b"), ElementsAre(kNow * 1000 + 1));
}

TEST_P(Versions, DeleteOfOneTimestampInAllColumns) {
  for (const char* column : {"c:", "c:a", "c:b"}) {
    for (const uint64_t timestamp_ms : {10, 20, 30}) {
      ASSERT_NO_FATAL_FAILURE(Put(column, timestamp_ms));
    }
  }
  ASSERT_NO_FATAL_FAILURE(Pass());
  WriteBatch batch;
  batch.DeleteFamilyVersion("r", "c", 20);
  batch.Put("r", "c", "b", "again", 20);  // dead from the beginning
  ASSERT_THAT(store_->Write(batch), IsOk());
  ASSERT_NO_FATAL_FAILURE(Pass());
  for (const char* column : {"c:", "c:a", "c:b"}) {
    EXPECT_THAT(Get(column), ElementsAre(30, 10)) << column;
  }
  // A column's delete leaves the row's alone.
  ASSERT_THAT(store_->Delete("r", "c", "", {.timestamp_ms = 25}), IsOk());
  ASSERT_NO_FATAL_FAILURE(Pass());
  EXPECT_THAT(Get("c:"), ElementsAre(30));
  EXPECT_THAT(Get("c:a"), ElementsAre(30, 10));
}

// Such a put would push out a version, and then not be seen itself.
TEST_P(Versions, PutThatIsDeletedAlreadyTakesNoVersionsPlace) {
  WriteBatch batch;
  batch.DeleteFamilyVersion("r", "c", 50);
  ASSERT_THAT(store_->Write(batch), IsOk());
  for (const uint64_t timestamp_ms : {10, 20, 30}) {
    ASSERT_NO_FATAL_FAILURE(Put("c:a", timestamp_ms));
  }
  ASSERT_NO_FATAL_FAILURE(Pass());
  ASSERT_NO_FATAL_FAILURE(Put("c:a", 50));
  ASSERT_NO_FATAL_FAILURE(Pass());
  EXPECT_THAT(Get("c:a"), ElementsAre(30, 20, 10));
}

// In HBase a put in the millisecond of a delete is lost.
TEST_P(Versions, PutAfterADeleteInTheSameMillisecondIsThere) {
  for (const char* family : {"c", "s", "latest"}) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_THAT(store_->Put("r", family, "q", "old"), IsOk());
      ASSERT_THAT(store_->DeleteFamily("r", family), IsOk());
      ASSERT_NO_FATAL_FAILURE(Pass());
      EXPECT_THAT(Get(std::string(family) + ":q"), IsEmpty()) << family;
      ASSERT_THAT(store_->Put("r", family, "q", "new"), IsOk());
      EXPECT_EQ(ValueOf(*store_, "r", family, "q"), "new");
      WriteBatch batch;
      batch.Delete("r", family, "q");
      batch.Put("r", family, "q", "newest");
      ASSERT_THAT(store_->Write(batch), IsOk());
      EXPECT_EQ(ValueOf(*store_, "r", family, "q"), "newest");
    }
  }
}

TEST_P(Versions, ReadsByTimeAndNumber) {
  for (const uint64_t timestamp_ms : {40, 20, 60}) {
    ASSERT_NO_FATAL_FAILURE(Put("c:q", timestamp_ms));
  }
  const auto get = [this](const TimeRange& range, uint32_t max_versions) {
    return Get("c:q", {.time_range = range, .max_versions = max_versions});
  };
  EXPECT_THAT(get(TimeRange::All(), 1), ElementsAre(60));
  EXPECT_THAT(get(TimeRange::All(), 2), ElementsAre(60, 40));
  EXPECT_THAT(get(TimeRange::UpTo(59), 1), ElementsAre(40));
  EXPECT_THAT(get(TimeRange::At(40), 9), ElementsAre(40));
  EXPECT_THAT(get(TimeRange::At(41), 9), IsEmpty());
  EXPECT_THAT(get({20, 60}, 9), ElementsAre(40, 20));
  EXPECT_THAT(get({21, 60}, 9), ElementsAre(40));
  EXPECT_THAT(get({30, 30}, 9), IsEmpty());
  ASSERT_THAT(store_->Put("r", "latest", "q", "v"), IsOk());
  EXPECT_THAT(Get("latest:q", {.time_range = TimeRange::UpTo(kNow - 1)}),
              IsEmpty());
  EXPECT_THAT(Get("latest:q", {.time_range = {kNow, kNow + 1}}),
              ElementsAre(kNow));
}

TEST_P(Versions, SurplusVersionsDoNotComeBack) {
  for (const uint64_t timestamp_ms : {10, 20, 30, 40}) {
    ASSERT_NO_FATAL_FAILURE(Put("c:q", timestamp_ms));
  }
  ASSERT_THAT(store_->DeleteVersion("r", "c", "q", {.timestamp_ms = 30}),
              IsOk());
  ASSERT_NO_FATAL_FAILURE(Pass());
  EXPECT_THAT(Get("c:q"), ElementsAre(40, 20));
}

TEST_P(Versions, ExpireAtOnce) {
  ASSERT_THAT(store_->Put("r", "ttl", "q", "v"), IsOk());
  ASSERT_NO_FATAL_FAILURE(Put("ttl3:q", kNow - 20));
  ASSERT_NO_FATAL_FAILURE(Put("ttl3:q", kNow));
  now_ms_ = kNow + 81;
  ASSERT_NO_FATAL_FAILURE(Pass());
  EXPECT_THAT(Get("ttl:q"), ElementsAre(kNow));
  EXPECT_THAT(Get("ttl3:q"), ElementsAre(kNow));
  now_ms_ = kNow + 100;
  EXPECT_THAT(Get("ttl:q"), ElementsAre(kNow));
  now_ms_ = kNow + 101;
  ASSERT_NO_FATAL_FAILURE(Pass());
  EXPECT_THAT(Get("ttl:q"), IsEmpty());
  EXPECT_THAT(Get("ttl3:q"), ElementsAre(kNow));  // min_versions
}

class VersionsOfOneOpening : public Versions {};

TEST_P(VersionsOfOneOpening, SnapshotsStayAsTheyWere) {
  const auto put = [this](const char* family) {
    ASSERT_THAT(store_->Put("r", family, "q", "v"), IsOk());
  };
  ASSERT_NO_FATAL_FAILURE(put("latest"));
  ASSERT_NO_FATAL_FAILURE(Put("c:q", 10));
  const auto snapshot = SnapshotOf(*store_);
  ASSERT_NO_FATAL_FAILURE(Put("c:q", 20));
  ASSERT_THAT(store_->DeleteRow("r"), IsOk());
  ASSERT_NO_FATAL_FAILURE(Pass());
  ASSERT_NO_FATAL_FAILURE(put("s"));
  const ReadOptions then = {.max_versions = 9, .snapshot = snapshot.get()};
  EXPECT_THAT(Get("c:q", then), ElementsAre(10));
  EXPECT_EQ(Get("latest:q", then).size(), 1u);
  EXPECT_THAT(Get("s:q", then), IsEmpty());
  EXPECT_THAT(Get("c:q"), IsEmpty());
  EXPECT_THAT(Get("latest:q"), IsEmpty());
}

std::string Name(const ::testing::TestParamInfo<Between>& param) {
  switch (param.param) {
    case Between::kNothing:
      return "Memory";
    case Between::kFlush:
      return "Flushed";
    case Between::kCompact:
      return "Compacted";
    case Between::kReopen:
      return "Reopened";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(Between, Versions,
                         ::testing::Values(Between::kNothing, Between::kFlush,
                                           Between::kCompact, Between::kReopen),
                         Name);
// A snapshot ends with the opening that it is of.
INSTANTIATE_TEST_SUITE_P(Between, VersionsOfOneOpening,
                         ::testing::Values(Between::kNothing, Between::kFlush,
                                           Between::kCompact),
                         Name);

class VersionRefusals : public Versions {};

TEST_P(VersionRefusals, TimestampsThatAFamilyDoesNotTakeAreRefusedByName) {
  const WriteOptions at = {.timestamp_ms = 5};
  const auto is_refused = [](const char* family, const char* why) {
    return StatusIs(Status::kInvalidArgument,
                    AllOf(HasSubstr(std::string("family \"") + family + "\""),
                          HasSubstr(why)));
  };
  EXPECT_THAT(store_->Put("r", "latest", "q", "v", at),
              is_refused("latest", "a put takes no timestamp"));
  EXPECT_THAT(store_->Put("r", "s", "q", "v", at),
              is_refused("s", "a put takes no timestamp"));
  EXPECT_THAT(store_->Delete("r", "latest", "q", at),
              is_refused("latest", "a delete takes no timestamp"));
  EXPECT_THAT(store_->DeleteVersion("r", "latest", "q", at),
              is_refused("latest", "a delete takes no timestamp"));
  EXPECT_THAT(store_->DeleteFamily("r", "latest", at),
              is_refused("latest", "a delete takes no timestamp"));
  EXPECT_THAT(store_->DeleteRow("r", at),
              is_refused("latest", "a delete takes no timestamp"));
  EXPECT_THAT(store_->Delete("r", "s", "q", at), IsOk());
  EXPECT_THAT(store_->DeleteVersion("r", "c", "q", {}),
              StatusIs(Status::kInvalidArgument,
                       HasSubstr("needs the version's timestamp")));
  EXPECT_THAT(
      store_->Put("r", "c", "q", "v", {.timestamp_ms = kMaxTimestampMs + 1}),
      StatusIs(Status::kInvalidArgument,
               HasSubstr("timestamp 9223372036854775808: expected at most")));
  EXPECT_THAT(Get("c:q"), IsEmpty());
}

TEST_P(VersionRefusals, OptionsThatMeanNothingAreNamed) {
  std::vector<Cell> cells;
  EXPECT_THAT(store_->GetVersions("r", "c", "q", &cells, {.max_versions = 0}),
              StatusIs(Status::kInvalidArgument, HasSubstr("max_versions")));
  EXPECT_THAT(
      store_->GetRow("r", &cells, {.time_range = {5, 4}}),
      StatusIs(Status::kInvalidArgument, HasSubstr("begins at 5, after")));
  RowScanner rows;
  EXPECT_THAT(store_->Scan({.row = {.columns = {{"nope"}}}}, &rows),
              StatusIs(Status::kInvalidArgument, HasSubstr("family \"nope\"")));
  std::unique_ptr<Store> other;
  const auto open = [&](const FamilyOptions& options) {
    return Store::Open({}, dir_.File("other"), {{"f", options}}, &other);
  };
  EXPECT_THAT(open({.max_versions = 0}),
              StatusIs(Status::kInvalidArgument, HasSubstr("max_versions")));
  EXPECT_THAT(open({.max_versions = 2, .min_versions = 3}),
              StatusIs(Status::kInvalidArgument, HasSubstr("min_versions")));
  EXPECT_THAT(open({.ttl_ms = kMaxTimestampMs + 1}),
              StatusIs(Status::kInvalidArgument, HasSubstr("ttl_ms")));
}

INSTANTIATE_TEST_SUITE_P(Once, VersionRefusals,
                         ::testing::Values(Between::kNothing));

class Reclaim : public Versions {
 protected:
  uint64_t FileBytes(const std::string& family) {
    return StoreStatsOf(*store_).families[family].file_bytes;
  }
  // Two files with cells that do not compress.
  void Fill(const std::string& family) {
    for (int file = 0; file < 2; ++file) {
      for (int i = 0; i < 100; ++i) {
        Random random(static_cast<uint64_t>(file * 100 + i));
        ASSERT_THAT(
            store_->Put("r", family, std::to_string(i), random.Bytes(1000)),
            IsOk());
      }
      ASSERT_THAT(store_->Flush(), IsOk());
    }
    ASSERT_GT(FileBytes(family), 100'000u);
  }
};

TEST_P(Reclaim, CompactionGivesBackWhatExpired) {
  for (const char* family : {"ttl", "ttl3"}) {
    ASSERT_NO_FATAL_FAILURE(Fill(family));
  }
  now_ms_ += 1000;
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_EQ(FileBytes("ttl"), 0u);
  EXPECT_GT(FileBytes("ttl3"), 100'000u);  // min_versions
}

TEST_P(Reclaim, CompactionGivesBackWhatARowDeleteTook) {
  for (const char* family : {"c", "s", "latest"}) {
    ASSERT_NO_FATAL_FAILURE(Fill(family));
    ASSERT_THAT(store_->DeleteRow("r"), IsOk());
    auto snapshot = SnapshotOf(*store_);
    ASSERT_THAT(store_->Compact(), IsOk());
    snapshot.reset();
    ASSERT_THAT(store_->Compact(), IsOk());
    EXPECT_LT(FileBytes(family), 3000u) << family;
  }
}

// Surplus versions go too when all were in memory together, as one operand.
TEST_P(Reclaim, CompactionGivesBackWhatIsSurplus) {
  constexpr uint64_t kVersions = 30;
  const uint64_t kept = store_->Families().at("c").max_versions;
  ASSERT_LT(kept, kVersions);
  for (uint64_t i = 0; i < kVersions; ++i) {
    Random random(i);
    ASSERT_THAT(store_->Put("r", "c", "q", random.Bytes(10'000),
                            {.timestamp_ms = 1000 + i}),
                IsOk());
  }
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_GT(FileBytes("c"), kept * 10'000);
  EXPECT_LT(FileBytes("c"), kept * 10'000 + 3000);
}

TEST_P(Reclaim, CompactionIsOfTheFamilyAndRowsThatAreNamed) {
  ASSERT_NO_FATAL_FAILURE(Fill("ttl"));
  now_ms_ += 1000;
  ASSERT_THAT(store_->Compact({.family = "c"}), IsOk());
  ASSERT_THAT(store_->Compact({.family = "ttl", .start_row = "x"}), IsOk());
  ASSERT_THAT(store_->Compact({.family = "ttl", .stop_row = "a"}), IsOk());
  EXPECT_GT(FileBytes("ttl"), 100'000u);
  ASSERT_THAT(
      store_->Compact({.family = "ttl", .start_row = "a", .stop_row = "x"}),
      IsOk());
  EXPECT_EQ(FileBytes("ttl"), 0u);
  EXPECT_THAT(store_->Compact({.family = "nope"}),
              StatusIs(Status::kInvalidArgument, HasSubstr("\"nope\"")));
}

INSTANTIATE_TEST_SUITE_P(Once, Reclaim, ::testing::Values(Between::kNothing));

TEST(ReadOnlyVersions, AreReadLikeOthers) {
  const TempDir dir;
  const std::vector<FamilyDescriptor> families = {{"c", kClient},
                                                  {"latest", {}}};
  const auto writer = OpenOrFail({}, dir.File("db"), families);
  for (const uint64_t timestamp_ms : {30, 10, 20}) {
    ASSERT_THAT(writer->Put("r", "c", "q", std::to_string(timestamp_ms),
                            {.timestamp_ms = timestamp_ms}),
                IsOk());
  }
  ASSERT_THAT(writer->DeleteFamily("r", "c", {.timestamp_ms = 10}), IsOk());
  ASSERT_THAT(writer->Put("r", "latest", "q", "v"), IsOk());
  const auto reader = OpenOrFail({.read_only = true}, dir.File("db"), {});
  const std::vector<Cell> cells =
      GetVersionsOf(*reader, "r", "c", "q", {.max_versions = 9});
  EXPECT_THAT(cells,
              ElementsAre(Cell{"c", "q", 30, "30"}, Cell{"c", "q", 20, "20"}));
  EXPECT_EQ(ValueOf(*reader, "r", "c", "q"), "30");
  const auto snapshot = SnapshotOf(*reader);
  const auto rows = RowsOf(*reader, {.row = {.snapshot = snapshot.get()}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].cells.size(), 2u);
}

// Larger than RocksDB's blocks and write buffer.
TEST(LargeValues, AreKeptInBothFormats) {
  const TempDir dir;
  const auto store = OpenOrFail(
      {}, dir.File("db"),
      {{"latest", {.compression = Compression::kNone}},
       {"v", {.compression = Compression::kNone, .max_versions = 2}}});
  const std::string large(size_t{64} << 20, 'x');
  for (const char* family : {"latest", "v"}) {
    ASSERT_THAT(store->Put("r", family, "", large), IsOk());
    ASSERT_THAT(store->Put("r", family, "q", ""), IsOk());
    ASSERT_THAT(store->Flush(), IsOk());
    std::optional<std::string> value;
    ASSERT_THAT(store->Get("r", family, "", &value), IsOk());
    ASSERT_TRUE(value);
    EXPECT_TRUE(value == large);
    EXPECT_EQ(ValueOf(*store, "r", family, "q"), "");
  }
}

}  // namespace
}  // namespace rowbloom::test::versions_test
