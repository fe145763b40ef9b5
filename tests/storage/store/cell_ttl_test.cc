// Puts with a TTL of their own: they go in time, in every read, and nothing
// that they replaced comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/storage/store/test_store.h"

namespace rowbloom::test::cell_ttl_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr uint64_t kStart = 1'700'000'000'000;
constexpr uint64_t kTtl = 1000;

// In each cell format, a family that keeps one version.
class CellTtl : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { Open(); }

  void Open() {
    store_.reset();
    store_ = OpenOrFail({.auto_compaction = false, .transactions = true},
                        dir_.File("db"),
                        {{"latest", {}},
                         {"one", {.timestamps = Timestamps::kClient}},
                         {"three", {.max_versions = 3}}},
                        [this] { return now_ms_.load(); });
  }

  const std::string& Family() const { return family_; }

  void Put(const std::string& value, std::optional<uint64_t> ttl_ms) {
    now_ms_ += 2;
    ASSERT_THAT(store_->Put("r", Family(), "q", value, {.ttl_ms = ttl_ms}),
                IsOk());
  }

  // The value that every way to read gives; "" for none.
  std::string Read() {
    std::optional<std::string> value;
    EXPECT_THAT(store_->Get("r", Family(), "q", &value), IsOk());
    const std::vector<Cell> versions =
        GetVersionsOf(*store_, "r", Family(), "q");
    EXPECT_EQ(GetRowOf(*store_, "r"), versions);
    EXPECT_EQ(value.has_value(), !versions.empty());
    bool exists = !value;
    EXPECT_THAT(store_->Exists("r", &exists), IsOk());
    EXPECT_EQ(exists, value.has_value());
    EXPECT_EQ(CountsOf(*store_).cells, versions.size());
    bool applied = false;
    const Condition absent = Condition::Equal(Family(), "q", std::nullopt);
    EXPECT_THAT(store_->CheckAndWrite("r", {&absent, 1}, {}, &applied), IsOk());
    EXPECT_EQ(applied, !value);
    std::unique_ptr<Transaction> transaction;
    EXPECT_THAT(store_->Begin(&transaction), IsOk());
    std::optional<std::string> in_transaction;
    EXPECT_THAT(transaction->Get("r", Family(), "q", &in_transaction), IsOk());
    EXPECT_EQ(in_transaction, value);
    return value.value_or("");
  }

  const std::string family_ = GetParam();
  TempDir dir_;
  std::atomic<uint64_t> now_ms_{kStart};
  std::unique_ptr<Store> store_;
};

TEST_P(CellTtl, APutIsSeenUntilItsTtlHasRunOut) {
  ASSERT_NO_FATAL_FAILURE(Put("v", kTtl));
  now_ms_ += kTtl;
  EXPECT_EQ(Read(), "v");
  ++now_ms_;
  EXPECT_EQ(Read(), "");
  ASSERT_NO_FATAL_FAILURE(Put("later", std::nullopt));
  now_ms_ += 100 * kTtl;
  EXPECT_EQ(Read(), "later");
  ASSERT_NO_FATAL_FAILURE(Put("over", 0));
  EXPECT_EQ(Read(), "");
}

TEST_P(CellTtl, WhatItReplacedDoesNotComeBack) {
  ASSERT_NO_FATAL_FAILURE(Put("old", std::nullopt));
  ASSERT_THAT(store_->Flush(), IsOk());
  ASSERT_NO_FATAL_FAILURE(Put("new", kTtl));
  now_ms_ += kTtl + 1;
  EXPECT_EQ(Read(), "");
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_EQ(Read(), "");
  // The upper file alone.
  const uint64_t back_ms = now_ms_;
  ASSERT_NO_FATAL_FAILURE(Put("newer", 0));
  EXPECT_EQ(Read(), "");
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(store_->Compact(), IsOk());
    EXPECT_EQ(Read(), "");
  }
  Open();
  EXPECT_EQ(Read(), "");
  // No empty value, and none of before, shows when the clock is set back.
  now_ms_ = back_ms - kTtl;
  EXPECT_EQ(Read(), "");
}

