#include "storage/cells/given_times.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <unordered_map>
#include <utility>

#include "tests/support/random.h"

namespace rowbloom::test::given_times_test {
namespace {

constexpr uint64_t kNow = 1'700'000'000'000;
constexpr uint64_t kLimit = kNow + GivenTimes::kMaxAheadMs;

TEST(GivenTimes, PutsOfACellRiseUpToTheLimit) {
  GivenTimes given;
  for (uint64_t ms = kNow; ms <= kLimit; ++ms) {
    ASSERT_EQ(given.Put(1, 10, kNow, false), ms);
  }
  EXPECT_EQ(given.Put(1, 10, kNow, false), kLimit);
  EXPECT_EQ(given.Put(1, 10, kNow + 1, false), kLimit + 1);
  EXPECT_EQ(given.Put(1, 11, kNow, false), kNow);
}

TEST(GivenTimes, UpdatesReplaceButNotADelete) {
  GivenTimes given;
  EXPECT_EQ(given.Put(1, 10, kNow, true), kNow);
  EXPECT_EQ(given.Put(1, 10, kNow, true), kNow);
  EXPECT_EQ(given.Put(1, 10, kNow, false), kNow + 1);
  EXPECT_EQ(given.Put(1, 10, kNow, true), kNow + 1);
  EXPECT_EQ(given.Delete(1, 10, kNow).timestamp_ms, kNow + 1);
  EXPECT_EQ(given.Put(1, 10, kNow, true), kNow + 2);
  EXPECT_EQ(given.Delete(1, 1, kNow).timestamp_ms, kNow + 2);
  EXPECT_EQ(given.Put(1, 10, kNow, true), kNow + 3);
}

TEST(GivenTimes, WhatIsNotBeyondALaterLimitIsKept) {
  GivenTimes given;
  for (const uint64_t ms : {kNow, kLimit}) {
    ASSERT_TRUE(given.NotePut(1, 10 + ms, ms, kNow));
  }
  given.ForgetBeyond(kNow - 1);
  EXPECT_EQ(given.Put(1, 10 + kNow, kNow - 1, false), kNow + 1);
  EXPECT_EQ(given.Put(1, 10 + kLimit, kNow - 1, false), kNow - 1);
  EXPECT_FALSE(given.MoveTo(kNow + 2));
  EXPECT_EQ(given.Put(1, 10 + kNow, kNow - 1, false), kNow - 1);
}

TEST(GivenTimes, DeletesThatWereGivenATimestampAreSteppedPast) {
  GivenTimes given;
  given.NoteDelete(1, 10, kNow + 500, kNow);
  EXPECT_EQ(given.Put(1, 10, kNow, false), kNow + 501);
  EXPECT_EQ(given.Put(1, 11, kNow, false), kNow);
  given.NoteDelete(1, 1, kNow + 700, kNow);
  EXPECT_EQ(given.Put(1, 11, kNow, false), kNow + 701);
  EXPECT_EQ(given.Put(2, 20, kNow, false), kNow);
  // Deletes that are past, or too far ahead, do not count.
  given.NoteDelete(2, 20, kNow - 1, kNow);
  given.NoteDelete(2, 2, kLimit + 1, kNow);
  EXPECT_EQ(given.Put(2, 20, kNow, false), kNow + 1);
  // The last one that counts is stepped past by more than puts go ahead.
  given.NoteDelete(2, 2, kLimit, kNow);
  EXPECT_EQ(given.Put(2, 20, kNow, false), kLimit + 1);
  EXPECT_EQ(given.Put(2, 20, kNow, false), kLimit + 1);
  EXPECT_EQ(given.Delete(2, 20, kNow).timestamp_ms, kLimit - 1);
}

TEST(GivenTimes, PutsThatWereGivenATimestampAreSteppedPast) {
  GivenTimes given;
  given.NotePut(1, 10, kNow, kNow);
  EXPECT_EQ(given.Put(1, 10, kNow, false), kNow + 1);
  given.NotePut(1, 10, kNow + 500, kNow);
  EXPECT_EQ(given.Put(1, 10, kNow, false), kNow + 501);
  EXPECT_EQ(given.Put(1, 11, kNow, false), kNow);
  given.NotePut(1, 11, kLimit + 1, kNow);  // too far ahead
  EXPECT_EQ(given.Put(1, 11, kNow, false), kNow + 1);
  given.NotePut(1, 11, kLimit, kNow);
  EXPECT_EQ(given.Put(1, 11, kNow, false), kLimit);
}

TEST(GivenTimes, AreForgottenOnceTheTimeHasPassedThem) {
  GivenTimes given;
  for (int i = 0; i < 10; ++i) given.Put(1, 10, kNow, false);
  EXPECT_EQ(given.MoveTo(kNow + 9), std::nullopt);
  EXPECT_EQ(given.Put(1, 10, kNow + 9, false), kNow + 10);
  EXPECT_EQ(given.MoveTo(kNow + 11), std::nullopt);
  // No trace: another time has nothing to step past.
  EXPECT_EQ(given.Put(1, 10, kNow, false), kNow);
}

// The time of many cells at one time is raised a little for each 1024, and that
// makes room: else it would be raised for each cell.
TEST(GivenTimes, TakeBoundedMemory) {
  constexpr uint64_t kCells = 100'000;
  GivenTimes given;
  uint64_t now_ms = kNow;
  uint64_t raises = 0;
  for (uint64_t i = 0; i < kCells; ++i) {
    if (const auto raised_ms = given.MoveTo(now_ms)) {
      EXPECT_GE(*raised_ms, now_ms);
      now_ms = *raised_ms;
      ++raises;
    }
    if (i % 3 == 0) {
      given.Delete(i, i, now_ms);
    } else {
      EXPECT_GE(given.Put(i, i, now_ms, false), now_ms);
    }
  }
  EXPECT_GE(raises, kCells / 2048);
  EXPECT_LE(raises, kCells / 512);
  EXPECT_LE(now_ms, kNow + kCells / 512);
}

// Names can be chosen so that the hashes of their cells share a bucket of a
// hash table. One batch may have many such cells.
TEST(GivenTimes, ChosenCellsTakeNoQuadraticTime) {
  constexpr uint64_t kCells = 150'000;
  std::unordered_map<uint64_t, bool> table;
  for (uint64_t i = 0; i < kCells; ++i) table.emplace(i, true);
  const uint64_t apart = table.bucket_count();
  const auto began = std::chrono::steady_clock::now();
  GivenTimes given;
  for (uint64_t i = 2; i < kCells; ++i) {
    ASSERT_EQ(given.Put(1, i * apart, kNow, false), kNow);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

// A put is later than the deletes before it, and than the puts unless it is at
// the limit; a delete is no earlier than what it does not remove. This holds
// whatever the time does and is raised to.
TEST(GivenTimes, KeepTheOrderOfChanges) {
  Random random(SeedFromEnv());
  GivenTimes given;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> puts;  // row, cell
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> deletes;
  std::map<uint64_t, uint64_t> row_deletes;
  uint64_t now_ms = kNow;
  uint64_t raises = 0;
  uint64_t removals = 0;
  uint64_t at_the_limit = 0;
  const uint64_t changes = Scaled(300'000);
  for (uint64_t i = 0; i < changes; ++i) {
    if (random.OneIn(500)) now_ms += random.Below(20);
    if (random.OneIn(5000)) now_ms += random.Below(3000);
    if (const auto raised_ms = given.MoveTo(now_ms)) {
      now_ms = *raised_ms;
      ++raises;
    }
    // Some cells are hot, some are met once.
    const bool hot = !random.OneIn(4);
    const uint64_t row = hot ? random.Below(2) : random.Below(1000);
    const uint64_t cell = (row + 1) * 1000 + random.Below(hot ? 2 : 1000);
    uint64_t& put_ms = puts[{row, cell}];
    uint64_t& delete_ms = deletes[{row, cell}];
    uint64_t& row_delete_ms = row_deletes[row];
    const uint64_t limit_ms = now_ms + GivenTimes::kMaxAheadMs;
    if (random.OneIn(400)) {
      const auto marker = given.Delete(row, row, now_ms);
      ASSERT_GE(marker.timestamp_ms, row_delete_ms);
      ASSERT_LT(marker.timestamp_ms, limit_ms);
      removals += marker.remove ? 1 : 0;
      row_delete_ms = marker.timestamp_ms;
      for (auto it = puts.lower_bound({row, 0});
           it != puts.end() && it->first.first == row; ++it) {
        ASSERT_TRUE(marker.remove || it->second <= marker.timestamp_ms);
        it->second = 0;
      }
    } else if (random.OneIn(400)) {
      const auto marker = given.Delete(row, cell, now_ms);
      ASSERT_GE(marker.timestamp_ms, delete_ms);
      ASSERT_LT(marker.timestamp_ms, limit_ms);
      ASSERT_TRUE(marker.remove || put_ms <= marker.timestamp_ms);
      removals += marker.remove ? 1 : 0;
      delete_ms = marker.timestamp_ms;
      put_ms = 0;
    } else {
      const bool replaces = random.OneIn(3);
      const uint64_t timestamp_ms = given.Put(row, cell, now_ms, replaces);
      ASSERT_GE(timestamp_ms, now_ms);
      ASSERT_LE(timestamp_ms, limit_ms);
      ASSERT_GT(timestamp_ms, delete_ms);
      ASSERT_GT(timestamp_ms, row_delete_ms);
      at_the_limit += timestamp_ms == limit_ms ? 1 : 0;
      if (replaces || timestamp_ms == limit_ms) {
        ASSERT_GE(timestamp_ms, put_ms);
      } else {
        ASSERT_GT(timestamp_ms, put_ms);
      }
      put_ms = timestamp_ms;
    }
  }
  EXPECT_GT(raises, 0u);
  EXPECT_GT(removals, 0u);
  EXPECT_GT(at_the_limit, 0u);
}

}  // namespace
}  // namespace rowbloom::test::given_times_test
