#include "storage/cells/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kNow = 1'700'000'000'000;

uint64_t TimestampOf(Store* store, const std::string& row) {
  PinnableCell cell;
  EXPECT_THAT(store->Get(row, "f", "q", &cell), IsOk());
  EXPECT_TRUE(cell);
  return cell.timestamp_ms();
}

uint64_t PutNow(Store* store, const std::string& row) {
  EXPECT_THAT(store->Put(row, "f", "q", "v"), IsOk());
  return TimestampOf(store, row);
}

TEST(LeasedClock, FollowsTheWallClockAndNeverGoesBack) {
  uint64_t now = kNow;
  LeasedClock clock([&now] { return now; });
  EXPECT_EQ(clock.Now(), kNow);
  now = kNow - 5000;
  EXPECT_EQ(clock.Now(), kNow);
  now = kNow + 1;
  EXPECT_EQ(clock.Now(), kNow + 1);
}

TEST(LeasedClock, KeepsABoundAheadOnlyWhenATimestampPassesIt) {
  LeasedClock clock([] { return kNow; });
  clock.Start(kNow - 1);
  EXPECT_EQ(clock.BoundToKeep(kNow - 1), std::nullopt);
  EXPECT_EQ(clock.BoundToKeep(kNow), kNow + LeasedClock::kLeaseMs);
  clock.Kept(kNow + LeasedClock::kLeaseMs);
  EXPECT_EQ(clock.BoundToKeep(kNow + LeasedClock::kLeaseMs), std::nullopt);
  EXPECT_NE(clock.BoundToKeep(kNow + LeasedClock::kLeaseMs + 1), std::nullopt);
}

TEST(LeasedClock, GivesEachStepATimeThatNothingElseGets) {
  LeasedClock clock([] { return uint64_t{1000}; });
  constexpr int kThreads = 3;
  constexpr int kSteps = 20'000;
  std::vector<std::vector<uint64_t>> steps(kThreads);
  std::vector<uint64_t> times;
  std::atomic<int> left{kThreads};
  std::vector<std::thread> threads;
  for (std::vector<uint64_t>& own : steps) {
    threads.emplace_back([&] {
      for (int i = 0; i < kSteps; ++i) own.push_back(clock.Step());
      --left;
    });
  }
  do {
    times.push_back(clock.Now());
  } while (left > 0);
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> all;
  for (const std::vector<uint64_t>& own : steps) {
    all.insert(own.begin(), own.end());
  }
  EXPECT_EQ(all.size(), size_t{kThreads} * kSteps);
  EXPECT_TRUE(std::ranges::none_of(
      times, [&all](uint64_t time_ms) { return all.contains(time_ms); }));
}

TEST(LeasedClock, StopsAtTheLargestTimestamp) {
  LeasedClock clock([] { return UINT64_MAX; });
  EXPECT_EQ(clock.WallNow(), kMaxTimestampMs);
  EXPECT_EQ(clock.Now(), kMaxTimestampMs - LeasedClock::kLeaseMs - 1);
  EXPECT_EQ(clock.BoundToKeep(kMaxTimestampMs), kMaxTimestampMs);
}

TEST(StoreClock, NeverGoesBackAcrossReopening) {
  const TempDir dir;
  uint64_t now = kNow;
  const WallClock wall_clock = [&now] { return now; };
  const std::string path = dir.File("db");
  uint64_t last = 0;
  for (int round = 0; round < 5; ++round) {
    const auto store = OpenOrFail({}, path, {{"f", {}}}, wall_clock);
    for (int i = 0; i < 3; ++i) {
      const uint64_t timestamp =
          PutNow(store.get(), std::to_string(round) + "/" + std::to_string(i));
      EXPECT_GE(timestamp, last);
      last = timestamp;
      now += 700;
    }
    now -= 100'000;  // the machine's clock is set back
  }
  // The clock ran 2100 ms ahead and never needed more than the bound.
  EXPECT_LE(last, kNow + 2100 + LeasedClock::kLeaseMs);
}

TEST(StoreClock, IsTheWallClockOnceThatIsAhead) {
  const TempDir dir;
  uint64_t now = kNow;
  const WallClock wall_clock = [&now] { return now; };
  {
    const auto store = OpenOrFail({}, dir.File("db"), {{"f", {}}}, wall_clock);
    EXPECT_EQ(PutNow(store.get(), "a"), kNow);
  }
  now = kNow + 2 * LeasedClock::kLeaseMs;
  const auto store = OpenOrFail({}, dir.File("db"), {}, wall_clock);
  EXPECT_EQ(PutNow(store.get(), "b"), now);
}

TEST(StoreClock, TimestampsAreTheMachinesTime) {
  const TempDir dir;
  const auto store = OpenOrFail({}, dir.File("db"), {{"f", {}}});
  const uint64_t before = SystemWallClock();
  const uint64_t timestamp = PutNow(store.get(), "a");
  EXPECT_GE(timestamp, before);
  EXPECT_LE(timestamp, SystemWallClock());
}

TEST(StoreClock, OrderOfTimestampsIsOrderOfWritesUnderConcurrency) {
  const TempDir dir;
  std::atomic<uint64_t> ticks{0};
  // Jumps up and down, and past the bound every few writes.
  const WallClock wall_clock = [&ticks] {
    const uint64_t tick = ticks++;
    return kNow + tick * 300 - Mix64(tick) % 2000;
  };
  const auto store = OpenOrFail({}, dir.File("db"), {{"f", {}}}, wall_clock);
  constexpr int kWriters = 4;
  const auto writes = static_cast<int>(Scaled(500));
  std::atomic<int> running{kWriters};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      for (int i = 0; i < writes; ++i) {
        EXPECT_THAT(store->Put("r", "f", "q", std::to_string(writer)), IsOk());
      }
      --running;
    });
  }
  uint64_t last = 0;
  while (running > 0) {
    PinnableCell cell;
    EXPECT_THAT(store->Get("r", "f", "q", &cell), IsOk());
    if (!cell) continue;
    EXPECT_GE(cell.timestamp_ms(), last);
    last = cell.timestamp_ms();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(TimestampOf(store.get(), "r"), last);
}

