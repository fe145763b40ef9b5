// The store's writes: changes become one RocksDB batch, under the locks of
// their rows and with timestamps in their order.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rocksdb/status.h"
#include "rocksdb/write_batch.h"
#include "rowbloom/write_batch.h"
#include "storage/store/opened_store.h"
#include "storage/store/row_locks.h"

namespace rowbloom {

// One change, as WriteBatch describes it, whose bytes somebody else holds.
struct ChangeView {
  ChangeType type;
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  std::string_view value;
  std::optional<uint64_t> timestamp_ms;
  // Of a put: what the store's timestamp is at least.
  uint64_t not_before_ms = 0;
};

// InvalidArgument: a put that the family does not take.
rocksdb::Status CheckPut(FamilyMap::const_iterator family,
                         std::string_view qualifier, std::string_view value,
                         std::optional<uint64_t> timestamp_ms);

// Thread-safe. `opened` outlives it.
class Writer {
 public:
  explicit Writer(const OpenedStore& opened) : opened_(opened) {}

  // Writes the changes change_at(0) to change_at(count - 1) as one.
  template <typename ChangeAt>
  rocksdb::Status Apply(size_t count, ChangeAt change_at,
                        const WriteOptions& options) {
    rocksdb::Status s = opened_.CheckWritable();
    if (!s.ok() || count == 0) return s;
    const RowLocks::Guard guard =
        locks_.Lock(count, [&](size_t i) { return change_at(i).row; });
    return ApplyLocked(count, change_at, options);
  }

  // Keeps other writes of a row out.
  RowLocks::Guard Lock(std::string_view row) {
    return locks_.Lock(1, [row](size_t) { return row; });
  }

  // Keeps all writes out.
  RowLocks::Guard LockAll() { return locks_.LockAll(); }

  // Makes the bound that is kept of the clock cover a timestamp.
  rocksdb::Status CoverTimestamp(uint64_t timestamp_ms);

  // Apply whose rows the caller has locked. REQUIRES a store that is writable.
  template <typename ChangeAt>
  rocksdb::Status ApplyLocked(size_t count, ChangeAt change_at,
                              const WriteOptions& options) {
    rocksdb::Status s;
    Draft draft(*opened_.families, options.timestamp_ms,
                opened_.shared->clock.Now());
    for (size_t i = 0; s.ok() && i < count; ++i) {
      s = Add(change_at(i), &draft);
    }
    return s.ok() ? Commit(options.durability, &draft) : s;
  }

 private:
  // A RocksDB batch in the making.
  struct Draft {
    Draft(const FamilyTable& of_store, std::optional<uint64_t> given_ms,
          uint64_t now)
        : families(of_store), default_timestamp_ms(given_ms), now_ms(now) {}

    const FamilyTable::Loan families;
    const std::optional<uint64_t> default_timestamp_ms;
    const uint64_t now_ms;
    uint64_t last_ms = 0;  // what the clock's bound has to cover
    std::string_view row;  // what row_bytes encodes, once there is one
    std::string row_bytes;
    RowLocks::Stripe* stripe = nullptr;  // of that row
    rocksdb::WriteBatch batch;
  };

  rocksdb::Status Add(const ChangeView& change, Draft* draft);
  rocksdb::Status AddPut(const ChangeView& change,
                         std::optional<uint64_t> given_ms, Draft* draft);
  // A delete inside one family.
  rocksdb::Status AddDelete(const ChangeView& change,
                            FamilyMap::const_iterator family,
                            std::optional<uint64_t> given_ms, Draft* draft);

  // The store's timestamp for a put in the draft's row, for a delete.
  uint64_t PutTime(Draft* draft) const;
  uint64_t DeleteTime(Draft* draft) const;

  rocksdb::Status Commit(Durability durability, Draft* draft);

  const OpenedStore& opened_;
  RowLocks locks_;
  std::mutex bound_mutex_;
};

}  // namespace rowbloom
