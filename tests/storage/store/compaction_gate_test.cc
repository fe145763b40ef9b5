// Compactions and what keeps them away wait for each other.
#include "storage/store/compaction_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "rocksdb/compaction_filter.h"
#include "storage/store/database.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace rowbloom {
namespace {

constexpr auto kAWhile = std::chrono::milliseconds(50);

class CompactionGateTest : public ::testing::Test {
 protected:
  static rocksdb::CompactionJobInfo Of(uint32_t family) {
    rocksdb::CompactionJobInfo info{};
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

// Releases a snapshot once a compaction has begun.
struct Releasing final : public rocksdb::EventListener {
  const rocksdb::Snapshot* snapshot = nullptr;
  void OnCompactionBegin(rocksdb::DB* database,
                         const rocksdb::CompactionJobInfo& /*info*/) override {
    if (snapshot == nullptr) return;
    database->ReleaseSnapshot(std::exchange(snapshot, nullptr));
  }
};

// Notes the facts of each compaction.
struct Noting final : public rocksdb::CompactionFilterFactory {
  std::vector<BegunCompaction> begun;
  const char* Name() const override { return "Noting"; }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& /*context*/) override {
    begun.push_back(CompactionGate::TakeBegun());
    return nullptr;
  }
};

// RocksDB keeps what a snapshot sees that was there at the beginning.
TEST(SnapshotsOfACompaction, AreThoseOfItsBeginning) {
  const test::TempDir dir;
  const auto releasing = std::make_shared<Releasing>();
  const auto noting = std::make_shared<Noting>();
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.listeners = {std::make_shared<CompactionGate>(2), releasing};
  rocksdb::ColumnFamilyOptions of_family;
  of_family.disable_auto_compactions = true;
  of_family.compaction_filter_factory = noting;
  Database database;
  ASSERT_THAT(database.Open(options, dir.File("db"), {{"default", of_family}},
                            Database::Access::kReadWrite),
              test::IsOk());
  for (const bool has_snapshot : {true, false}) {
    // RocksDB would move a single file without a compaction.
    for (int file = 0; file < 2; ++file) {
      ASSERT_THAT(database->Put({}, "key", "value"), test::IsOk());
      ASSERT_THAT(database->Flush({}), test::IsOk());
    }
    if (has_snapshot) releasing->snapshot = database->GetSnapshot();
    noting->begun.clear();
    ASSERT_THAT(database->CompactRange({}, nullptr, nullptr), test::IsOk());
    ASSERT_FALSE(noting->begun.empty());
    EXPECT_EQ(noting->begun.front().has_snapshots, has_snapshot);
    EXPECT_GT(noting->begun.front().output_level, 0);
  }
}

}  // namespace
}  // namespace rowbloom