// Clocks that a machine should not have.
class HostileClock : public ::testing::Test {
 protected:
  static constexpr uint64_t kHourMs = 3'600'000;
  static constexpr uint64_t kDayMs = 24 * kHourMs;
  static constexpr uint64_t k2099 = 4'070'908'800'000;

  void SetUp() override { Open("db"); }

  void Open(const std::string& name) {
    store_.reset();
    store_ = OpenOrFail({}, dir_.File(name),
                        {{"c",
                          {.timestamps = Timestamps::kClient,
                           .max_versions = 5,
                           .ttl_ms = 100 * 365 * kDayMs}},
                         {"latest", {}},
                         {"s", {.max_versions = 5}},
                         {"ttl", {.max_versions = 5, .ttl_ms = kDayMs}},
                         {"ttl1", {.ttl_ms = kDayMs}}},
                        [this] { return wall_ms_; });
  }

  // Goes on with what a crash would leave.
  void Crash() {
    const std::string name = "crash" + std::to_string(++crashes_);
    CopyOpenDatabase(dir_.File(current_), dir_.File(name));
    current_ = name;
    Open(name);
  }

  void Put(const std::string& value, const std::string& family = "s") {
    ASSERT_THAT(store_->Put("r", family, "q", value), IsOk());
  }

  // The versions of the cell, newest first.
  std::vector<Cell> Versions(const std::string& family = "s",
                             const std::string& qualifier = "q") {
    return GetVersionsOf(*store_, "r", family, qualifier,
                         {.max_versions = 100});
  }
  uint64_t Newest(const std::string& family = "s") {
    const std::vector<Cell> cells = Versions(family);
    EXPECT_FALSE(cells.empty());
    return cells.empty() ? 0 : cells[0].timestamp_ms;
  }
  void ExpectFiveVersions() {
    const std::vector<Cell> cells = Versions();
    ASSERT_EQ(cells.size(), 5u);
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(cells[i].value, std::to_string(4 - i));
      if (i == 0) continue;
      EXPECT_LT(cells[i].timestamp_ms, cells[i - 1].timestamp_ms);
    }
    EXPECT_GE(cells.back().timestamp_ms, kNow);
    EXPECT_LE(cells.front().timestamp_ms, kNow + 10);
  }

  TempDir dir_;
  uint64_t wall_ms_ = kNow;
  int crashes_ = 0;
  std::string current_ = "db";
  std::unique_ptr<Store> store_;
};

TEST_F(HostileClock, StandsStillAndPutsAreVersions) {
  WriteBatch batch;
  for (int i = 0; i < 5; ++i) batch.Put("r", "s", "q", std::to_string(i));
  ASSERT_THAT(store_->Write(batch), IsOk());
  ExpectFiveVersions();
  for (int i = 0; i < 5; ++i) Put(std::to_string(i));
  ExpectFiveVersions();
}

TEST_F(HostileClock, StandsStillAndPutsOfManyOpeningsAreVersions) {
  for (int i = 0; i < 5; ++i) {
    Put(std::to_string(i));
    Open("db");
  }
  ExpectFiveVersions();
}

TEST_F(HostileClock, StandsStillAndTheNewestPutIsShownASecondAheadAtMost) {
  for (int i = 0; i < 3000; ++i) {
    Put(std::to_string(i));
    const std::vector<Cell> cells = Versions();
    ASSERT_EQ(cells[0].value, std::to_string(i));
    ASSERT_LE(cells[0].timestamp_ms, kNow + 1000);
    ASSERT_EQ(cells.size(), std::min<size_t>(i + 1, 5));
  }
  // Other cells are where the clock is.
  ASSERT_THAT(store_->Put("r", "s", "q2", "v"), IsOk());
  EXPECT_EQ(Versions("s", "q2")[0].timestamp_ms, kNow);
  // The bound is exact, so that the next opening is a millisecond after it.
  Open("db");
  Put("again");
  EXPECT_EQ(Versions()[0].value, "again");
  EXPECT_EQ(Newest(), kNow + 1001);
}

