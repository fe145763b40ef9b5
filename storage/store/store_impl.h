// Store::Impl holds the parts of an open Store (open_store.h opens it).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/layout/key_range.h"
#include "rocksdb/cache.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "rocksdb/version.h"
#include "rowbloom/store.h"
#include "storage/format/no_exceptions.h"
#include "storage/store/opened_store.h"
#include "storage/store/writer.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif

namespace rowbloom {

class Store::Impl {
 public:
  Impl() : writer(opened) {}

  // Runs `body`, unless CheckWritable fails. Returns the error of either.
  template <typename Body>
  rocksdb::Status Change(Body body) {
    return CatchExceptions([&]() -> rocksdb::Status {
      rocksdb::Status s = opened.CheckWritable();
      return s.ok() ? body() : s;
    });
  }

  // Flushes column families. If a flush could not switch to a new log, the next
  // one fails an assertion in RocksDB 7.8.3 with assertions. So flushes run one
  // at a time.
  rocksdb::Status Flush(
      const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
    const std::scoped_lock one_at_a_time(flush_mutex);
    const rocksdb::Status s = opened.CheckWritable();
    return s.ok() ? opened.database->Flush({}, handles) : s;
  }
  // Flushes a family, and forgets the puts that were noted before (OldestPut).
  rocksdb::Status FlushNoted(const Family& family) {
    return family.shared_rules->oldest_put.Flush(
        [this] { return writer.locks.LockAll(); },
        [&] { return Flush({family.handle()}); });
  }
  // Compacts the keys of a family in this range. REQUIRES compact_mutex.
  rocksdb::Status Compact(const Family& family, const KeyRange& range);

  // Implements Store::NewBulkLoad. Unless `copied` is null, the load copies
  // these families of another store, which outlive it. Timestamps that the
  // other store assigned may be later than the load's, as its clock may have
  // been set back, and its deletes may have future timestamps.
  rocksdb::Status NewBulkLoad(const BulkLoadOptions& options,
                              const FamilyMap* copied,
                              std::unique_ptr<BulkLoad>* load);

  OpenedStore opened;
  std::atomic<uint64_t> next_load{0};
  std::mutex compact_mutex;  // held by each Store::Compact
  std::mutex flush_mutex;    // held by each Flush
  // The mutex lets one thread at a time mark the end of a stream of changes,
  // for the reason of FamilyTable::number_mutex. Lock it before change_mutex.
  std::mutex mark_mutex;
  // The last mark of a stream of changes, and Listener::sealed() before it.
  // Guarded by Writer::records_mutex.
  uint64_t mark_number = 0;
  uint64_t mark_sealed = 0;
  bool mark_is_synced = false;  // it was a synced write
  Writer writer;
};

}  // namespace rowbloom
