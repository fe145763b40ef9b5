// A follower has every acknowledged write of another process, as a whole, and
// its families, also when that process is killed at any time.
#include "rowbloom/follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/version.h"
#include "tests/storage/store/test_store.h"
#include "tests/storage/upkeep/numbered_writes.h"
#include "tests/storage/upkeep/other_process.h"
#include "tests/support/calling_file_system.h"
#include "tests/support/wait_for.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::HasSubstr;

// A model that goes along with the numbers that a follower shows.
class NumberedModel {
 public:
  // Compares what the store shows with the writes up to its number, which it
  // returns.
  uint64_t Check(Store* store) {
    std::optional<std::string> shown;
    EXPECT_THAT(store->Get("counter", "latest", "n", &shown), IsOk());
    const uint64_t number = shown ? std::stoull(*shown) : 0;
    EXPECT_GE(number, number_);
    while (number_ < number) {
      WriteBatch ignored;
      MakeWrite(++number_, &ignored, &model_);
    }
    const auto rows = WithoutGivenTimes(RowsOf(*store, AllWritten()));
    EXPECT_TRUE(rows == model_.Scan(AllWritten(), /*now_ms=*/0))
        << "at " << number;
    for (const Row& row : rows) {
      const std::vector<Cell> cells =
          GetRowOf(*store, row.row, AllWritten().row);
      EXPECT_TRUE(WithoutGivenTimes({{row.row, cells}})[0] == row);
    }
    if (!store->Families().contains(kExtra)) return number;
    // A family of an earlier time would show its number.
    EXPECT_EQ(ValueOf(*store, "counter", kExtra, "n"),
              HasExtra(number) ? shown : std::nullopt)
        << " at " << number;
    return number;
  }

 private:
  StoreModel model_{kWrittenFamilies};
  uint64_t number_ = 0;
};

TEST(FollowerOfAnotherProcess, ShowsEveryAcknowledgedWriteThroughKills) {
  const TempDir dir;
  const std::string path = dir.File("db");
  Random random(SeedFromEnv());
  std::unique_ptr<Follower> follower;
  NumberedModel model;
  uint64_t seen = 0;
  const uint64_t lives = Scaled(6);
  for (uint64_t life = 0; life < lives; ++life) {
    OtherProcess writer(path, UINT64_MAX);
    uint64_t acknowledged = 0;
    for (uint64_t look = 0; look < 8; ++look) {
      for (uint64_t writes = 1 + random.Below(20); writes > 0; --writes) {
        acknowledged = writer.NextNumber();
        ASSERT_GT(acknowledged, 0u);
      }
      // The writer may flush during each try of an opening.
      Status s;
      ASSERT_TRUE(WaitFor([&] {
        s = follower == nullptr
                ? Follower::Open(
                      random.OneIn(2)
                          ? StoreOptions{}
                          : StoreOptions{.front_filter_limit_bytes = 0},
                      path, &follower)
                : follower->Follow();
        return !s.IsTryAgain();
      }));
      ASSERT_THAT(s, IsOk());
      seen = model.Check(follower->store().get());
      ASSERT_GE(seen, acknowledged);
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
    writer.Kill();
    ASSERT_THAT(follower->Follow(), IsOk());
    ASSERT_GE(model.Check(follower->store().get()), seen);
    // Nothing is left to follow.
    const std::shared_ptr<Store> last = follower->store();
    ASSERT_THAT(follower->Follow(), IsOk());
    ASSERT_EQ(follower->store(), last);
  }
  EXPECT_GT(seen, lives * 8);
}

class Following : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenOrFail(
        {}, path_,
        {{"f", {}},
         {"v", {.timestamps = Timestamps::kClient, .max_versions = 2}}});
    ASSERT_THAT(store_->Put("r", "f", "q", "1"), IsOk());
    ASSERT_THAT(Follower::Open({}, path_, &follower_), IsOk());
  }

  TempDir dir_;
  const std::string path_ = dir_.File("db");
  std::unique_ptr<Store> store_;
  std::unique_ptr<Follower> follower_;
  std::optional<std::string> value_;
};