TEST_P(CellTtl, AnIncrementKeepsTheTtlFromItsOwnTimeOn) {
  ASSERT_NO_FATAL_FAILURE(Put(EncodeCounter(1), kTtl));
  now_ms_ += kTtl;
  int64_t sum = 0;
  ASSERT_THAT(store_->Increment("r", Family(), "q", 1, &sum), IsOk());
  EXPECT_EQ(sum, 2);
  now_ms_ += kTtl;
  EXPECT_EQ(Read(), EncodeCounter(2));
  // One of its own takes the place of that.
  ASSERT_THAT(
      store_->Increment("r", Family(), "q", 1, &sum, {.ttl_ms = 3 * kTtl}),
      IsOk());
  now_ms_ += 3 * kTtl;
  EXPECT_EQ(Read(), EncodeCounter(3));
  ++now_ms_;
  EXPECT_EQ(Read(), "");
  ASSERT_THAT(store_->Increment("r", Family(), "q", 1, &sum), IsOk());
  EXPECT_EQ(sum, 1) << "nothing was there";
  now_ms_ += 100 * kTtl;
  EXPECT_EQ(Read(), EncodeCounter(1));
}

TEST_P(CellTtl, ATtlThatMeansNothingIsRefused) {
  const auto refused = [](const char* problem) {
    return StatusIs(rocksdb::Status::kInvalidArgument, HasSubstr(problem));
  };
  const Change put{.row = "r",
                   .family = GetParam(),
                   .qualifier = "q",
                   .value = "v",
                   .ttl_ms = kMaxTimestampMs + 1};
  EXPECT_THAT(store_->Write(put),
              refused("a TTL of 9223372036854775808 ms: expected at most"));
  const Change del{.type = ChangeType::kDelete,
                   .row = "r",
                   .family = GetParam(),
                   .qualifier = "q",
                   .ttl_ms = 1};
  EXPECT_THAT(store_->Write(del), refused("a delete with a TTL"));
  // The TTL of the options is for puts, and leaves deletes alone.
  EXPECT_THAT(store_->Delete("r", Family(), "q", {.ttl_ms = 1}), IsOk());
  EXPECT_EQ(Read(), "");
}

TEST_P(CellTtl, TheFirstOneIsAnnounced) {
  const auto record = [this] {
    Database database;
    store_.reset();
    OpenRaw(dir_.File("db"), &database);
    std::string value;
    EXPECT_THAT(database->Get(rocksdb::ReadOptions(), "store", &value), IsOk());
    return value;
  };
  StoreStats stats;
  ASSERT_NO_FATAL_FAILURE(Put("v", std::nullopt));
  ASSERT_THAT(store_->Stats(&stats), IsOk());
  EXPECT_FALSE(stats.cell_ttls);
  EXPECT_THAT(record(), Not(HasSubstr("cell_ttls")));
  Open();
  ASSERT_NO_FATAL_FAILURE(Put("v", kTtl));
  EXPECT_THAT(record(), HasSubstr("\"cell_ttls\":true"));
  Open();
  ASSERT_THAT(store_->Stats(&stats), IsOk());
  EXPECT_TRUE(stats.cell_ttls);
  EXPECT_EQ(Read(), "v");
}

