// A checkpoint that waits in RocksDB for a wake-up that does not come is rare
// even among threads that pause at locks (tests/stress/jitter.cc). These tests
// are of the wake-ups.
#include "storage/upkeep/purge_waker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "rocksdb/utilities/stackable_db.h"
#include "tests/support/wait_for.h"

namespace rowbloom {
namespace {

// Counts the calls that wake what waits in RocksDB.
class CountingDb final : public rocksdb::StackableDB {
 public:
  CountingDb() : StackableDB(static_cast<rocksdb::DB*>(nullptr)) {}

  void DisableManualCompaction() override {
    ++disabled_;
    ++wakes_;
  }
  void EnableManualCompaction() override { --disabled_; }

  int disabled() const { return disabled_; }
  int wakes() const { return wakes_; }

 private:
  std::atomic<int> disabled_{0};
  std::atomic<int> wakes_{0};
};

TEST(PurgeWaker, WakesAgainAndAgainUntilItGoes) {
  CountingDb database;
  std::mutex compactions;
  {
    const PurgeWaker waker(&database, &compactions);
    EXPECT_TRUE(test::WaitFor([&] { return database.wakes() >= 3; }));
  }
  EXPECT_EQ(database.disabled(), 0);
  const int wakes = database.wakes();
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  EXPECT_EQ(database.wakes(), wakes);
}

TEST(PurgeWaker, CancelsNoCompaction) {
  CountingDb database;
  std::mutex compactions;
  std::unique_lock one_runs(compactions);
  const PurgeWaker waker(&database, &compactions);
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  EXPECT_EQ(database.wakes(), 0);
  one_runs.unlock();
  EXPECT_TRUE(test::WaitFor([&] { return database.wakes() >= 1; }));
}

}  // namespace
}  // namespace rowbloom
