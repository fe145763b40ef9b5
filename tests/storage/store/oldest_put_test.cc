// OldestPut, with files and memtables of a database.
#include "storage/store/oldest_put.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "storage/cells/cell_versions.h"
#include "storage/store/database.h"
#include "storage/store/row_counter.h"
#include "tests/storage/store/test_store.h"

namespace rowbloom::test {
namespace {

using rocksdb::Status;

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

class OldestPutTest : public ::testing::Test {
 protected:
  void SetUp() override { Open(/*with_properties=*/true); }

  void Open(bool with_properties) {
    family_.reset();
    database_.emplace();
    rocksdb::DBOptions options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    rocksdb::ColumnFamilyOptions of_family;
    // Otherwise RocksDB 8.4 and later move files to the lowest level.
    of_family.level_compaction_dynamic_level_bytes = false;
    if (with_properties) {
      of_family.table_properties_collector_factories.push_back(
          NewRowCounterFactory(KeyLayout::Escaped(), CellFormat::kVersioned));
    }
    ASSERT_THAT(database_->Open(options, dir_.File("db"),
                                {{"default", {}}, {"f", of_family}},
                                Database::Access::kReadWrite),
                IsOk());
    family_ = database_->Find("f");
    oldest_.emplace();
    oldest_->Watch(database_->get(), family_);
  }

  void Write(const Entry& entry) {
    oldest_->Note(entry.timestamp_ms);
    ASSERT_THAT((*database_)
                    ->Put({}, family_.get(), std::to_string(entry.timestamp_ms),
                          EncodeEntries({entry})),
                IsOk());
  }
  void Put(uint64_t timestamp_ms) {
    Write({ChangeType::kPut, timestamp_ms, "v"});
  }

  // A lock that no write waits for.
  static std::unique_lock<std::mutex> NoWrites() { return {}; }
  Status Flush() {
    return oldest_->Flush(NoWrites, [this] { return FlushFamily(); });
  }
  Status FlushFamily() { return (*database_)->Flush({}, family_.get()); }

  uint64_t Bound() const { return OldestPut::Bound(*oldest_).ms(); }

  TempDir dir_;
  std::optional<OldestPut> oldest_;
  std::optional<Database> database_;
  ColumnFamily family_;
};

TEST_F(OldestPutTest, IsInMemoryOrInAFile) {
  EXPECT_EQ(Bound(), kNone);
  Put(50);
  EXPECT_EQ(Bound(), 50);
  ASSERT_THAT(Flush(), IsOk());
  EXPECT_EQ(Bound(), 50);
  Put(60);
  EXPECT_EQ(Bound(), 50);
  Put(40);
  EXPECT_EQ(Bound(), 40);
}

TEST_F(OldestPutTest, IsNoDeleteAndNoPutThatRanOut) {
  Write({ChangeType::kDelete, 10});
  Write({ChangeType::kPut, 20, "", /*ttl_ms=*/0});
  ASSERT_THAT(Flush(), IsOk());
  EXPECT_EQ(Bound(), kNone);
  Write({ChangeType::kPut, 30, "v", /*ttl_ms=*/1});
  ASSERT_THAT(Flush(), IsOk());
  EXPECT_EQ(Bound(), 30);
}

TEST_F(OldestPutTest, IsForgottenOnceItsFileIsGone) {
  // RocksDB would move files of a single key without a compaction.
  Put(50);
  Put(51);
  ASSERT_THAT(Flush(), IsOk());
  for (const char* key : {"50", "51"}) {
    ASSERT_THAT((*database_)->Delete({}, family_.get(), key), IsOk());
  }
  ASSERT_THAT(Flush(), IsOk());
  ASSERT_THAT((*database_)->CompactRange({}, family_.get(), nullptr, nullptr),
              IsOk());
  EXPECT_EQ(Bound(), kNone);
}

// A put may have come and become a file after the files were looked at.
TEST_F(OldestPutTest, ABoundKnowsOfPutsButNothingAfterAFlush) {
  const OldestPut::Bound bound(*oldest_);
  EXPECT_EQ(bound.ms(), kNone);
  Put(50);
  EXPECT_EQ(bound.ms(), 50);
  ASSERT_THAT(Flush(), IsOk());
  EXPECT_EQ(bound.ms(), 0);
}

TEST_F(OldestPutTest, NothingIsKnownDuringAFlush) {
  Put(50);
  std::optional<OldestPut::Bound> during;
  const auto flush = [&] {
    during.emplace(*oldest_);
    EXPECT_EQ(during->ms(), 0);
    return FlushFamily();
  };
  ASSERT_THAT(oldest_->Flush(NoWrites, flush), IsOk());
  EXPECT_EQ(during->ms(), 0);
}

TEST_F(OldestPutTest, TheLowestLevelHasNoFileBelowIt) {
  Put(50);
  ASSERT_THAT(Flush(), IsOk());
  EXPECT_FALSE(oldest_->IsLowest(0));
  EXPECT_TRUE(oldest_->IsLowest(1));
  rocksdb::CompactRangeOptions to_level_3;
  to_level_3.change_level = true;
  to_level_3.target_level = 3;
  ASSERT_THAT(
      (*database_)->CompactRange(to_level_3, family_.get(), nullptr, nullptr),
      IsOk());
  EXPECT_FALSE(oldest_->IsLowest(2));
  EXPECT_TRUE(oldest_->IsLowest(3));
  EXPECT_TRUE(oldest_->IsLowest(6));
  EXPECT_FALSE(OldestPut().IsLowest(6));
}

// It may not be in a file yet.
TEST_F(OldestPutTest, AFlushDoesNotForgetAPutThatWaitedForIt) {
  struct Lock {
    OldestPut* oldest;
    ~Lock() { oldest->Note(40); }
  };
  Put(50);
  ASSERT_THAT(oldest_->Flush([this] { return Lock{&*oldest_}; },
                             [this] { return FlushFamily(); }),
              IsOk());
  EXPECT_EQ(Bound(), 40);
}

TEST_F(OldestPutTest, AFlushThatFailsForgetsNothing) {
  Put(50);
  const auto fail = [] { return Status::IOError(); };
  EXPECT_TRUE(oldest_->Flush(NoWrites, fail).IsIOError());
  EXPECT_EQ(Bound(), 50);
  const auto stop = []() -> Status { throw std::bad_alloc(); };
  EXPECT_TRUE(oldest_->Flush(NoWrites, stop).IsMemoryLimit());
  EXPECT_EQ(Bound(), 50);
}

TEST_F(OldestPutTest, IsUnknownBesideAFileThatDoesNotSay) {
  ASSERT_NO_FATAL_FAILURE(Open(/*with_properties=*/false));
  Put(50);
  ASSERT_THAT(Flush(), IsOk());
  EXPECT_EQ(Bound(), 0);
}

TEST_F(OldestPutTest, IsUnknownWithoutTheFamily) {
  OldestPut never;
  EXPECT_EQ(OldestPut::Bound(never).ms(), 0);
  family_.reset();
  database_.reset();
  EXPECT_EQ(Bound(), 0);
}

}  // namespace
}  // namespace rowbloom::test