TEST_P(CellTtl, SpaceComesBack) {
  // The values of the family, past the store.
  const auto stored = [this] {
    store_.reset();
    std::vector<std::string> values;
    Database database;
    OpenRaw(dir_.File("db"), &database);
    const std::unique_ptr<rocksdb::Iterator> it(database->NewIterator(
        rocksdb::ReadOptions(), database.Find(Family()).get()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      values.push_back(it->value().ToString());
    }
    return values;
  };
  ASSERT_NO_FATAL_FAILURE(Put(std::string(1000, 'v'), kTtl));
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_THAT(stored(), ElementsAre(SizeIs(::testing::Gt(1000U))));
  Open();
  now_ms_ += kTtl + 1;
  ASSERT_THAT(store_->Compact(), IsOk());
  if (Family() == "latest") {
    EXPECT_THAT(stored(), IsEmpty());
    return;
  }
  EXPECT_THAT(stored(),
              ElementsAre(EncodeEntries(
                  {{ChangeType::kPut, kStart + 2, {}, /*ttl_ms=*/0}})));
  Open();
  // As deletes do, the rest goes by the TTL of the family.
  FamilyOptions options = store_->Families().at("one");
  options.ttl_ms = kTtl;
  ASSERT_THAT(store_->AlterFamily("one", options), IsOk());
  for (int i = 0; i < 2; ++i) {
    now_ms_ += kTtl;
    ASSERT_THAT(store_->Put("z", "one", "q", "v", {.timestamp_ms = now_ms_}),
                IsOk());
    ASSERT_THAT(store_->Compact(), IsOk());
  }
  EXPECT_THAT(stored(), SizeIs(1U)) << "that of row z";
}

TEST_P(CellTtl, LoadsIteratorsCopiesAndStreamsKeepIt) {
  const uint64_t before = store_->LatestNumber();
  ASSERT_NO_FATAL_FAILURE(Put("v", kTtl));
  std::unique_ptr<ChangeStream> changes;
  ASSERT_THAT(store_->GetUpdatesSince(before, &changes), IsOk());
  std::optional<uint64_t> in_stream;
  for (; changes->Valid(); changes->Next()) {
    if (changes->change().row == "r") in_stream = changes->change().ttl_ms;
  }
  EXPECT_THAT(changes->status(), IsOk());
  EXPECT_EQ(in_stream, kTtl);

  auto load = LoadInto(*store_);
  ASSERT_THAT(load->Add({.row = "s",
                         .family = GetParam(),
                         .qualifier = "q",
                         .value = "loaded",
                         .timestamp_ms = kStart,
                         .ttl_ms = 2 * kTtl}),
              IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  changes.reset();
  load.reset();

  CopyReport report;
  const std::string path = dir_.File("copy");
  ASSERT_THAT(store_->CopyTo(path, {}, &report), IsOk());
  store_.reset();
  const auto copy = OpenOrFail({}, path, {}, [this] { return now_ms_.load(); });
  std::unique_ptr<CellIterator> cells;
  ASSERT_THAT(copy->NewCellIterator({.family = Family()}, &cells), IsOk());
  std::vector<std::optional<uint64_t>> ttls;
  for (; cells->Valid(); cells->Next()) ttls.push_back(cells->cell().ttl_ms);
  EXPECT_THAT(ttls, ElementsAre(kTtl, 2 * kTtl));
}

INSTANTIATE_TEST_SUITE_P(Formats, CellTtl, ::testing::Values("latest", "one"),
                         [](const auto& param) {
                           return std::string(param.param);
                         });

// Older versions that max_versions kept are seen, those that were pushed out
// are not, in files that were never merged and in one.
TEST(CellTtlVersions, OlderVersionsThatAreKeptAreSeen) {
  const TempDir dir;
  std::atomic<uint64_t> now_ms{kStart};
  const auto store = OpenOrFail({.auto_compaction = false}, dir.File("db"),
                                {{"f", {.max_versions = 2}}},
                                [&now_ms] { return now_ms.load(); });
  for (const char* const value : {"1", "2", "3"}) {
    now_ms += 2;
    std::optional<uint64_t> ttl_ms;
    if (*value == '3') ttl_ms = kTtl;
    ASSERT_THAT(store->Put("r", "f", "q", value, {.ttl_ms = ttl_ms}), IsOk());
    ASSERT_THAT(store->Flush(), IsOk());
  }
  now_ms += kTtl + 1;
  for (int compactions = 0; compactions < 3; ++compactions) {
    const std::vector<Cell> versions =
        GetVersionsOf(*store, "r", "f", "q", {.max_versions = 9});
    ASSERT_THAT(versions, SizeIs(1U));
    EXPECT_EQ(versions[0].value, "2");
    ASSERT_THAT(store->Compact(), IsOk());
  }
  // A walk with deletes tells of the place that is taken.
  std::unique_ptr<CellIterator> cells;
  ASSERT_THAT(store->NewCellIterator({.family = "f", .deletes = true}, &cells),
              IsOk());
  std::vector<std::pair<std::string, std::optional<uint64_t>>> walked;
  for (; cells->Valid(); cells->Next()) {
    walked.emplace_back(cells->cell().value, cells->cell().ttl_ms);
  }
  EXPECT_THAT(walked, ElementsAre(std::pair("", std::optional<uint64_t>(0)),
                                  std::pair("2", std::nullopt)));
}

}  // namespace
}  // namespace rowbloom::test::cell_ttl_test