TEST_F(Following, SeesTheNextStateOnlyWhenToldTo) {
  const std::shared_ptr<Store> before = follower_->store();
  RowScanner scan = ScanOf(*before);
  ASSERT_THAT(store_->Put("r", "f", "q", "2"), IsOk());
  ASSERT_THAT(store_->DropFamily("v"), IsOk());
  ASSERT_THAT(store_->Flush(), IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  ASSERT_THAT(before->Get("r", "f", "q", &value_), IsOk());
  EXPECT_EQ(value_, "1");
  ASSERT_THAT(follower_->Follow(), IsOk());
  ASSERT_THAT(follower_->store()->Get("r", "f", "q", &value_), IsOk());
  EXPECT_EQ(value_, "2");
  EXPECT_FALSE(follower_->store()->Families().contains("v"));
  // Readers of the earlier state go on with it.
  ASSERT_THAT(before->Get("r", "f", "q", &value_), IsOk());
  EXPECT_EQ(value_, "1");
  EXPECT_TRUE(before->Families().contains("v"));
  std::vector<Row> rows;
  for (const Row& row : scan) rows.push_back(row);
  ASSERT_THAT(scan.status(), IsOk());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].cells[0].value, "1");
}

// Stores that a follower opens one after the other have one block cache: the
// caller's or, without one, its own.
TEST_F(Following, KeepsItsBlockCache) {
  const std::shared_ptr<rocksdb::Cache> cache =
      rocksdb::NewLRUCache(8 << 20, /*num_shard_bits=*/0);
  for (const auto& given : {cache, std::shared_ptr<rocksdb::Cache>()}) {
    ASSERT_THAT(store_->Put("r", "f", "q", std::string(5000, 'v')), IsOk());
    ASSERT_THAT(store_->Flush(), IsOk());
    ASSERT_THAT(Follower::Open({.block_cache = given}, path_, &follower_),
                IsOk());
    const std::shared_ptr<Store> before = follower_->store();
    ASSERT_THAT(store_->Put("r", "f", "q", "2"), IsOk());
    ASSERT_THAT(follower_->Follow(), IsOk());
    const auto used = [&] {
      StoreStats stats;
      EXPECT_THAT(follower_->store()->Stats(&stats), IsOk());
      return stats.block_cache_bytes_used;
    };
    const uint64_t unread = used();
    ASSERT_THAT(before->Get("r", "f", "q", &value_), IsOk());
    EXPECT_GT(used(), unread);
  }
  EXPECT_GT(cache->GetUsage(), 5000u);
}

// The cache may get another size while the store is followed.
TEST_F(Following, GoesOnWithACacheOfAnotherSize) {
  ASSERT_THAT(Follower::Open({.block_cache_bytes = 1 << 20}, path_, &follower_),
              IsOk());
  follower_->store()->Options().block_cache->SetCapacity(2 << 20);
  ASSERT_THAT(store_->Put("r", "f", "q", "2"), IsOk());
  ASSERT_THAT(follower_->Follow(), IsOk());
  EXPECT_EQ(follower_->store()->Options().block_cache_bytes, size_t{2} << 20);
}

// RocksDB's secondary shows the version of time 1 again: its memtable has the
// operands that the file has, too.
TEST_F(Following, PushedOutVersionsStayAwayAfterAFlush) {
  for (const uint64_t ms : {1, 2, 3}) {
    ASSERT_THAT(store_->Put("r", "v", "q", "v", {.timestamp_ms = ms}), IsOk());
  }
  ASSERT_THAT(store_->DeleteVersion("r", "v", "q", {.timestamp_ms = 3}),
              IsOk());
  for (int round = 0; round < 2; ++round) {
    ASSERT_THAT(follower_->Follow(), IsOk());
    std::vector<Cell> cells;
    ASSERT_THAT(follower_->store()->GetVersions("r", "v", "q", &cells,
                                                {.max_versions = 9}),
                IsOk());
    ASSERT_EQ(cells.size(), 1u);
    EXPECT_EQ(cells[0].timestamp_ms, 2u);
    ASSERT_THAT(store_->Flush(), IsOk());
  }
}

