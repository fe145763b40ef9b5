#include "lib/kernels/striped_counters.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <latch>
#include <thread>
#include <vector>

namespace rowbloom {
namespace {

// More at once than there are stripes, each of which counts in both ways.
TEST(StripedCounters, CountEveryThreadExactly) {
  constexpr size_t kThreads = 80;
  constexpr uint64_t kTimes = 2000;
  StripedCounters counters;
  std::latch all_have_counted(kThreads);
  std::atomic<uint64_t> tried = 0;
  const auto count = [&] {
    counters.Add(0, 1);
    all_have_counted.arrive_and_wait();
    uint64_t in_few_instructions = 0;
    for (uint64_t i = 1; i < kTimes; ++i) {
      if (StripedCounters::ThreadOwnsOne()) {
        counters.Own().Increment(0);
        ++in_few_instructions;
      } else {
        counters.Add(0, 1);
      }
      counters.Add(StripedCounters::kSlots - 1, i);
    }
    tried += in_few_instructions;
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) threads.emplace_back(count);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counters.Sum(0), kThreads * kTimes);
  EXPECT_EQ(counters.Sum(StripedCounters::kSlots - 1),
            kThreads * (kTimes * (kTimes - 1) / 2));
  // Most threads have a stripe, and some have not.
  EXPECT_GT(tried, kThreads / 2 * (kTimes - 1));
  EXPECT_LT(tried, kThreads * (kTimes - 1));
}

TEST(StripedCounters, AThreadOwnsAStripeOnceItHasCounted) {
  StripedCounters counters;
  std::thread([&counters] {
    EXPECT_FALSE(StripedCounters::ThreadOwnsOne());
    counters.Add(3, 5);
    ASSERT_TRUE(StripedCounters::ThreadOwnsOne());
    counters.Own().Increment(3);
    EXPECT_EQ(counters.Own().Get(3), 6u);
    counters.Own().Set(4, 7);
  }).join();
  EXPECT_EQ(counters.Sum(3), 6u);
  EXPECT_EQ(counters.Sum(4), 7u);
  EXPECT_EQ(counters.Sum(2), 0u);
}

TEST(StripedCounters, ThreadsThatEndLeaveTheirCountsAndStripes) {
  StripedCounters counters;
  for (int i = 0; i < 200; ++i) {
    std::thread([&counters] {
      counters.Add(1, 1);
      ASSERT_TRUE(StripedCounters::ThreadOwnsOne());
      counters.Own().Increment(1);
    }).join();
  }
  EXPECT_EQ(counters.Sum(1), 400u);
  counters.Reset();
  EXPECT_EQ(counters.Sum(1), 0u);
}

}  // namespace
}  // namespace rowbloom
