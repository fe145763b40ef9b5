// The store's writes: changes become one RocksDB batch, under the locks of
// their rows and with timestamps in their order.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rocksdb/status.h"
#include "rocksdb/write_batch.h"
#include "rowbloom/write_batch.h"
#include "storage/store/opened_store.h"
#include "storage/store/row_locks.h"

namespace rowbloom {

// InvalidArgument: an unknown type, or a delete with bytes that mean nothing.
rocksdb::Status CheckChange(const Change& change);

// InvalidArgument: a put that the family does not take.
rocksdb::Status CheckPut(FamilyMap::const_iterator family,
                         std::string_view qualifier, std::string_view value,
                         std::optional<uint64_t> timestamp_ms);

// Thread-safe. `opened` outlives it.
class Writer {
 public:
  explicit Writer(const OpenedStore& opened) : opened_(opened) {}

  // Writes the changes, all or none, whose rows the caller has locked. REQUIRES
  // a store that is writable. A put may take the place of the cell's version at
  // `replaces_ms`, which it was made of.
  rocksdb::Status Apply(const RowLocks::Guard& guard,
                        std::span<const Change> changes,
                        const WriteOptions& options,
                        std::optional<uint64_t> replaces_ms = std::nullopt);

  // Keeps other writes of the changes' rows out.
  RowLocks::Guard Lock(std::span<const Change> changes) {
    return locks_.Lock(changes);
  }

  // Keeps all writes out.
  RowLocks::Guard LockAll() { return locks_.LockAll(); }

  // Makes the bound that is kept of the clock cover a timestamp.
  rocksdb::Status CoverTimestamp(uint64_t timestamp_ms);

  // Keeps the exact bound of the clock. REQUIRES that no write is under way.
  rocksdb::Status KeepExactBound();

  // Sets the store's time back to the machine's.
  rocksdb::Status ResetClock();

  // The deletes that a row has in a family. Corruption: they cannot be decoded.
  rocksdb::Status FindRowDeletes(std::string_view row,
                                 FamilyMap::const_iterator family,
                                 std::string_view row_bytes,
                                 RowDeletes* row_deletes) const;

  // Makes the store's record say, before the first delete of this type is
  // written, that there may be such deletes.
  rocksdb::Status AllowDelete(ChangeType type);

 private:
  // A RocksDB batch in the making.
  struct Draft {
    const SharedFamilies families;
    const std::optional<uint64_t> default_timestamp_ms;
    const std::optional<uint64_t> replaces_ms;
    // A change is a delete: of an earlier put, or of a later one.
    const bool looks_at_itself;
    uint64_t now_ms = 0;
    uint64_t last_ms = 0;  // what the clock's bound has to cover
    std::string_view row;  // what row_bytes encodes, once there is one
    std::string row_bytes;
    uint64_t row_hash = 0;
    RowLocks::Stripe* stripe = nullptr;  // of that row
    rocksdb::WriteBatch batch{};
    using Key = std::pair<uint32_t, std::string>;  // family, key
    // The cells whose merge operands are to be joined once all are written.
    struct Join {
      const Family* family;
      RowLocks::Stripe* stripe;
      uint64_t cell;  // as the stripe knows it
    };
    std::map<Key, Join> joins;
    // All entries of the batch, in its order and without values, if it looks
    // at itself.
    std::map<Key, Entries> entries;
  };

  static std::optional<uint64_t> GivenTime(const Change& change,
                                           const Draft& draft) {
    return change.timestamp_ms ? change.timestamp_ms
                               : draft.default_timestamp_ms;
  }

  rocksdb::Status Add(const Change& change, Draft* draft);
  rocksdb::Status AddPut(const Change& change, Draft* draft);
  // A delete inside one family.
  rocksdb::Status AddDelete(const Change& change,
                            FamilyMap::const_iterator family, Draft* draft);
  rocksdb::Status AddMarker(const Change& change, const Family& family,
                            uint64_t timestamp_ms, Draft* draft);
  // A delete of one timestamp in all columns of the row: of the versions that
  // are there, each for itself, so that they take no version's place, and of
  // those to come.
  rocksdb::Status AddFamilyVersionDelete(const Change& change,
                                         FamilyMap::const_iterator family,
                                         uint64_t timestamp_ms, Draft* draft);
  // Removes what RocksDB has of the row in a family, or of a cell, but for the
  // deletes of the row.
  rocksdb::Status Remove(const Change& change, FamilyMap::const_iterator family,
                         Draft* draft);

  // FindRowDeletes with those of the draft.
  rocksdb::Status FindRowDeletes(std::string_view row,
                                 FamilyMap::const_iterator family,
                                 const Draft& draft,
                                 RowDeletes* row_deletes) const;

  // The newest timestamp of the versions that a delete is to take, in the
  // store, also those that have expired, and in the draft; nullopt: there are
  // none.
  rocksdb::Status FindNewestPut(const Change& change,
                                FamilyMap::const_iterator family,
                                const Draft& draft,
                                std::optional<uint64_t>* newest_ms) const;
  // Adds an entry to a cell of the row.
  rocksdb::Status AddEntry(const Family& family, std::string_view qualifier,
                           const Entry& entry, Draft* draft);
  rocksdb::Status Commit(Durability durability, Draft* draft);
  // Replaces the merge operands of cells by what they make. An error leaves
  // them as they are.
  rocksdb::Status JoinOperands(rocksdb::WriteOptions options,
                               const Draft& draft);
  rocksdb::Status KeepBound(uint64_t bound_ms, bool sync);

  const OpenedStore& opened_;
  RowLocks locks_;
  std::mutex records_mutex_;
};

}  // namespace rowbloom
