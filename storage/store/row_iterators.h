// RocksDB iterators over the cells of one row, kept between reads: to make one
// takes longer than to find out with it that a row is absent, since RocksDB
// prepares each file of level 0.
//
// An iterator that is kept holds the files and the memory of the moment when it
// was last used, also those that RocksDB has no other use for. So all go when a
// flush, a compaction or a load has changed the files (WatchFiles).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/iterator.h"
#include "rocksdb/listener.h"
#include "storage/store/thread_slot.h"

namespace rowbloom {

// Thread-safe.
class RowIterators {
 public:
  // How far a read may go for its answer.
  enum class Reach : uint8_t {
    kFiles,
    // Ends with Incomplete where it would have to read a file.
    kMemory,
  };

  // An iterator for one read. It goes back when this goes, which must be before
  // the database.
  class Lease {
   public:
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    rocksdb::Iterator* get() const { return it_.get(); }

   private:
    friend class RowIterators;
    Lease() = default;

    RowIterators* iterators_ = nullptr;
    uint32_t family_ = 0;
    Reach reach_ = Reach::kFiles;
    uint64_t generation_ = 0;
    std::unique_ptr<rocksdb::Iterator> it_;
  };

  // An iterator as of now, with prefix_same_as_start: it has to Seek to the
  // bytes of a row, asks the ROW sections then, and ends with the row.
  Lease Take(rocksdb::DB* database, rocksdb::ColumnFamilyHandle* family,
             Reach reach);

  // Destroys those that are kept, and keeps none that is in use now. Before the
  // database is closed it has to be called a last time.
  void Forget();

 private:
  struct Idle {
    uint32_t family;
    Reach reach;
    std::unique_ptr<rocksdb::Iterator> it;
  };
  static constexpr size_t kIdleInSlot = 4;

  struct alignas(kCacheLineBytes) Slot {
    Slot() { idle.reserve(kIdleInSlot); }

    std::mutex mutex;
    std::vector<Idle> idle;  // the least recently used first; never grows
  };

  void Keep(Lease* lease);

  std::array<Slot, kThreadSlots> slots_;  // of threads, few of each
  std::atomic<uint64_t> generation_{0};
};

// Calls Forget of `iterators`, which `owner` keeps alive, when files change.
std::shared_ptr<rocksdb::EventListener> WatchFiles(
    std::shared_ptr<RowIterators> iterators);

}  // namespace rowbloom
