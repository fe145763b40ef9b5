// The parts of a Store, once it is open (open_store.h opens it).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "rowbloom/store.h"
#include "storage/format/no_exceptions.h"
#include "storage/store/opened_store.h"
#include "storage/store/writer.h"

namespace rowbloom {

class Store::Impl {
 public:
  Impl() : writer(opened) {}

  // `body`, unless the store is open for reading only.
  template <typename Body>
  rocksdb::Status Change(Body body) {
    return CatchExceptions([&]() -> rocksdb::Status {
      rocksdb::Status s = opened.CheckWritable();
      return s.ok() ? body() : s;
    });
  }

  // Flushes column families. RocksDB 7.8.3 with assertions stops at a flush
  // after one that could not go on in a new log, so that there is one at a
  // time.
  rocksdb::Status Flush(
      const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
    const std::scoped_lock one_at_a_time(flush_mutex);
    const rocksdb::Status s = opened.CheckWritable();
    return s.ok() ? opened.database->Flush({}, handles) : s;
  }

  // Store::NewBulkLoad. Unless `copied` is null, the load is a copy of these
  // families of another store, which outlive it: if the timestamps of one are
  // that store's, they may be later than the load's, as its clock may have been
  // set back, and a delete may be of the future.
  rocksdb::Status NewBulkLoad(const BulkLoadOptions& options,
                              const FamilyMap* copied,
                              std::unique_ptr<BulkLoad>* load);

  OpenedStore opened;
  std::atomic<uint64_t> next_load{0};
  std::mutex compact_mutex;  // held by each compaction that is asked for
  std::mutex flush_mutex;    // held by each flush that is asked for
  // The last mark of a stream of changes, and Listener::sealed() before it.
  // Guarded by Writer::records_mutex.
  uint64_t mark_number = 0;
  uint64_t mark_sealed = 0;
  Writer writer;
};

}  // namespace rowbloom