TEST_F(Following, FamiliesComeChangeAndGoWithTheWriters) {
  ASSERT_THAT(store_->DropFamily("f"), IsOk());
  ASSERT_THAT(store_->CreateFamily("f", {.max_versions = 5}), IsOk());
  ASSERT_THAT(store_->AlterFamily(
                  "v", {.timestamps = Timestamps::kClient, .max_versions = 7}),
              IsOk());
  ASSERT_THAT(store_->CreateFamily("new", {}), IsOk());
  ASSERT_THAT(store_->Put("r", "new", "q", "n"), IsOk());
  ASSERT_THAT(follower_->Follow(), IsOk());
  EXPECT_EQ(follower_->store()->Families(), store_->Families());
  EXPECT_THAT(follower_->store()->Get("r", "f", "q", &value_), IsOk());
  EXPECT_FALSE(value_);
  ASSERT_THAT(follower_->store()->Get("r", "new", "q", &value_), IsOk());
  EXPECT_EQ(value_, "n");
}

TEST_F(Following, NeitherWritesNorChangesFiles) {
  EXPECT_TRUE(follower_->store()->Put("r", "f", "q", "x").IsNotSupported());
  ASSERT_THAT(store_->Put("r", "f", "q", "2"), IsOk());
  const auto written = Contents(path_);
  ASSERT_THAT(follower_->Follow(), IsOk());
  EXPECT_EQ(ValueOf(*follower_->store(), "r", "f", "q"), "2");
  EXPECT_TRUE(Contents(path_) == written);
}

TEST_F(Following, KeepsItsStoreAfterAnError) {
  const std::shared_ptr<Store> before = follower_->store();
  ASSERT_THAT(store_->Put("r", "f", "q", "2"), IsOk());
  store_.reset();
  std::filesystem::rename(path_ + "/CURRENT", path_ + "/AWAY");
  EXPECT_THAT(follower_->Follow(),
              StatusIs(Status::kInvalidArgument, HasSubstr("CURRENT")));
  EXPECT_EQ(follower_->store(), before);
  std::filesystem::rename(path_ + "/AWAY", path_ + "/CURRENT");
  ASSERT_THAT(follower_->Follow(), IsOk());
  ASSERT_THAT(follower_->store()->Get("r", "f", "q", &value_), IsOk());
  EXPECT_EQ(value_, "2");
}

// The writer makes a change before each log and MANIFEST that is read.
TEST_F(Following, OpensTheStoreOfOneTime) {
  enum Change { kLoad, kPut, kPutToBoth, kFlush, kKinds };
  uint64_t changes = 0;
  const auto change = [&](int kind) {
    const std::string number = std::to_string(++changes);
    WriteBatch batch;
    if (kind == kLoad) {
      const auto load = LoadInto(*store_);
      ASSERT_THAT(load->Add("r", "v", number, "v", 5), IsOk());
      ASSERT_THAT(load->Finish(), IsOk());
    } else if (kind == kFlush) {
      // Logs are deleted, so that an opening has to begin anew.
      if (changes % 10 < 4) {
        ASSERT_THAT(store_->Flush(), IsOk());
      }
    } else {
      batch.Put("r", "f", "put", number);
      if (kind == kPutToBoth) batch.Put("r", "v", "put", number, changes);
      ASSERT_THAT(store_->Write(batch), IsOk());
    }
  };
  const auto files = std::make_shared<CallingFileSystem>();
  const auto env = rocksdb::NewCompositeEnv(files);
  for (int first = 0; first < kKinds; ++first) {
    for (int second = 0; second < kKinds; ++second) {
      SCOPED_TRACE(std::to_string(first) + ", " + std::to_string(second));
      std::map<uint64_t, std::vector<Cell>> states;  // by number
      const auto keep = [&] {
        ASSERT_THAT(store_->GetRow("r", &states[store_->LatestNumber()]),
                    IsOk());
      };
      ASSERT_THAT(store_->Flush(), IsOk());
      keep();
      int calls = 0;
      files->On(FileCall::kOpen, [&](const std::string& path) {
        constexpr int kMost = 40;  // each load begins a new log
        if (path.ends_with("/CURRENT") || calls == kMost) return;
        change(calls++ % 2 == 0 ? first : second);
        keep();
      });
      const auto reader =
          OpenOrFail({.read_only = true, .env = env.get()}, path_, {});
      files->Off(FileCall::kOpen);
      EXPECT_GT(calls, 2);
      ASSERT_TRUE(states.contains(reader->LatestNumber()));
      EXPECT_EQ(GetRowOf(*reader, "r"), states[reader->LatestNumber()]);
    }
  }
}

