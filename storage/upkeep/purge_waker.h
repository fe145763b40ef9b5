// PurgeWaker runs a thread that wakes RocksDB while it makes a checkpoint or a
// backup, or lists its logs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "rocksdb/db.h"

namespace rowbloom {

// The thread runs as long as the object lives. A checkpoint waits until no
// other thread looks for files to delete, and RocksDB before 10.9 does not wake
// it when such a thread has found none (DBImpl::GetSortedWalFiles and
// FindObsoleteFiles). It then waits until a flush or a compaction ends, which
// may be for ever.
//
// RocksDB wakes all waiting threads when manual compactions are cancelled.
// There are none to cancel while `compactions`, which each of them holds, is
// free. A manual compaction that runs wakes the threads when it ends.
class PurgeWaker {
 public:
  // Throws std::bad_alloc, or std::system_error without a thread.
  PurgeWaker(rocksdb::DB* database, std::mutex* compactions)
      : thread_([=, this](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          const auto is_over = [&stop] { return stop.stop_requested(); };
          while (!stopped_.wait_for(lock, stop, kInterval, is_over)) {
            const std::unique_lock none_runs(*compactions, std::try_to_lock);
            if (!none_runs) continue;
            database->DisableManualCompaction();
            database->EnableManualCompaction();
          }
        }) {}

 private:
  static constexpr auto kInterval = std::chrono::milliseconds(100);

  // Made before the thread, in which nothing may throw.
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  const std::jthread thread_;
};

}  // namespace rowbloom
