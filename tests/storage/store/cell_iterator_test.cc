// CellIterator: what a family shows of itself, cell by cell. That a family
// which is written again from it answers alike is tested in round_trip_test.cc
// of tests/storage/hfile_transfer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "storage/store/family_rules.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/files.h"

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum ChangeType;
using namespace std::string_literals;

constexpr uint64_t kStart = 1000;

// Row, qualifier, type, timestamp, value.
using Shown =
    std::tuple<std::string, std::string, ChangeType, uint64_t, std::string>;

class CellIteration : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenOrFail(
        {}, path_,
        {{"latest", {}},
         {"latest_ttl", {.ttl_ms = 100}},
         {"v", {.timestamps = Timestamps::kClient, .max_versions = 2}},
         {"ttl",
          {.timestamps = Timestamps::kClient,
           .max_versions = 9,
           .ttl_ms = 100}}},
        [this] { return now_ms_.load(); });
  }
  void Put(const std::string& family, const std::string& row,
           const std::string& qualifier,
           std::optional<uint64_t> timestamp_ms = std::nullopt) {
    ASSERT_THAT(store_->Put(row, family, qualifier, "v",
                            {.timestamp_ms = timestamp_ms}),
                IsOk());
  }
  std::vector<Shown> Show(const CellIteratorOptions& options) {
    std::vector<Shown> shown;
    std::unique_ptr<CellIterator> it;
    EXPECT_THAT(store_->NewCellIterator(options, &it), IsOk());
    if (it == nullptr) return shown;
    for (; it->Valid(); it->Next()) {
      const CellView& cell = it->cell();
      shown.emplace_back(cell.row, cell.qualifier, cell.type, cell.timestamp_ms,
                         cell.value);
    }
    EXPECT_THAT(it->status(), IsOk());
    return shown;
  }

  TempDir dir_;
  const std::string path_ = dir_.File("db");
  std::atomic<uint64_t> now_ms_{kStart};
  std::unique_ptr<Store> store_;
};

TEST_F(CellIteration, ShowsVersionsAndDeletesInOrder) {
  for (const uint64_t timestamp_ms : {3, 5, 1}) {
    for (const char* qualifier : {"q", ""}) {
      ASSERT_NO_FATAL_FAILURE(Put("v", "b", qualifier, timestamp_ms));
    }
  }
  ASSERT_NO_FATAL_FAILURE(Put("v", std::string("a\0", 2), "x", 7));
  ASSERT_NO_FATAL_FAILURE(Put("v", "a", "\xff", 7));
  ASSERT_THAT(store_->DeleteVersion("b", "v", "q", {.timestamp_ms = 5}),
              IsOk());
  ASSERT_THAT(store_->Delete("b", "v", "", {.timestamp_ms = 3}), IsOk());
  ASSERT_THAT(store_->DeleteFamily("c", "v", {.timestamp_ms = 9}), IsOk());
  const std::vector<Shown> all = {
      {"a", "\xff", kPut, 7, "v"},       {{"a\0", 2}, "x", kPut, 7, "v"},
      {"b", "", kPut, 5, "v"},           {"b", "", kDelete, 3, ""},
      {"b", "q", kDeleteVersion, 5, ""}, {"b", "q", kPut, 3, "v"},
      {"c", "", kDeleteFamily, 9, ""}};
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Show({.family = "v", .deletes = true}), all);
    EXPECT_THAT(Show({.family = "v"}),
                ElementsAre(all[0], all[1], all[2], all[5]));
    ASSERT_THAT(store_->Compact(), IsOk());
  }
  ASSERT_NO_FATAL_FAILURE(Put("latest", "r", "q"));
  ASSERT_NO_FATAL_FAILURE(Put("latest", "s", "q"));
  ASSERT_THAT(store_->DeleteRow("s"), IsOk());
  // It has run out.
  ASSERT_THAT(store_->Put("t", "latest", "q", "v", {.ttl_ms = 0}), IsOk());
  EXPECT_THAT(Show({.family = "latest", .deletes = true}),
              ElementsAre(Shown{"r", "q", kPut, kStart, "v"}));
}

TEST_F(CellIteration, ShowsNothingThatExpired) {
  ASSERT_NO_FATAL_FAILURE(Put("latest_ttl", "r", "q"));
  ASSERT_NO_FATAL_FAILURE(Put("ttl", "r", "q", kStart));
  ASSERT_NO_FATAL_FAILURE(Put("ttl", "r", "q", kStart + 1));
  ASSERT_THAT(store_->Delete("r", "ttl", "x", {.timestamp_ms = kStart}),
              IsOk());
  now_ms_ = kStart + 100;
  EXPECT_EQ(Show({.family = "latest_ttl"}).size(), 1u);
  EXPECT_EQ(Show({.family = "ttl", .deletes = true}).size(), 3u);
  now_ms_ = kStart + 101;
  EXPECT_THAT(Show({.family = "latest_ttl"}), ElementsAre());
  EXPECT_THAT(Show({.family = "ttl", .deletes = true}),
              ElementsAre(Shown{"r", "q", kPut, kStart + 1, "v"}));
}

