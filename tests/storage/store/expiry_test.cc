// Deletes that expire: what they took stays deleted, also under a longer TTL,
// and they go themselves in the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/calling_file_system.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test::expiry_test {
namespace {

using ::testing::IsEmpty;

constexpr uint64_t kStart = 1'700'000'000'000;
constexpr uint64_t kTtlMs = 3000;
// The timestamp of a put that is deleted.
constexpr uint64_t kSecret = kStart - 100;

class Expiry : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenOrFail({.auto_compaction = false}, dir_.File("db"),
                        {{"f", options_}}, [this] { return now_ms_; });
  }

  void Put() {
    ASSERT_THAT(store_->Put("r", "f", "q", "SECRET", {.timestamp_ms = kSecret}),
                IsOk());
  }

  // Loads into the lowest level, as nothing overlaps the cell.
  void Load(const std::string& row = "r") {
    const auto load = LoadInto(*store_);
    ASSERT_THAT(load->Add(row, "f", "q", "SECRET", kSecret), IsOk());
    ASSERT_THAT(load->Finish(), IsOk());
  }

  // Makes the changes in a file that compactions of row a reach.
  void WriteAFile(WriteBatch batch) {
    batch.Put("a", "f", "q", "v", now_ms_);
    batch.Put("z", "f", "q", "v", now_ms_);
    ASSERT_THAT(store_->Write(batch), IsOk());
    ASSERT_THAT(store_->Flush(), IsOk());
  }

  void Expire() { now_ms_ += 2 * kTtlMs; }

  // Reaches what lies in a file with row a, and neither other files nor what is
  // in memory, unless that has row a, too.
  void CompactRowA() {
    ASSERT_THAT(store_->Compact({.start_row = "a", .stop_row = "b"}), IsOk());
  }

  void ExpectGone() {
    options_.ttl_ms = 0;
    ASSERT_THAT(store_->AlterFamily("f", options_), IsOk());
    EXPECT_THAT(GetRowOf(*store_, "r"), IsEmpty());
    for (const Row& row : RowsOf(*store_)) EXPECT_NE(row.row, "r");
  }

  // Makes versions stay for ever, and compares those that a row's cell has.
  void ExpectVersions(const std::vector<std::string>& expected,
                      const std::string& row = "r") {
    options_.ttl_ms = 0;
    ASSERT_THAT(store_->AlterFamily("f", options_), IsOk());
    const std::vector<Cell> cells = GetRowOf(*store_, row, {.max_versions = 9});
    std::vector<std::string> values;
    for (const Cell& cell : cells) values.push_back(cell.value);
    EXPECT_EQ(values, expected);
  }

  // The number of deletes in the files and the log.
  int DeletesKept() {
    const std::string copy = dir_.File("copy");
    std::filesystem::remove_all(copy);
    CopyOpenDatabase(dir_.File("db"), copy);
    Database database;
    OpenRaw(copy, &database);
    const ColumnFamily family = database.Find("f");
    EXPECT_NE(family, nullptr);
    if (family == nullptr) return 0;
    const std::unique_ptr<rocksdb::Iterator> it(
        database->NewIterator(rocksdb::ReadOptions(), family.get()));
    int kept = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      Entries entries;
      std::string problem;
      EXPECT_TRUE(
          DecodeEntries(it->value().ToStringView(), &entries, &problem));
      for (const Entry& entry : entries) kept += entry.type != ChangeType::kPut;
    }
    EXPECT_THAT(it->status(), IsOk());
    return kept;
  }

  TempDir dir_;
  uint64_t now_ms_ = kStart;
  FamilyOptions options_ = {
      .timestamps = Timestamps::kClient, .max_versions = 3, .ttl_ms = kTtlMs};
  std::unique_ptr<Store> store_;
};

class ExpiryOf : public Expiry,
                 public ::testing::WithParamInterface<ChangeType> {
 protected:
  void Delete() {
    WriteBatch batch;
    switch (GetParam()) {
      case ChangeType::kDelete:
        batch.Delete("r", "f", "q", kSecret);
        break;
      case ChangeType::kDeleteVersion:
        batch.DeleteVersion("r", "f", "q", kSecret);
        break;
      case ChangeType::kDeleteFamily:
        batch.DeleteFamily("r", "f", kSecret);
        break;
      default:
        batch.DeleteFamilyVersion("r", "f", kSecret);
    }
    WriteAFile(batch);
  }
};