// A delete of a cell that ran ahead a full second removes it, but no delete
// that is later still.
TEST_F(HostileClock, StandsStillAndDeletesOfLaterTimesStay) {
  constexpr uint64_t kLater = kNow + kDayMs;
  const auto write = [this](auto change) {
    WriteBatch batch;
    change(&batch);
    ASSERT_THAT(store_->Write(batch), IsOk());
  };
  const auto run_ahead = [](WriteBatch* batch, const char* family, int puts) {
    for (int i = 0; i < puts; ++i) batch->Put("r", family, "q", "v");
  };
  int names = 0;
  for (const int puts : {10, 1100}) {
    for (const bool in_one_batch : {false, true}) {
      for (const bool is_of_row : {false, true}) {
        SCOPED_TRACE(std::to_string(puts) + " puts, " +
                     (in_one_batch ? "one batch" : "batches") +
                     (is_of_row ? ", of the row" : ", of the cell"));
        Open("later" + std::to_string(++names));
        const auto delete_later = [&](WriteBatch* batch) {
          batch->DeleteVersion("r", "c", "q", kLater);
          batch->DeleteFamilyVersion("r", "c", kLater + 1);
          batch->Delete("r", "c", "q2", kLater + 2);
          batch->DeleteFamily("r", "s", kLater);
        };
        const auto delete_now = [&](WriteBatch* batch) {
          for (const char* family : {"c", "s"}) {
            run_ahead(batch, family, puts);
            if (is_of_row) {
              batch->DeleteFamily("r", family);
            } else {
              batch->Delete("r", family, "q");
            }
          }
        };
        if (in_one_batch) {
          write([&](WriteBatch* batch) {
            delete_later(batch);
            delete_now(batch);
          });
        } else {
          write(delete_later);
          ASSERT_THAT(store_->Flush(), IsOk());
          write(delete_now);
        }
        ASSERT_THAT(store_->Put("r", "c", "q", "v", {.timestamp_ms = kLater}),
                    IsOk());
        ASSERT_THAT(
            store_->Put("r", "c", "q", "v", {.timestamp_ms = kLater + 1}),
            IsOk());
        ASSERT_THAT(
            store_->Put("r", "c", "q2", "v", {.timestamp_ms = kLater + 2}),
            IsOk());
        Put("v", "s");
        for (int compacted = 0; compacted < 2; ++compacted) {
          EXPECT_THAT(Versions("c"), IsEmpty());
          EXPECT_THAT(Versions("c", "q2"), IsEmpty());
          EXPECT_THAT(Versions("s"), IsEmpty());
          ASSERT_THAT(store_->Compact(), IsOk());
        }
      }
    }
  }
}

// A delete that is not written changes nothing for the next one.
TEST_F(HostileClock, StandsStillAndADeleteAfterOneThatFailsTakesTheNewest) {
  const auto store =
      OpenOrFail({.transactions = true}, dir_.File("transactions"),
                 {{"s", {.max_versions = 5}}}, [this] { return wall_ms_; });
  ASSERT_THAT(store->Put("text", "s", "q", "no counter"), IsOk());
  const auto fail_in_a_batch = [&store](const Change& change) {
    WriteBatch batch;
    batch.Add(change);
    batch.Increment("text", "s", "q", 1);
    EXPECT_TRUE(store->Write(batch).IsInvalidArgument());
  };
  const auto fail_in_a_transaction = [&store](const Change& change) {
    std::unique_ptr<Transaction> transaction;
    ASSERT_THAT(store->Begin(&transaction), IsOk());
    transaction->Add(change);
    transaction->Put("r", "s", "other", "v");
    ASSERT_THAT(store->Put("r", "s", "other", "v"), IsOk());
    EXPECT_TRUE(transaction->Commit().IsBusy());
  };
  for (const Change& change :
       {Change{ChangeType::kDelete, "r", "s", "q"},
        Change{ChangeType::kDeleteFamily, "r", "s", ""}}) {
    for (const bool in_a_batch : {false, true}) {
      for (int i = 0; i < 1100; ++i) {
        ASSERT_THAT(store->Put("r", "s", "q", "v"), IsOk());
      }
      if (in_a_batch) {
        fail_in_a_batch(change);
      } else {
        fail_in_a_transaction(change);
      }
      ASSERT_THAT(store->Write(change), IsOk());
      EXPECT_EQ(ValueOf(*store, "r", "s", "q"), std::nullopt);
    }
  }
}

TEST_F(HostileClock, IsNotMovedByReadsOfATransaction) {
  const auto store =
      OpenOrFail({.transactions = true}, dir_.File("transactions"),
                 {{"s", {.max_versions = 5}}}, [this] { return wall_ms_; });
  std::unique_ptr<Transaction> transaction;
  ASSERT_THAT(store->Begin(&transaction), IsOk());
  transaction->Put("r", "s", "q", "v");
  wall_ms_ = k2099;
  std::optional<std::string> value;
  ASSERT_THAT(transaction->Get("r", "s", "q", &value), IsOk());
  EXPECT_EQ(value, "v");
  wall_ms_ = kNow;
  ASSERT_THAT(transaction->Commit(), IsOk());
  const std::vector<Cell> cells = GetVersionsOf(*store, "r", "s", "q", {});
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_LE(cells[0].timestamp_ms, kNow + GivenTimes::kMaxAheadMs);
}

// A delete of a version that is to come takes it when the clock gets there.
TEST_F(HostileClock, ReachesADeletedTimeAndUpdatesAreRefusedRatherThanLost) {
  WriteBatch batch;
  batch.DeleteVersion("r", "s", "q", kNow + kDayMs);
  batch.DeleteFamilyVersion("r", "s", kNow + 2 * kDayMs);
  ASSERT_THAT(store_->Write(batch), IsOk());
  for (const uint64_t after_ms : {kDayMs, 2 * kDayMs}) {
    wall_ms_ = kNow + after_ms;
    std::string joined;
    EXPECT_THAT(store_->Append("r", "s", "q", "x", &joined),
                StatusIs(rocksdb::Status::kInvalidArgument,
                         HasSubstr("would not be the newest")));
  }
  EXPECT_THAT(Versions(), IsEmpty());
  ++wall_ms_;
  std::string joined;
  ASSERT_THAT(store_->Append("r", "s", "q", "x", &joined), IsOk());
  EXPECT_EQ(Versions()[0].value, "x");
}

