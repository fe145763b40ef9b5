#include "storage/filter_policy/front_filter/memtable_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "tests/support/random.h"

namespace rowbloom::front_filter {
namespace {

using test::Mix64;

std::shared_ptr<Memory> NoLimit() {
  return std::make_shared<Memory>(UINT64_MAX, UINT64_MAX, nullptr);
}

TEST(MemtableRows, FindsWhatWasAddedAsItGrows) {
  MemtableRows rows(NoLimit());
  EXPECT_EQ(rows.bytes(), 0);
  rows.Add(Mix64(1), Writers::kOne);
  const uint64_t before = rows.bytes();
  for (uint64_t i = 0; i < 300'000; ++i) {
    rows.Add(Mix64(i + 1), Writers::kOne);
    if (i % 1'000 == 0) {
      for (uint64_t j = 0; j <= i; j += 97) {
        ASSERT_TRUE(rows.MayHave(Mix64(j + 1))) << j << " of " << i;
      }
    }
  }
  EXPECT_GE(rows.bytes(), before * 8 * 8);
  // 16 bits for a row, and at most a seventh of the bits in smaller segments.
  EXPECT_LE(rows.bytes(), 300'000 * 2 * 8 * 8 / 7);
}

TEST(MemtableRows, RarelyFindsOthers) {
  MemtableRows rows(NoLimit());
  for (uint64_t i = 0; i < 100'000; ++i) rows.Add(Mix64(i + 1), Writers::kOne);
  int found = 0;
  for (uint64_t i = 0; i < 100'000; ++i) {
    if (rows.MayHave(Mix64(i + 1'000'000))) ++found;
  }
  EXPECT_LT(found, 1'000);  // 1 %
  EXPECT_GT(found, 0);
}

TEST(MemtableRows, RowsThatComeAgainTakeNoRoom) {
  MemtableRows rows(NoLimit());
  EXPECT_EQ(rows.bytes(), 0);
  rows.Add(Mix64(1), Writers::kOne);
  const uint64_t before = rows.bytes();
  for (int turn = 0; turn < 1'000; ++turn) {
    for (uint64_t i = 0; i < 1'000; ++i) rows.Add(Mix64(i + 1), Writers::kOne);
  }
  EXPECT_EQ(rows.bytes(), before);
}

TEST(MemtableRows, HasEverythingWhenTold) {
  MemtableRows rows(NoLimit());
  EXPECT_FALSE(rows.MayHave(1));
  rows.AddEverything();
  EXPECT_TRUE(rows.MayHave(1));
}

// Threads that grow the filter together, each of which finds its rows as soon
// as they are added, and those of which another thread has told.
TEST(MemtableRows, ThreadsFindTheirRows) {
  constexpr size_t kThreads = 4;
  constexpr uint64_t kRows = 40'000;
  MemtableRows rows(NoLimit());
  const auto row = [](size_t of, uint64_t i) {
    return Mix64(of * kRows + i + 1);
  };
  std::vector<std::atomic<uint64_t>> added(kThreads);
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < kRows; ++i) {
        rows.Add(row(thread, i), Writers::kMany);
        added[thread].store(i + 1, std::memory_order_release);
        const size_t other = i % kThreads;
        const uint64_t there = added[other].load(std::memory_order_acquire);
        if (there == 0) continue;
        if (!rows.MayHave(row(other, there - 1)) ||
            !rows.MayHave(row(other, i % there))) {
          ADD_FAILURE() << "row of thread " << other;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t thread = 0; thread < kThreads; ++thread) {
    for (uint64_t i = 0; i < kRows; ++i) {
      ASSERT_TRUE(rows.MayHave(row(thread, i))) << i << " of " << thread;
    }
  }
}

}  // namespace
}  // namespace rowbloom::front_filter
