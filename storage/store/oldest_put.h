// OldestPut knows the oldest put of a family, for compactions.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "rocksdb/db.h"
#include "rocksdb/status.h"
#include "rocksdb/table_properties.h"
#include "storage/format/no_exceptions.h"
#include "storage/store/row_counter.h"

namespace rowbloom {

// An expired delete may be removed once no file or memtable has a put that it
// takes. Otherwise the put would be visible again under a longer TTL. Each file
// has the time of its oldest put in its properties. The puts of memtables are
// noted here, from the opening on, which leaves memtables empty. Thread-safe.
class OldestPut {
 public:
  // Sets the family whose files are read. Until then nothing is known, as the
  // files may have puts of any time.
  void Watch(rocksdb::DB* database,
             std::weak_ptr<rocksdb::ColumnFamilyHandle> family) {
    const std::lock_guard lock(mutex_);
    database_ = database->GetRootDB();
    family_ = std::move(family);
  }

  // Notes a put. Every put has to be noted before it is written.
  void Note(uint64_t timestamp_ms) {
    uint64_t known = noted_ms_.load(std::memory_order_relaxed);
    while (timestamp_ms < known &&
           !noted_ms_.compare_exchange_weak(known, timestamp_ms)) {
    }
  }

  // Flushes the family by `flush`, and forgets the puts that were noted before.
  // No write may run while the result of `lock_writes` lives.
  template <typename LockWrites, typename FlushFamily>
  rocksdb::Status Flush(LockWrites lock_writes, FlushFamily flush) {
    const std::lock_guard one_at_a_time(flush_mutex_);
    uint64_t noted_ms = 0;
    {
      const auto no_writes = lock_writes();
      ++flushes_;
      noted_ms = noted_ms_.exchange(kNone);
    }
    rocksdb::Status s = CatchExceptions(flush);
    if (!s.ok()) Note(noted_ms);
    ++flushes_;
    return s;
  }

  // Tells whether a compaction to that level has the oldest records of its
  // keys: it is above 0, and no lower level has a file. False: it is not known.
  bool IsLowest(int level) const {
    const auto [database, family] = Watched();
    if (family == nullptr || level == 0) return false;
    std::string files = "0";
    while (files == "0") {
      ++level;
      const std::string below =
          rocksdb::DB::Properties::kNumFilesAtLevelPrefix +
          std::to_string(level);
      // There is no such level.
      if (!database->GetProperty(family.get(), below, &files)) return true;
    }
    return false;
  }

  // A time before which the family has no put, for a compaction that is under
  // way. It lives no longer than the compaction and the family's OldestPut.
  class Bound {
   public:
    explicit Bound(const OldestPut& oldest)
        : oldest_(oldest),
          flushes_(oldest.flushes_),
          // Read first, as puts move from memtables to files.
          ms_(oldest.noted_ms_) {
      ms_ = std::min(ms_, oldest.OldestInFiles());
    }
    // 0: nothing is known. Puts may have been noted, flushed and forgotten
    // after the files were read.
    uint64_t ms() const {
      const uint64_t ms = std::min<uint64_t>(ms_, oldest_.noted_ms_);
      return flushes_ % 2 == 0 && flushes_ == oldest_.flushes_ ? ms : 0;
    }

   private:
    const OldestPut& oldest_;
    const uint64_t flushes_;  // odd: one was under way
    uint64_t ms_;
  };

 private:
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

  std::pair<rocksdb::DB*, std::shared_ptr<rocksdb::ColumnFamilyHandle>>
  Watched() const {
    const std::lock_guard lock(mutex_);
    return {database_, family_.lock()};
  }

  // 0: it is not known.
  uint64_t OldestInFiles() const {
    const auto [database, family] = Watched();
    // The database outlives its compactions, but the handle need not.
    rocksdb::TablePropertiesCollection files;
    if (family == nullptr ||
        !database->GetPropertiesOfAllTables(family.get(), &files).ok()) {
      return 0;
    }
    uint64_t oldest_ms = kNone;
    for (const auto& [path, properties] : files) {
      oldest_ms = std::min(
          oldest_ms, NumberOf(*properties, kOldestPutProperty).value_or(0));
    }
    return oldest_ms;
  }

  std::mutex flush_mutex_;  // held by each Flush
  mutable std::mutex mutex_;
  rocksdb::DB* database_ = nullptr;                    // guarded, as is:
  std::weak_ptr<rocksdb::ColumnFamilyHandle> family_;  // owned by its users
  std::atomic<uint64_t> noted_ms_ = kNone;
  std::atomic<uint64_t> flushes_ = 0;  // their beginnings and ends
};

}  // namespace rowbloom