// The delete has the timestamp of the cell's newest version, as far ahead as
// the store goes.
TEST_F(HostileClock, StandsStillAndAPutAfterADeleteOfTheNewestIsShown) {
  for (const char* family : {"s", "c"}) {
    for (const ChangeType type :
         {ChangeType::kDelete, ChangeType::kDeleteVersion,
          ChangeType::kDeleteFamily, ChangeType::kDeleteFamilyVersion}) {
      SCOPED_TRACE(std::string(family) + " " +
                   std::to_string(static_cast<int>(type)));
      const std::string row = std::to_string(static_cast<int>(type));
      const auto put = [&](const std::string& value) {
        ASSERT_THAT(store_->Put(row, family, "q", value), IsOk());
        EXPECT_EQ(ValueOf(*store_, row, family, "q"), value);
      };
      for (int i = 0; i < 1100; ++i) put(std::to_string(i));
      const std::vector<Cell> cells = GetVersionsOf(*store_, row, family, "q");
      const std::string_view qualifier = IsDeleteOfRow(type) ? "" : "q";
      ASSERT_THAT(
          store_->Write(Change{
              type, row, family, qualifier, {}, cells.at(0).timestamp_ms}),
          IsOk());
      ASSERT_THAT(store_->Flush(), IsOk());
      put("after it");
      put("and again");
      ASSERT_THAT(store_->Delete(row, family, "q"), IsOk());
      put("after a second delete");
      ASSERT_THAT(store_->DeleteFamily(row, family), IsOk());
      ASSERT_THAT(store_->Put(row, family, "q2", "other"), IsOk());
      ASSERT_THAT(store_->Compact(), IsOk());
      EXPECT_EQ(ValueOf(*store_, row, family, "q2"), "other");
    }
  }
}

// The load has a delete of the store's time, or a bit later.
TEST_F(HostileClock, StandsStillAndAPutAfterALoadIsShown) {
  for (const uint64_t ahead_ms : {0, 500, 1000}) {
    SCOPED_TRACE(ahead_ms);
    auto load = LoadInto(*store_);
    wall_ms_ += 10'000;
    const uint64_t deleted_ms = wall_ms_ + ahead_ms;
    ASSERT_THAT(
        load->Add(Change{ChangeType::kDelete, "r", "c", "q", {}, deleted_ms}),
        IsOk());
    EXPECT_FALSE(load->MayBeLoaded());
    ASSERT_THAT(load->Finish(), IsOk());
    EXPECT_TRUE(load->MayBeLoaded());
    load.reset();
    for (const bool reopened : {false, true}) {
      if (reopened) Open("db");
      Put("after", "c");
      EXPECT_EQ(Newest("c"), deleted_ms + 1 + (reopened ? 1 : 0));
    }
  }
}

TEST_F(HostileClock, StepsBackAnHour) {
  Put("before");
  wall_ms_ -= kHourMs;
  uint64_t last_ms = kNow;
  for (int i = 1; i <= 1500; ++i) {
    Put(std::to_string(i));
    const std::vector<Cell> cells = Versions();
    ASSERT_EQ(cells[0].value, std::to_string(i));
    ASSERT_EQ(cells[0].timestamp_ms, std::min(last_ms + 1, kNow + 1000));
    last_ms = cells[0].timestamp_ms;
    if (i % 2 == 0) ++wall_ms_;
  }
  ASSERT_EQ(Versions().size(), 5u);
  wall_ms_ = kNow + 5000;
  Put("after");
  EXPECT_EQ(Newest(), kNow + 5000);
}

TEST_F(HostileClock, WasOf2099AtAnOpeningWithoutWrites) {
  wall_ms_ = k2099;
  Open("db");
  EXPECT_THAT(store_->Warnings(), IsEmpty());
  wall_ms_ = kNow;
  EXPECT_THAT(store_->Warnings(), IsEmpty());
  Put("new");
  EXPECT_EQ(Newest(), kNow);
}

TEST_F(HostileClock, JumpsTo2099AndBack) {
  Put("old", "ttl");
  Put("old", "ttl1");
  for (const char* family : {"ttl", "ttl1"}) {
    wall_ms_ = k2099;
    EXPECT_THAT(Versions(family), IsEmpty());
    ASSERT_THAT(store_->Put("other", "s", "q", "v"), IsOk());
    wall_ms_ = kNow + 1000;
    ASSERT_EQ(Versions(family).size(), 1u);
    EXPECT_EQ(Versions(family)[0].value, "old");
    ASSERT_THAT(store_->Flush(), IsOk());
    ASSERT_THAT(store_->Compact(), IsOk());
    EXPECT_EQ(Versions(family).size(), 1u) << family;
  }
  Put("of 2099");
  EXPECT_GE(Newest(), k2099);
  Open("db");
  EXPECT_EQ(Versions("ttl").size(), 1u);
  ASSERT_EQ(store_->Warnings().size(), 1u);
  EXPECT_THAT(store_->Warnings()[0],
              AllOf(HasSubstr("the store at " + dir_.File("db")),
                    HasSubstr("27441 days ahead"), HasSubstr("reset-clock`")));

  ASSERT_THAT(store_->ResetClock(), IsOk());
  for (const bool reopened : {false, true}) {
    if (reopened) Open("db");
    EXPECT_THAT(store_->Warnings(), IsEmpty());
    // Cells of 2099 stay, and hide puts where versions are ordered by time.
    Put("hidden");
    EXPECT_EQ(Versions()[0].value, "of 2099");
    wall_ms_ += 1000;
    for (const char* family : {"latest", "ttl", "ttl1"}) {
      Put("new", family);
      EXPECT_EQ(Versions(family)[0].value, "new");
      EXPECT_EQ(Newest(family), wall_ms_);
    }
  }
  wall_ms_ += kDayMs + 1;
  EXPECT_THAT(Versions("ttl"), IsEmpty());
  EXPECT_THAT(Versions("ttl1"), IsEmpty());
}

TEST_F(HostileClock, ResetSetsTheClockBackAtOnceAndAcrossACrash) {
  wall_ms_ = k2099;
  Put("of 2099");
  wall_ms_ = kNow;
  ASSERT_THAT(store_->ResetClock(), IsOk());
  ASSERT_THAT(store_->Put("r", "s", "q2", "v"), IsOk());
  EXPECT_LE(Versions("s", "q2")[0].timestamp_ms, kNow + 1);
  Crash();
  ASSERT_THAT(store_->Put("r", "s", "q2", "v"), IsOk());
  EXPECT_LE(Versions("s", "q2")[0].timestamp_ms, kNow + 1002);
}

