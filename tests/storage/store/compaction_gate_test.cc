// Compactions and what keeps them away wait for each other.
#include "storage/store/compaction_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/wait_for.h"

namespace rowbloom {
namespace {

constexpr auto kAWhile = std::chrono::milliseconds(50);

class CompactionGateTest : public ::testing::Test {
 protected:
  static rocksdb::CompactionJobInfo Of(uint32_t family) {
    rocksdb::CompactionJobInfo info;
    info.cf_id = family;
    return info;
  }
  void Begin(uint32_t family) { gate_.OnCompactionBegin(nullptr, Of(family)); }
  void Complete(uint32_t family) {
    gate_.OnCompactionCompleted(nullptr, Of(family));
  }

  CompactionGate gate_{2};
};

TEST_F(CompactionGateTest, ClosesOnceThoseOfTheFamilyAreCompleted) {
  Begin(1);
  Begin(1);
  Begin(2);
  std::atomic<bool> closed{false};
  std::atomic<bool> open_again{false};
  std::thread load([&] {
    const CompactionGate::Closed none(&gate_, {1, 3});
    closed = true;
    while (!open_again) std::this_thread::sleep_for(kAWhile);
  });
  Complete(1);
  std::this_thread::sleep_for(kAWhile);
  EXPECT_FALSE(closed);
  Complete(1);
  EXPECT_TRUE(test::WaitFor([&] { return closed.load(); }));
  open_again = true;
  load.join();
  Complete(2);
}

TEST_F(CompactionGateTest, KeepsThoseOfTheFamilyWaiting) {
  std::atomic<bool> begun{false};
  std::thread compaction;
  {
    const CompactionGate::Closed none(&gate_, {1});
    compaction = std::thread([&] {
      Begin(1);
      begun = true;
    });
    Begin(2);
    Complete(2);
    std::this_thread::sleep_for(kAWhile);
    EXPECT_FALSE(begun);
  }
  EXPECT_TRUE(test::WaitFor([&] { return begun.load(); }));
  compaction.join();
  Complete(1);
  const CompactionGate::Closed none(&gate_, {1, 2});
}

TEST_F(CompactionGateTest, WaitsNoLongerThanIsAsked) {
  gate_.WaitForNone({1}, std::chrono::hours(1));
  Begin(1);
  gate_.WaitForNone({2}, std::chrono::hours(1));
  const auto began = std::chrono::steady_clock::now();
  gate_.WaitForNone({1}, kAWhile);
  EXPECT_GE(std::chrono::steady_clock::now() - began, kAWhile);
  std::atomic<bool> completes{false};
  std::thread compaction([&] {
    std::this_thread::sleep_for(kAWhile);
    completes = true;
    Complete(1);
  });
  gate_.WaitForNone({1}, std::chrono::hours(1));
  EXPECT_TRUE(completes);
  compaction.join();
}

}  // namespace
}  // namespace rowbloom