TEST_P(ExpiryOf, ADeleteStaysWhileAPutLiesBelowIt) {
  ASSERT_NO_FATAL_FAILURE(Load());
  ASSERT_NO_FATAL_FAILURE(Delete());
  Expire();
  ASSERT_NO_FATAL_FAILURE(CompactRowA());
  ExpectGone();
}

// The Compact of the following tests leaves no put in files or in memory; puts
// with older timestamps come afterwards.

TEST_P(ExpiryOf, ADeleteStaysWhileAnOlderPutIsInMemoryOrInANewerFile) {
  for (const bool flush : {false, true}) {
    Expire();
    ASSERT_THAT(store_->Compact(), IsOk());
    ASSERT_NO_FATAL_FAILURE(Delete());
    ASSERT_NO_FATAL_FAILURE(Put());
    ASSERT_NO_FATAL_FAILURE(CompactRowA());
    if (flush) {
      ASSERT_THAT(store_->Flush(), IsOk());
      ASSERT_NO_FATAL_FAILURE(CompactRowA());
    }
    ASSERT_NO_FATAL_FAILURE(ExpectGone());
    options_.ttl_ms = kTtlMs;
    ASSERT_THAT(store_->AlterFamily("f", options_), IsOk());
  }
}

// The delete stays in the compaction that removes the put, as its files have
// the put.
TEST_P(ExpiryOf, ADeleteStaysWhileAPutBelowItWasJoined) {
  for (int i = 0; i < 9; ++i) ASSERT_NO_FATAL_FAILURE(Put());
  ASSERT_NO_FATAL_FAILURE(Delete());
  Expire();
  ASSERT_THAT(store_->Put("r", "f", "q", "later", {.timestamp_ms = now_ms_}),
              IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  for (int i = 0; i < 4; ++i) {
    ASSERT_THAT(store_->Put("r", "f", "q", "later", {.timestamp_ms = now_ms_}),
                IsOk());
    ASSERT_THAT(store_->Put("a", "f", "q", "v", {.timestamp_ms = now_ms_}),
                IsOk());
    ASSERT_THAT(store_->Flush(), IsOk());
    ASSERT_NO_FATAL_FAILURE(CompactRowA());
  }
  ExpectVersions({"later"});
}

// RocksDB does not pass values that it merges to a compaction filter.
TEST_F(Expiry, AnExpiredVersionGoesFromACellThatEachCompactionMerges) {
  for (const char* const value : {"1", "2", "3"}) {
    Expire();
    WriteBatch batch;
    batch.Put("r", "f", "q", value, now_ms_);
    ASSERT_NO_FATAL_FAILURE(WriteAFile(batch));
    ASSERT_NO_FATAL_FAILURE(CompactRowA());
  }
  ExpectVersions({"3"});
}

// Compactions may have removed it, and then the delete that took it.
TEST_F(Expiry, AnExpiredVersionIsNotWrittenAgain) {
  ASSERT_NO_FATAL_FAILURE(Put());
  Expire();
  for (int i = 0; i < 8; ++i) {  // after some the writer joins the versions
    ASSERT_THAT(store_->Put("r", "f", "q", "later", {.timestamp_ms = now_ms_}),
                IsOk());
  }
  ExpectVersions({"later"});
}

// An expired put in a file above has pushed out, or replaced, what a file below
// still has.
TEST_F(Expiry, APutKeepsWhatItReplacedHidden) {
  options_.max_versions = 1;
  ASSERT_THAT(store_->AlterFamily("f", options_), IsOk());
  for (const uint64_t timestamp_ms : {kSecret, kSecret + 1}) {
    const std::string row = "r" + std::to_string(timestamp_ms);
    ASSERT_NO_FATAL_FAILURE(Load(row));
    WriteBatch batch;
    batch.Put(row, "f", "q", "new", timestamp_ms);
    ASSERT_NO_FATAL_FAILURE(WriteAFile(batch));
    Expire();
    ASSERT_NO_FATAL_FAILURE(CompactRowA());
    // With dynamic level sizes, RocksDB's default from 8.4 on, the lowest level
    // is the next one: nothing is below the compaction.
    if (rocksdb::Options().level_compaction_dynamic_level_bytes) {
      ExpectVersions({}, row);
    } else {
      ExpectVersions({"new"}, row);
    }
    options_.ttl_ms = kTtlMs;
    ASSERT_THAT(store_->AlterFamily("f", options_), IsOk());
    // It goes once nothing is below it.
    ASSERT_THAT(store_->Compact(), IsOk());
    ExpectVersions({}, row);
    options_.ttl_ms = kTtlMs;
    ASSERT_THAT(store_->AlterFamily("f", options_), IsOk());
  }
}

// The record above, of which the delete expires, hides the one of the file
// below. A compaction of the file below and a new one does not see that.
TEST_F(Expiry, ADeleteOfARowThatWasReplacedTakesNoNewPut) {
  // RocksDB shows no operand without a sequence number to a compaction filter.
  // A file has one if it is loaded beside a snapshot.
  auto snapshot = SnapshotOf(*store_);
  auto load = LoadInto(*store_);
  ASSERT_THAT(load->Add({.type = ChangeType::kDeleteFamily,
                         .row = "r",
                         .family = "f",
                         .timestamp_ms = kSecret}),
              IsOk());
  ASSERT_THAT(load->Add("s", "f", "q", "v", kStart), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  snapshot.reset();
  ASSERT_THAT(store_->Put("a", "f", "q", "v", {.timestamp_ms = kStart}),
              IsOk());
  // It writes the delete once more.
  const Change removal{.type = ChangeType::kRemove, .row = "r", .family = "f"};
  ASSERT_THAT(store_->Write(removal), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  Expire();
  ASSERT_NO_FATAL_FAILURE(CompactRowA());
  options_.ttl_ms = 0;
  ASSERT_THAT(store_->AlterFamily("f", options_), IsOk());
  load = LoadInto(*store_);
  ASSERT_THAT(load->Add("r", "f", "q", "SECRET", kSecret), IsOk());
  ASSERT_THAT(load->Add("s", "f", "r", "v", kStart), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  const auto before = ValueOf(*store_, "r", "f", "q");
  ASSERT_THAT(store_->Compact({.start_row = "s", .stop_row = "t"}), IsOk());
  EXPECT_EQ(ValueOf(*store_, "r", "f", "q"), before);
}

// As above, with a record that a snapshot keeps below a removal of the row.
TEST_F(Expiry, ADeleteOfARowThatASnapshotKeptTakesNoNewPut) {
  ASSERT_THAT(store_->DeleteFamily("r", "f", {.timestamp_ms = kSecret}),
              IsOk());
  auto snapshot = SnapshotOf(*store_);
  const Change removal{
      .type = ChangeType::kRemoveFamily, .row = "r", .family = "f"};
  ASSERT_THAT(store_->Write(removal), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  Expire();
  // A compaction of the whole family would be two.
  ASSERT_THAT(store_->Compact({.start_row = "a", .stop_row = "z"}), IsOk());
  snapshot.reset();
  options_.ttl_ms = 0;
  ASSERT_THAT(store_->AlterFamily("f", options_), IsOk());
  ASSERT_NO_FATAL_FAILURE(Put());
  const auto before = ValueOf(*store_, "r", "f", "q");
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_EQ(ValueOf(*store_, "r", "f", "q"), before);
}

TEST_P(ExpiryOf, ADeleteStaysWhileAnOlderPutWasLoaded) {
  Expire();
  ASSERT_THAT(store_->Compact(), IsOk());
  ASSERT_NO_FATAL_FAILURE(Load());
  ASSERT_NO_FATAL_FAILURE(Delete());
  ASSERT_NO_FATAL_FAILURE(CompactRowA());
  ExpectGone();
}

// RocksDB keeps what a snapshot sees.
TEST_P(ExpiryOf, ADeleteStaysWhileAPutWasKeptForASnapshot) {
  ASSERT_NO_FATAL_FAILURE(Load());
  auto snapshot = SnapshotOf(*store_);
  Expire();
  ASSERT_THAT(store_->Compact(), IsOk());
  snapshot.reset();
  ASSERT_NO_FATAL_FAILURE(Delete());
  ASSERT_NO_FATAL_FAILURE(CompactRowA());
  ExpectGone();
}

TEST_P(ExpiryOf, ADeleteStaysAfterAnOpeningWhileAPutLiesBelowIt) {
  ASSERT_NO_FATAL_FAILURE(Load());
  ASSERT_NO_FATAL_FAILURE(Delete());
  Expire();
  store_.reset();
  ASSERT_NO_FATAL_FAILURE(SetUp());
  ASSERT_NO_FATAL_FAILURE(CompactRowA());
  ExpectGone();
}

// The log's puts become a file when it is read.
TEST_P(ExpiryOf, ADeleteStaysAfterACrashWhileAPutWasInTheLog) {
  ASSERT_NO_FATAL_FAILURE(Delete());
  ASSERT_NO_FATAL_FAILURE(Put());
  const std::string crashed = dir_.File("crashed");
  CopyOpenDatabase(dir_.File("db"), crashed);
  store_.reset();
  std::filesystem::remove_all(dir_.File("db"));
  std::filesystem::rename(crashed, dir_.File("db"));
  Expire();
  ASSERT_NO_FATAL_FAILURE(SetUp());
  ASSERT_NO_FATAL_FAILURE(CompactRowA());
  ExpectGone();
}

// The properties of the files say so, as nobody compacted the whole family.
TEST_P(ExpiryOf, ADeleteGoesOnceNoFileHasAnOlderPut) {
  for (const bool reopen : {true, false}) {
    SCOPED_TRACE(reopen);
    ASSERT_NO_FATAL_FAILURE(Delete());
    ASSERT_THAT(
        store_->Put("aa", "f", "q", "older", {.timestamp_ms = kSecret - 1}),
        IsOk());
    if (reopen) {
      store_.reset();
      ASSERT_NO_FATAL_FAILURE(SetUp());
    } else {
      ASSERT_THAT(store_->Flush(), IsOk());
    }
    Expire();
    // The first compaction makes a value of the put, and the second removes it.
    const CompactOptions all_rows = {.start_row = "a"};
    for (int i = 0; i < 2; ++i) {
      ASSERT_THAT(store_->Compact(all_rows), IsOk());
      EXPECT_GT(DeletesKept(), 0);
    }
    ASSERT_THAT(store_->Compact(all_rows), IsOk());
    EXPECT_EQ(DeletesKept(), 0);
  }
}

TEST_P(ExpiryOf, ADeleteGoesAfterACompact) {
  ASSERT_NO_FATAL_FAILURE(Load());
  ASSERT_NO_FATAL_FAILURE(Delete());
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_GT(DeletesKept(), 0);
  Expire();
  ASSERT_THAT(store_->Compact(), IsOk());
  // Puts of that time are gone.
  ASSERT_THAT(store_->Put("a", "f", "q", "v", {.timestamp_ms = now_ms_}),
              IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_EQ(DeletesKept(), 0);
  ExpectGone();
}

// A file at the bottom that is often merged with files above is never old
// enough for a compaction of its own.
TEST_F(Expiry, ADeleteOfARowGoesInACompactionFromALevelAbove) {
  WriteBatch batch;
  batch.DeleteFamily("r", "f", kSecret);
  ASSERT_NO_FATAL_FAILURE(WriteAFile(batch));
  ASSERT_NO_FATAL_FAILURE(CompactRowA());
  EXPECT_EQ(DeletesKept(), 1);
  Expire();
  ASSERT_NO_FATAL_FAILURE(WriteAFile(WriteBatch()));
  ASSERT_NO_FATAL_FAILURE(CompactRowA());
  EXPECT_EQ(DeletesKept(), 0);
}

// min_versions keeps versions, and so the deletes of them.
TEST_P(ExpiryOf, ADeleteStaysWithMinVersions) {
  options_.min_versions = 1;
  ASSERT_THAT(store_->AlterFamily("f", options_), IsOk());
  ASSERT_NO_FATAL_FAILURE(Load());
  ASSERT_NO_FATAL_FAILURE(Delete());
  Expire();
  for (int i = 0; i < 3; ++i) ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_GT(DeletesKept(), 0);
  ExpectGone();
}

INSTANTIATE_TEST_SUITE_P(Deletes, ExpiryOf,
                         ::testing::Values(ChangeType::kDelete,
                                           ChangeType::kDeleteVersion,
                                           ChangeType::kDeleteFamily,
                                           ChangeType::kDeleteFamilyVersion));

// The writer joins the versions of a cell that is written often. Meanwhile
// compactions may remove one of them, and then the delete that took it.
TEST(ExpiryBesideAJoin, ADeletedVersionDoesNotComeBack) {
  const TempDir dir;
  const auto files = std::make_shared<CallingFileSystem>();
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
  FamilyOptions options = {
      .timestamps = Timestamps::kClient, .max_versions = 20, .ttl_ms = kTtlMs};
  const auto open = [&] {
    return OpenOrFail({.front_filter_limit_bytes = 0,
                       .auto_compaction = false,
                       .env = env.get()},
                      dir.File("db"), {{"f", options}}, [] { return kStart; });
  };
  auto store = open();
  ASSERT_THAT(store->Put("r", "f", "q", "SECRET",
                         {.timestamp_ms = kStart - 3 * kTtlMs}),
              IsOk());
  ASSERT_THAT(store->Flush(), IsOk());
  ASSERT_THAT(
      store->DeleteFamily("r", "f", {.timestamp_ms = kStart - 2 * kTtlMs}),
      IsOk());
  ASSERT_THAT(store->Flush(), IsOk());
  // A store that was just opened knows that no memtable has an old put.
  store.reset();
  store = open();
  constexpr uint64_t kWrites = 8;  // those after which the cell is joined
  bool joined = false;
  for (uint64_t i = 0; i < kWrites; ++i) {
    if (i == kWrites - 1) {
      files->On(FileCall::kRead, [&](const std::string& /*path*/) {
        files->Off(FileCall::kRead);
        joined = true;
        std::thread([&store] {
          for (int compaction = 0; compaction < 3; ++compaction) {
            EXPECT_THAT(store->Compact({.start_row = "a", .stop_row = "z"}),
                        IsOk());
          }
        }).join();
      });
    }
    ASSERT_THAT(store->Put("r", "f", "q", "v", {.timestamp_ms = kStart + i}),
                IsOk());
  }
  EXPECT_TRUE(joined);
  options.ttl_ms = 0;
  ASSERT_THAT(store->AlterFamily("f", options), IsOk());
  EXPECT_EQ(GetVersionsOf(*store, "r", "f", "q", {.max_versions = 20}).size(),
            kWrites);
}

// RocksDB looks for such files when it is opened.
TEST(FilesOfThirtyDays, AreCompactedInAFamilyWithATtl) {
  class LaterEnv final : public rocksdb::EnvWrapper {
   public:
    LaterEnv() : EnvWrapper(Env::Default()) {
      file_system_ = target()->GetFileSystem();
    }
    const char* Name() const override { return "LaterEnv"; }
    rocksdb::Status GetCurrentTime(int64_t* time_s) override {
      const rocksdb::Status s = EnvWrapper::GetCurrentTime(time_s);
      *time_s += int64_t{31} * 24 * 60 * 60;
      return s;
    }
  };
  const TempDir dir;
  LaterEnv env;
  uint64_t now_ms = kStart;
  const auto open = [&](const StoreOptions& options) {
    return OpenOrFail(options, dir.File("db"), {{"f", {.ttl_ms = kTtlMs}}},
                      [&now_ms] { return now_ms; });
  };
  auto store = open({});
  ASSERT_THAT(store->Put("r", "f", "q", "v"), IsOk());
  ASSERT_THAT(store->Flush(), IsOk());
  EXPECT_EQ(StoreStatsOf(*store).families.at("f").estimated_cells, 1u);
  store.reset();
  now_ms += 2 * kTtlMs;
  store = open({.env = &env});
  EXPECT_TRUE(WaitFor([&store] {
    return StoreStatsOf(*store).families.at("f").estimated_cells == 0;
  }));
}

}  // namespace
}  // namespace rowbloom::test::expiry_test