// A cell that was put often is ahead of a clock that was never wrong.
TEST_F(HostileClock, ResetHidesNoPutOfABusyCell) {
  for (int i = 0; i < 300; ++i) Put("before");
  ASSERT_GT(Newest(), wall_ms_ + 200);
  ASSERT_THAT(store_->ResetClock(), IsOk());
  Put("after");
  EXPECT_EQ(Versions()[0].value, "after");
}

TEST_F(HostileClock, ResetHidesNoLoadIntoABusyCell) {
  for (int i = 0; i < 300; ++i) Put("before");
  ASSERT_THAT(store_->ResetClock(), IsOk());
  auto load = LoadInto(*store_);
  ASSERT_THAT(load->Add("r", "s", "q", "loaded"), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  load.reset();
  EXPECT_EQ(Versions()[0].value, "loaded");
}

TEST_F(HostileClock, ResetHidesNoPutOfABusyCellInTheNextProcess) {
  for (const bool crashed : {false, true}) {
    for (int i = 0; i < 300; ++i) Put("before");
    ASSERT_THAT(store_->ResetClock(), IsOk());
    crashed ? Crash() : Open("db");
    Put("after");
    EXPECT_EQ(Versions()[0].value, "after") << crashed;
  }
}

TEST_F(HostileClock, DeletesTakePutsThatAreLaterThanTheClock) {
  const FamilyOptions own = {.timestamps = Timestamps::kClient,
                             .max_versions = 2};
  ASSERT_THAT(store_->CreateFamily("own", own), IsOk());
  const auto put_later = [this] {
    for (const char* qualifier : {"a", "b"}) {
      EXPECT_THAT(
          store_->Put("r", "own", qualifier, "later", {.timestamp_ms = k2099}),
          IsOk());
    }
  };
  using Delete = std::function<rocksdb::Status()>;
  const Delete deletes[] = {[&] {
                              WriteBatch batch;
                              batch.Delete("r", "own", "a");
                              batch.Delete("r", "own", "b");
                              return store_->Write(batch);
                            },
                            [&] { return store_->DeleteFamily("r", "own"); },
                            [&] { return store_->DeleteRow("r"); }};
  for (const Delete& remove : deletes) {
    ASSERT_THAT(store_->AlterFamily("own", own), IsOk());
    put_later();
    ASSERT_THAT(store_->AlterFamily("own", {.max_versions = 2}), IsOk());
    Crash();
    ASSERT_THAT(remove(), IsOk());
    EXPECT_THAT(Versions("own", "a"), IsEmpty());
    EXPECT_THAT(Versions("own", "b"), IsEmpty());
    ASSERT_THAT(store_->Put("r", "own", "a", "new"), IsOk());
    EXPECT_THAT(Versions("own", "a"), ElementsAre(Field(&Cell::value, "new")));
  }
  // Puts of a clock that was wrong.
  wall_ms_ = k2099;
  Put("of 2099");
  wall_ms_ = kNow + kDayMs;
  ASSERT_THAT(store_->ResetClock(), IsOk());
  Open(current_);
  EXPECT_THAT(Versions(), ElementsAre(Field(&Cell::value, "of 2099")));
  ASSERT_THAT(store_->DeleteFamily("r", "s"), IsOk());
  EXPECT_THAT(Versions(), IsEmpty());
  Put("new");
  EXPECT_THAT(Versions(), ElementsAre(Field(&Cell::value, "new")));
}

TEST_F(HostileClock, DeletesOf2099TakeNoPutsAfterADeleteOfToday) {
  for (const bool of_row : {false, true}) {
    const auto remove = [&] {
      return of_row ? store_->DeleteFamily("r", "s")
                    : store_->Delete("r", "s", "q");
    };
    wall_ms_ = k2099;
    Put("of 2099");
    ASSERT_THAT(remove(), IsOk());
    // A compaction meets it in a file.
    ASSERT_THAT(store_->Flush(), IsOk());
    wall_ms_ = kNow;
    ASSERT_THAT(store_->ResetClock(), IsOk());
    Put("hidden");
    EXPECT_THAT(Versions(), IsEmpty());
    ASSERT_THAT(remove(), IsOk());
    Put("new");
    for (int compacted = 0; compacted < 2; ++compacted) {
      EXPECT_THAT(Versions(), ElementsAre(Field(&Cell::value, "new")));
      ASSERT_THAT(store_->Compact(), IsOk());
    }
  }
}

// A put after a delete of a time that is near has a later one, in the next
// process, too.
TEST_F(HostileClock, StandsStillBetweenADeleteOfTheNextSecondAndAPut) {
  for (const bool reopened : {true, false}) {
    const std::string qualifier = reopened ? "a" : "b";
    ASSERT_THAT(
        store_->Delete("r", "s", qualifier, {.timestamp_ms = wall_ms_ + 500}),
        IsOk());
    if (reopened) Open("db");
    ASSERT_THAT(store_->Put("r", "s", qualifier, "seen"), IsOk());
    EXPECT_THAT(Versions("s", qualifier),
                ElementsAre(Field(&Cell::value, "seen")));
  }
}

// It would cover its timestamp of 2099 with the clock's bound.
TEST_F(HostileClock, ResetEndsALoadThatHadBegunBefore) {
  wall_ms_ = k2099;
  auto load = LoadInto(*store_);
  ASSERT_THAT(load->Add("r", "s", "q", "of 2099"), IsOk());
  wall_ms_ = kNow;
  ASSERT_THAT(store_->ResetClock(), IsOk());
  const rocksdb::Status s = load->Finish();
  EXPECT_TRUE(s.IsAborted()) << s.ToString();
  load.reset();
  EXPECT_THAT(Versions("s", "q"), IsEmpty());
  Crash();
  EXPECT_THAT(store_->Warnings(), IsEmpty());
}

// Its cells would be newer than puts that were written after the reset.
TEST_F(HostileClock, ResetEndsALoadWhoseTimeHasComeAgain) {
  wall_ms_ = kNow + kDayMs;
  auto load = LoadInto(*store_);
  ASSERT_THAT(load->Add("r", "s", "q", "loaded"), IsOk());
  wall_ms_ = kNow;
  ASSERT_THAT(store_->ResetClock(), IsOk());
  Put("after");
  wall_ms_ = kNow + 2 * kDayMs;
  const rocksdb::Status s = load->Finish();
  EXPECT_TRUE(s.IsAborted()) << s.ToString();
  load.reset();
  EXPECT_THAT(Versions(), ElementsAre(Field(&Cell::value, "after")));
}

TEST_F(HostileClock, IsSetBackByWritersOnly) {
  store_.reset();
  const auto reader = OpenOrFail({.read_only = true}, dir_.File("db"), {});
  EXPECT_TRUE(reader->ResetClock().IsNotSupported());
}

// Timestamps past the largest one could not be read again.
TEST_F(HostileClock, IsAtTheEndOfTime) {
  wall_ms_ = UINT64_MAX;
  for (int i = 0; i < 3000; ++i) {
    Put(std::to_string(i));
    if (i % 1000 != 0) continue;
    ASSERT_FALSE(Versions().empty());
    Open("db");
  }
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_FALSE(Versions().empty());
}

// Each put is there, each delete takes everything: one by one, and in batches.
class PutsAndDeletes
    : public HostileClock,
      public ::testing::WithParamInterface<std::tuple<ChangeType, int>> {};

TEST_P(PutsAndDeletes, OfOneCellWhileTheClockStandsStill) {
  const auto [type, per_batch] = GetParam();
  const std::string kQualifiers[] = {"", "q"};
  ASSERT_THAT(store_->Put("r", "s", "old", "v"), IsOk());
  ASSERT_THAT(store_->DeleteFamily("r", "s"), IsOk());
  for (const std::string& qualifier : kQualifiers) {
    // Removals of a row are range tombstones, which slow down what follows.
    const uint64_t changes = type == ChangeType::kDelete
                                 ? std::max<uint64_t>(Scaled(10'000), 1000)
                                 : std::max<uint64_t>(Scaled(2000), 500);
    uint64_t i = 0;
    while (i < changes) {
      WriteBatch batch;
      for (int j = 0; j < per_batch; ++j, ++i) {
        switch (type) {
          case ChangeType::kDelete:
            batch.Delete("r", "s", qualifier);
            break;
          case ChangeType::kDeleteFamily:
            batch.DeleteFamily("r", "s");
            break;
          default:
            batch.DeleteRow("r");
        }
        if (j + 1 < per_batch || i % 2 == 0) {
          batch.Put("r", "s", qualifier, std::to_string(i));
        }
      }
      ASSERT_THAT(store_->Write(batch), IsOk());
      const std::vector<Cell> cells = Versions("s", qualifier);
      if (i % 2 == 0) {
        ASSERT_THAT(cells, IsEmpty()) << i;
        continue;
      }
      ASSERT_EQ(cells.size(), 1u) << i;
      ASSERT_EQ(cells[0].value, std::to_string(i - 1));
      ASSERT_LE(cells[0].timestamp_ms, kNow + 1000);
    }
    ASSERT_THAT(Versions("s", "old"), IsEmpty());
  }
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_THAT(Versions("s", "old"), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    All, PutsAndDeletes,
    ::testing::Combine(::testing::Values(ChangeType::kDelete,
                                         ChangeType::kDeleteFamily,
                                         ChangeType::kDeleteRow),
                       ::testing::Values(1, 7, 2501)));

TEST_F(HostileClock, IsNotMovedByOpenings) {
  constexpr uint64_t kOpenings = 5;
  for (uint64_t i = 0; i < kOpenings; ++i) {
    ASSERT_THAT(store_->Delete("r", "s", "q"), IsOk());
    Open("db");
  }
  Put("v");
  EXPECT_LE(Newest(), kNow + kOpenings);  // one for each opening
  // Openings that write nothing do not move it either.
  for (uint64_t i = 0; i < kOpenings; ++i) {
    Open("db");
  }
  Put("v");
  EXPECT_LE(Newest(), kNow + kOpenings + 2);
  // A clock that goes on is the machine's.
  for (uint64_t i = 0; i < kOpenings; ++i) {
    wall_ms_ += 5;
    ASSERT_THAT(store_->Delete("r", "s", "q"), IsOk());
    Open("db");
  }
  Put("v");
  EXPECT_LE(Newest(), wall_ms_ + 1);
}

TEST_F(HostileClock, IsASecondAheadAfterACrashAtMost) {
  uint64_t last_ms = 0;
  for (int i = 0; i < 5; ++i) {
    Put(std::to_string(i));
    const uint64_t newest_ms = Newest();
    if (i > 0) {
      EXPECT_GT(newest_ms, last_ms);
      EXPECT_LE(newest_ms, last_ms + LeasedClock::kLeaseMs + 1);
    }
    last_ms = newest_ms;
    Crash();
  }
  EXPECT_EQ(Versions().size(), 5u);
}

// The store forgets the cells of a time when it has noted 1024 of them for a
// row, and goes on a millisecond for all rows together.
TEST_F(HostileClock, StandsStillForManyCells) {
  constexpr uint64_t kRows = 20;
  for (uint64_t i = 0; i < 4000 * kRows;) {
    WriteBatch batch;
    for (int j = 0; j < 500; ++j, ++i) {
      batch.Put(std::to_string(i % kRows), "s", std::to_string(i), "v");
    }
    ASSERT_THAT(store_->Write(batch), IsOk());
  }
  ASSERT_THAT(store_->Put("r", "s", "q", "v"), IsOk());
  EXPECT_GT(Newest(), kNow);
  EXPECT_LE(Newest(), kNow + 10);
}

TEST_F(HostileClock, StandsStillAndUpdatesAreOneVersion) {
  for (const char* family : {"s", "c"}) {
    int64_t sum = 0;
    for (int i = 1; i <= 1000; ++i) {
      ASSERT_THAT(store_->Increment("r", family, "q", 1, &sum), IsOk());
      ASSERT_EQ(sum, i);
    }
    EXPECT_EQ(Versions(family).size(), 1u);
    EXPECT_EQ(Newest(family), kNow);
    std::string joined;
    for (int i = 1; i <= 1000; ++i) {
      ASSERT_THAT(store_->Append("r", family, "a", "x", &joined), IsOk());
      ASSERT_EQ(joined.size(), static_cast<size_t>(i));
    }
    ASSERT_EQ(Versions(family, "a").size(), 1u);
    EXPECT_EQ(Versions(family, "a")[0].value, joined);
    EXPECT_EQ(Versions(family, "a")[0].timestamp_ms, kNow);
    // A delete in between is no obstacle, nor is one of the row.
    for (int i = 0; i < 2000; ++i) {
      ASSERT_THAT(i % 2 == 0 ? store_->Delete("r", family, "q")
                             : store_->DeleteFamily("r", family),
                  IsOk());
      ASSERT_THAT(store_->Increment("r", family, "q", 5, &sum), IsOk());
      ASSERT_EQ(sum, 5);
      ASSERT_EQ(Versions(family).size(), 1u);
      ASSERT_LE(Newest(family), kNow + 1000);
    }
  }
  // The next millisecond's is a version of its own.
  ++wall_ms_;
  ASSERT_THAT(store_->Increment("r2", "s", "q", 1, nullptr), IsOk());
  ++wall_ms_;
  ASSERT_THAT(store_->Increment("r2", "s", "q", 1, nullptr), IsOk());
  EXPECT_EQ(GetVersionsOf(*store_, "r2", "s", "q", {.max_versions = 10}).size(),
            2u);
}

TEST_F(HostileClock, UpdatesThatWouldNotBeTheNewestAreRefused) {
  ASSERT_THAT(store_->Increment("r", "c", "q", 5, nullptr,
                                {.timestamp_ms = kNow - 100}),
              IsOk());
  const auto refused = [&](uint64_t timestamp_ms) {
    const std::vector<Cell> before = Versions("c");
    int64_t sum = 77;
    EXPECT_THAT(
        store_->Increment("r", "c", "q", 1, &sum,
                          {.timestamp_ms = timestamp_ms}),
        StatusIs(rocksdb::Status::kInvalidArgument,
                 HasSubstr("a version at " + std::to_string(timestamp_ms))));
    std::string joined = "as it was";
    EXPECT_THAT(store_->Append("r", "c", "q", "x", &joined,
                               {.timestamp_ms = timestamp_ms}),
                StatusIs(rocksdb::Status::kInvalidArgument,
                         HasSubstr("would not be the newest")));
    EXPECT_EQ(Versions("c"), before);
  };
  refused(kNow - 101);
  // An increment at the newest timestamp replaces that version.
  ASSERT_THAT(store_->Increment("r", "c", "q", 1, nullptr,
                                {.timestamp_ms = kNow - 100}),
              IsOk());
  EXPECT_EQ(Versions("c").size(), 1u);
  // Deletes of each type hide it, and the cell has nothing then.
  ASSERT_THAT(store_->Delete("r", "c", "q", {.timestamp_ms = kNow}), IsOk());
  refused(kNow);
  ASSERT_THAT(store_->DeleteFamily("r", "c", {.timestamp_ms = kNow + 10}),
              IsOk());
  refused(kNow + 10);
  ASSERT_THAT(store_->DeleteVersion("r", "c", "q", {.timestamp_ms = kNow + 20}),
              IsOk());
  refused(kNow + 20);
  WriteBatch batch;
  batch.DeleteFamilyVersion("r", "c", kNow + 30);
  ASSERT_THAT(store_->Write(batch), IsOk());
  refused(kNow + 30);
  ASSERT_THAT(
      store_->Increment("r", "c", "q", 1, nullptr, {.timestamp_ms = kNow + 11}),
      IsOk());
  // An increment that has expired is refused, too.
  ASSERT_THAT(store_->Delete("r", "c", "q"), IsOk());
  wall_ms_ = k2099 + 200 * 365 * kDayMs;
  refused(kNow + 40);
}

// In a family with the application's timestamps an update in the place of its
// newest version says nothing about the time.
TEST_F(HostileClock, IsNotMovedByTimestampsOfTheApplication) {
  const uint64_t microseconds = kNow * 1000;
  ASSERT_THAT(store_->Put("r", "c", "q", "v", {.timestamp_ms = microseconds}),
              IsOk());
  ASSERT_THAT(store_->Append("r", "c", "q", "w", nullptr), IsOk());
  EXPECT_EQ(Newest("c"), microseconds);
  ASSERT_THAT(store_->Delete("r", "c", "q"), IsOk());
  ASSERT_THAT(store_->DeleteFamily("r", "c"), IsOk());
  for (const bool crash : {false, true}) {
    crash ? Crash() : Open("db");
    ASSERT_THAT(store_->Put("r", "s", "q", "v"), IsOk());
    EXPECT_LE(Newest("s"), kNow + 2 * LeasedClock::kLeaseMs);
    EXPECT_THAT(store_->Warnings(), IsEmpty());
  }
}

// The rule of timestamps, without a bound on memory.
class TimestampModel {
 public:
  using Key = std::pair<std::string, std::string>;  // row, qualifier
  static constexpr size_t kVersions = 5;

  void Begin(uint64_t wall_ms) { now_ms_ = std::max(now_ms_, wall_ms); }

  void Put(const std::string& row, const std::string& qualifier,
           const std::string& value) {
    const Key key = {row, qualifier};
    uint64_t& last_ms = last_ms_[key];
    const uint64_t timestamp_ms =
        std::min(std::max({now_ms_, last_ms + 1, last_of_row_ms_[row] + 1}),
                 now_ms_ + 1000);
    last_ms = timestamp_ms;
    newest_ms_ = std::max(newest_ms_, timestamp_ms);
    auto& versions = cells_[key];
    versions[timestamp_ms] = value;
    if (versions.size() > kVersions) versions.erase(versions.begin());
  }

  void Delete(const std::string& row, const std::string& qualifier) {
    cells_.erase({row, qualifier});
    uint64_t& last_ms = last_ms_[{row, qualifier}];
    last_ms = std::max(last_ms, now_ms_);
    newest_ms_ = std::max(newest_ms_, last_ms);
  }

  void DeleteRow(const std::string& row) {
    uint64_t& last_of_row_ms = last_of_row_ms_[row];
    for (auto& [key, last_ms] : last_ms_) {
      if (key.first != row) continue;
      cells_.erase(key);
      last_of_row_ms = std::max(last_of_row_ms, last_ms);
    }
    last_of_row_ms = std::min(std::max(now_ms_, last_of_row_ms), now_ms_ + 999);
    newest_ms_ = std::max(newest_ms_, last_of_row_ms);
  }

  void End() {
    if (newest_ms_ > bound_ms_) bound_ms_ = newest_ms_ + LeasedClock::kLeaseMs;
  }
  void Reopen() {
    bound_ms_ = newest_ms_;
    Crash();
  }
  void Crash() {
    if (bound_ms_ > 0) now_ms_ = bound_ms_ + 1;
    newest_ms_ = bound_ms_;
  }

  std::vector<std::pair<uint64_t, std::string>> Versions(
      const std::string& row, const std::string& qualifier) const {
    const auto found = cells_.find({row, qualifier});
    if (found == cells_.end()) return {};
    return {found->second.rbegin(), found->second.rend()};
  }

 private:
  uint64_t now_ms_ = 0;
  uint64_t newest_ms_ = 0;
  uint64_t bound_ms_ = 0;
  std::map<Key, uint64_t> last_ms_;
  std::map<std::string, uint64_t> last_of_row_ms_;
  std::map<Key, std::map<uint64_t, std::string>> cells_;
};

TEST_F(HostileClock, GivesTheTimestampsOfTheRule) {
  Random random(SeedFromEnv());
  TimestampModel model;
  const std::vector<std::string> rows = {"r1", "r2", "r3"};
  const std::vector<std::string> qualifiers = {"", "a", "b"};
  const auto pick = [&](const std::vector<std::string>& names) {
    return names[random.Below(names.size())];
  };
  for (uint64_t round = 0; round < Scaled(4000); ++round) {
    SCOPED_TRACE(round);
    if (random.OneIn(20)) wall_ms_ += random.Below(3000);
    if (random.OneIn(40)) wall_ms_ -= random.Below(kHourMs);
    if (random.OneIn(300)) {
      Open(current_);
      model.Reopen();
    } else if (random.OneIn(300)) {
      Crash();
      model.Crash();
    } else if (random.OneIn(100)) {
      ASSERT_THAT(random.OneIn(2) ? store_->Flush() : store_->Compact(),
                  IsOk());
    }
    model.Begin(wall_ms_);
    WriteBatch batch;
    const uint64_t count = random.OneIn(8) ? random.Below(1500) : 1;
    const uint64_t puts = random.OneIn(2) ? 2 : 10;
    // Many changes of few cells run into the limit.
    const std::string hot_row = pick(rows);
    const std::string hot = pick(qualifiers);
    for (uint64_t i = 0; i < count; ++i) {
      const std::string row = count > 1 ? hot_row : pick(rows);
      const std::string qualifier = random.OneIn(3) ? pick(qualifiers) : hot;
      if (!random.OneIn(puts)) {
        const std::string value =
            std::to_string(round) + "." + std::to_string(i);
        batch.Put(row, "s", qualifier, value);
        model.Put(row, qualifier, value);
      } else if (random.OneIn(4)) {
        batch.DeleteFamily(row, "s");
        model.DeleteRow(row);
      } else {
        batch.Delete(row, "s", qualifier);
        model.Delete(row, qualifier);
      }
    }
    ASSERT_THAT(store_->Write(batch), IsOk());
    if (count > 0) model.End();
    for (const std::string& row : rows) {
      for (const std::string& qualifier : qualifiers) {
        const std::vector<Cell> cells =
            GetVersionsOf(*store_, row, "s", qualifier, {.max_versions = 100});
        std::vector<std::pair<uint64_t, std::string>> found;
        for (const Cell& cell : cells) {
          found.emplace_back(cell.timestamp_ms, cell.value);
        }
        ASSERT_EQ(found, model.Versions(row, qualifier))
            << row << ":" << qualifier;
      }
    }
  }
}

}  // namespace
}  // namespace rowbloom::test