TEST(FollowerOpen, NamesAStoreThatIsNotThere) {
  const TempDir dir;
  std::unique_ptr<Follower> follower;
  EXPECT_THAT(Follower::Open({}, dir.File("none"), &follower),
              StatusIs(Status::kNotFound, HasSubstr("no store at")));
}

// A follower's cache of this size would hold nothing.
TEST(FollowerOpen, RefusesABlockCacheThatAStoreRefuses) {
  const TempDir dir;
  const std::string path = dir.File("db");
  OpenOrFail({}, path, {{"f", {}}}).reset();
  std::unique_ptr<Follower> follower;
  EXPECT_THAT(
      Follower::Open({.block_cache_bytes = std::numeric_limits<size_t>::max()},
                     path, &follower),
      StatusIs(Status::kInvalidArgument, HasSubstr("block_cache_bytes is")));
}

// Stores that are made alike have files of the same names and sizes.
TEST(FollowerOfAStore, GoesOnWithAnotherOneInItsPlace) {
  const TempDir dir;
  const std::vector<std::string> paths = {dir.File("first"),
                                          dir.File("second")};
  for (const std::string& path : paths) {
    const auto store = OpenOrFail({}, path, {{"f", {}}});
    ASSERT_THAT(store->Put("r", "f", "q", path == paths[0] ? "first" : "other"),
                IsOk());
  }
  const std::string followed = dir.File("followed");
  std::filesystem::rename(paths[0], followed);
  std::unique_ptr<Follower> follower;
  ASSERT_THAT(Follower::Open({}, followed, &follower), IsOk());
  const auto expect = [&](const char* expected) {
    ASSERT_THAT(follower->Follow(), IsOk());
    std::optional<std::string> value;
    ASSERT_THAT(follower->store()->Get("r", "f", "q", &value), IsOk());
    EXPECT_EQ(value, expected);
  };
  expect("first");
  std::filesystem::remove_all(followed);
  std::filesystem::rename(paths[1], followed);
  expect("other");
}

// A store that was put back from a copy of its directory, and written to again,
// has files of the same names and sizes, and the same identity.
TEST(FollowerOfAStore, GoesOnAfterItWasPutBack) {
  const TempDir dir;
  const std::string path = dir.File("db");
  const auto write = [&](const char* value) {
    const auto store = OpenOrFail({}, path, {{"f", {}}});
    ASSERT_THAT(store->Put("r", "f", "q", value), IsOk());
  };
  ASSERT_NO_FATAL_FAILURE(write("start"));
  std::filesystem::copy(path, dir.File("copy"));
  std::unique_ptr<Follower> follower;
  for (const char* value : {"first", "other"}) {
    std::filesystem::remove_all(path);
    std::filesystem::copy(dir.File("copy"), path);
    ASSERT_NO_FATAL_FAILURE(write(value));
    if (follower == nullptr) {
      ASSERT_THAT(Follower::Open({}, path, &follower), IsOk());
    }
    ASSERT_THAT(follower->Follow(), IsOk());
    std::optional<std::string> shown;
    ASSERT_THAT(follower->store()->Get("r", "f", "q", &shown), IsOk());
    EXPECT_EQ(shown, value);
  }
}

}  // namespace
}  // namespace rowbloom::test
