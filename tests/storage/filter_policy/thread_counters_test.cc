#include "storage/filter_policy/thread_counters.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace rowbloom {
namespace {

// More threads at once than there are copies: both ways of counting are gone.
TEST(ThreadCounters, CountEveryThreadExactly) {
  constexpr size_t kThreads = ThreadCounters::kMaxThreads + 40;
  constexpr uint64_t kTimes = 200;
  ThreadCounters counters;
  std::latch all_have_counted(kThreads);
  const auto count = [&] {
    counters.Add(0, 1);
    all_have_counted.arrive_and_wait();
    for (uint64_t i = 1; i < kTimes; ++i) {
      counters.Add(0, 1);
      counters.Add(ThreadCounters::kSlots - 1, i);
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) threads.emplace_back(count);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counters.Sum(0), kThreads * kTimes);
  EXPECT_EQ(counters.Sum(ThreadCounters::kSlots - 1),
            kThreads * (kTimes * (kTimes - 1) / 2));
  EXPECT_EQ(counters.Sum(1), 0u);
}

// Threads one after the other use the same copy, in all counters.
TEST(ThreadCounters, KeepTheCountsOfThreadsThatEnd) {
  ThreadCounters first;
  ThreadCounters second;
  for (int i = 0; i < 2'000; ++i) {
    std::thread([&] {
      first.Add(1, 1);
      second.Add(1, 2);
    }).join();
  }
  EXPECT_EQ(first.Sum(1), 2'000u);
  EXPECT_EQ(second.Sum(1), 4'000u);
}

// The size of all mappings of this process that never get huge pages.
uint64_t KibOfSmallPages() {
  std::ifstream mappings("/proc/self/smaps");
  uint64_t sum = 0;
  uint64_t size = 0;
  for (std::string line; std::getline(mappings, line);) {
    if (line.starts_with("Size:")) size = std::stoull(line.substr(5));
    const bool is_small =
        line.starts_with("VmFlags:") && line.find(" nh") != std::string::npos;
    if (is_small) sum += size;
  }
  return sum;
}

// A huge page would take memory for the counters of 8,192 threads.
TEST(ThreadCounters, StayOnSmallPages) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) {
    GTEST_SKIP() << "the system has no transparent huge pages";
  }
  constexpr uint64_t kKib = ThreadCounters::kMaxThreads *
                            ThreadCounters::kSlots * sizeof(uint64_t) / 1024;
  const uint64_t before = KibOfSmallPages();
  const ThreadCounters counters;
  EXPECT_GE(KibOfSmallPages(), before + kKib);
}

TEST(ThreadCounters, StartAgainAtZero) {
  ThreadCounters counters;
  std::thread([&counters] { counters.Add(3, 5); }).join();
  counters.Add(3, 5);
  EXPECT_EQ(counters.Sum(3), 10u);
  counters.Reset();
  EXPECT_EQ(counters.Sum(3), 0u);
  counters.Add(3, 1);
  EXPECT_EQ(counters.Sum(3), 1u);
}

}  // namespace
}  // namespace rowbloom
