// Writer turns the changes of a write into one RocksDB batch, under the locks
// of their rows, and assigns timestamps in their order.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rocksdb/utilities/transaction.h"
#include "rowbloom/write_batch.h"
#include "storage/store/opened_store.h"
#include "storage/store/row_locks.h"
#include "storage/store/snapshot.h"

namespace rowbloom {

// InvalidArgument: an unknown type, or a field that the type does not take.
rocksdb::Status CheckChange(const Change& change);

// InvalidArgument: the family does not take the put.
rocksdb::Status CheckPut(FamilyMap::const_iterator family,
                         std::string_view qualifier, std::string_view value,
                         std::optional<uint64_t> timestamp_ms);

// Thread-safe. `opened` outlives it.
class Writer {
 public:
  explicit Writer(const OpenedStore& opened) : opened_(opened) {}

  // Writes all of the changes or none. REQUIRES that the caller has locked
  // their rows. Unless null, *updated gets the value of the last increment or
  // append, and `transaction` writes the changes after RocksDB has checked the
  // keys that it tracks. Errors are also those of CheckWritable.
  rocksdb::Status Apply(const RowLocks::Guard& guard,
                        std::span<const Change> changes,
                        const WriteOptions& options,
                        std::string* updated = nullptr,
                        rocksdb::Transaction* transaction = nullptr);

  rocksdb::Status Write(std::span<const Change> changes,
                        const WriteOptions& options,
                        std::string* updated = nullptr) {
    const RowLocks::Guard guard = locks.Lock(changes);
    return Apply(guard, changes, options, updated);
  }

  // Reads the newest value that a cell of a snapshot has after the changes,
  // which are of its row and not written. nullopt: there is none.
  rocksdb::Status ReadThrough(std::span<const Change> changes,
                              const StoreSnapshot& snapshot, const Change& at,
                              std::optional<std::string>* value);

  // Returns a time that no write has, nor will have. Waits for writes under
  // way, which may not have noted yet what they gave, and for ResetClock.
  uint64_t StepClock() {
    const RowLocks::Guard no_writes = locks.LockAll();
    return opened_.shared->clock.Step();
  }

  // Makes the kept bound of the clock cover a timestamp.
  rocksdb::Status CoverTimestamp(uint64_t timestamp_ms);

  // Keeps the exact bound of the clock. REQUIRES that no write is under way.
  rocksdb::Status KeepExactBound();

  // Sets the store's time back to the machine's.
  rocksdb::Status ResetClock();

  // While it lives, kSkipWal writes go to the log, too. A checkpoint or a
  // backup flushes the memtables and then copies the log: it would lack
  // kSkipWal writes from in between, but have later writes.
  class LogsAll {
   public:
    explicit LogsAll(Writer* writer) : writer_(*writer) {
      ++writer_.log_all_;
      const RowLocks::Guard ends_earlier_writes = writer_.locks.LockAll();
    }
    ~LogsAll() { --writer_.log_all_; }
    LogsAll(const LogsAll&) = delete;
    LogsAll& operator=(const LogsAll&) = delete;

   private:
    Writer& writer_;
  };

  // Notes in the store's record that entries of these kinds may exist. Called
  // before the first such entry is written.
  rocksdb::Status Announce(RareKinds kinds);

  RowLocks locks;            // first, as it is aligned to cache lines
  std::mutex records_mutex;  // held by writes of records, which lock no row

 private:
  class Draft;  // a RocksDB batch in the making

  rocksdb::Status KeepBound(uint64_t bound_ms, bool sync);

  const OpenedStore& opened_;
  std::atomic<int> log_all_{0};  // the number of living LogsAll
};

}  // namespace rowbloom