TEST_F(CellIteration, IsOfOneMoment) {
  ASSERT_NO_FATAL_FAILURE(Put("v", "r", "q", 1));
  const auto snapshot = SnapshotOf(*store_);
  std::unique_ptr<CellIterator> it;
  ASSERT_THAT(store_->NewCellIterator({.family = "v"}, &it), IsOk());
  ASSERT_NO_FATAL_FAILURE(Put("v", "s", "q", 1));
  ASSERT_TRUE(it->Valid());
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_THAT(it->status(), IsOk());
  EXPECT_EQ(Show({.family = "v", .snapshot = snapshot.get()}).size(), 1u);
  EXPECT_EQ(Show({.family = "v"}).size(), 2u);
}

// The memtable may have the delete of a row, so that the files of the range are
// read once more. Files outside it, which may be many, are not.
TEST_F(CellIteration, MayOutliveItsSnapshot) {
  for (const char* row : {"a", "b", "c"}) {
    ASSERT_NO_FATAL_FAILURE(Put("latest", row, "q"));
  }
  // Files with range deletes are read once more at the end.
  ASSERT_THAT(store_->DeleteFamily("b", "latest"), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  auto snapshot = SnapshotOf(*store_);
  std::unique_ptr<CellIterator> it;
  ASSERT_THAT(store_->NewCellIterator(
                  {.family = "latest", .snapshot = snapshot.get()}, &it),
              IsOk());
  ASSERT_NO_FATAL_FAILURE(Put("latest", "d", "q"));
  snapshot.reset();
  std::string rows;
  for (; it->Valid(); it->Next()) rows += it->cell().row;
  EXPECT_THAT(it->status(), IsOk());
  EXPECT_EQ(rows, "ac");
}

TEST_F(CellIteration, NeedsTheFilesOfItsRangeAlone) {
  for (const char* row : {"a", "z"}) {
    ASSERT_NO_FATAL_FAILURE(Put("latest", row, "q"));
    ASSERT_THAT(store_->Flush(), IsOk());
  }
  ASSERT_THAT(store_->DeleteRow("m"), IsOk());
  std::string last;  // the file of z; the records have one, too
  for (const auto& [name, bytes] : Contents(path_)) {
    if (name.ends_with(".sst") && bytes.find("z\0\1q"s) != bytes.npos) {
      last = path_ + "/" + name;
    }
  }
  ASSERT_FALSE(last.empty());
  FlipBit(last, std::filesystem::file_size(last) - 1);  // of the footer
  EXPECT_EQ(Show({.family = "latest", .stop_row = "b"}).size(), 1u);
  std::unique_ptr<CellIterator> it;
  Status s =
      store_->NewCellIterator({.family = "latest", .start_row = "y"}, &it);
  while (s.ok() && it->Valid()) it->Next();
  if (s.ok()) s = it->status();
  if (kRocksdbForgetsBlocks) {  // files are opened once more
    EXPECT_THAT(s, StatusIs(Status::kCorruption, HasSubstr(last)));
  } else {
    EXPECT_THAT(s, IsOk());
  }
}

TEST_F(CellIteration, ErrorsNameWhatIsWrong) {
  std::unique_ptr<CellIterator> it;
  EXPECT_THAT(store_->NewCellIterator({.family = "nope"}, &it),
              StatusIs(Status::kInvalidArgument, HasSubstr("\"nope\"")));
  ASSERT_NO_FATAL_FAILURE(Put("latest", "a", "q"));
  ASSERT_THAT(store_->Flush(), IsOk());
  store_.reset();
  ASSERT_NO_FATAL_FAILURE(
      PutRaw(path_, "latest", std::string("b\0\1q", 4), "\7nonsense"));
  now_ms_ += 3000;
  ASSERT_NO_FATAL_FAILURE(SetUp());
  ASSERT_THAT(store_->NewCellIterator({.family = "latest"}, &it), IsOk());
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->cell().row, "a");
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_THAT(it->status(), StatusIs(Status::kCorruption,
                                     HasSubstr("row \"b\", cell latest:q")));
  it.reset();
}

}  // namespace
}  // namespace rowbloom::test
