#include "storage/store/clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"

namespace rowbloom::test {
namespace {

constexpr uint64_t kNow = 1'700'000'000'000;

uint64_t TimestampOf(Store* store, const std::string& row) {
  Cell cell;
  EXPECT_THAT(store->GetCell(row, "f", "q", &cell), IsOk());
  return cell.timestamp_ms;
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

TEST(LeasedClock, StopsAtTheLargestTimestamp) {
  LeasedClock clock([] { return UINT64_MAX; });
  EXPECT_EQ(clock.Now(), kMaxTimestampMs);
  EXPECT_EQ(clock.BoundToKeep(kMaxTimestampMs), kMaxTimestampMs);
}

TEST(StoreClock, NeverGoesBackAcrossReopening) {
  const TempDir dir;
  uint64_t now = kNow;
  const Surroundings surroundings = {.wall_clock = [&now] { return now; }};
  const std::string path = dir.File("db");
  uint64_t last = 0;
  for (int round = 0; round < 5; ++round) {
    const auto store = OpenOrFail({}, path, {{"f", {}}}, surroundings);
    ASSERT_NE(store, nullptr);
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
  const Surroundings surroundings = {.wall_clock = [&now] { return now; }};
  {
    const auto store =
        OpenOrFail({}, dir.File("db"), {{"f", {}}}, surroundings);
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(PutNow(store.get(), "a"), kNow);
  }
  now = kNow + 2 * LeasedClock::kLeaseMs;
  const auto store = OpenOrFail({}, dir.File("db"), {}, surroundings);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(PutNow(store.get(), "b"), now);
}

TEST(StoreClock, TimestampsAreTheMachinesTime) {
  const TempDir dir;
  const auto store = OpenOrFail({}, dir.File("db"), {{"f", {}}});
  ASSERT_NE(store, nullptr);
  const uint64_t before = SystemWallClock();
  const uint64_t timestamp = PutNow(store.get(), "a");
  EXPECT_GE(timestamp, before);
  EXPECT_LE(timestamp, SystemWallClock());
}

TEST(StoreClock, OrderOfTimestampsIsOrderOfWritesUnderConcurrency) {
  const TempDir dir;
  std::atomic<uint64_t> ticks{0};
  // Jumps up and down, and past the bound every few writes.
  const Surroundings surroundings = {.wall_clock = [&ticks] {
    const uint64_t tick = ticks++;
    return kNow + tick * 300 - Mix64(tick) % 2000;
  }};
  const auto store = OpenOrFail({}, dir.File("db"), {{"f", {}}}, surroundings);
  ASSERT_NE(store, nullptr);
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
    Cell cell;
    const rocksdb::Status s = store->GetCell("r", "f", "q", &cell);
    if (s.IsNotFound()) continue;
    EXPECT_THAT(s, IsOk());
    EXPECT_GE(cell.timestamp_ms, last);
    last = std::max(last, cell.timestamp_ms);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(TimestampOf(store.get(), "r"), last);
}

}  // namespace
}  // namespace rowbloom::test
