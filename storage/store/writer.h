// The store's writes: changes become one RocksDB batch, under the locks of
// their rows and with timestamps in their order.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
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
  // The version that a put was made of and may take the place of.
  std::optional<uint64_t> replaces_ms = std::nullopt;
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
    return ApplyLocked(guard, count, change_at, options);
  }

  // Keeps other writes of a row out.
  RowLocks::Guard Lock(std::string_view row) {
    return locks_.Lock(1, [row](size_t) { return row; });
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
  rocksdb::Status AllowDelete(EntryType type);

  // Apply whose rows the caller has locked. REQUIRES a store that is writable.
  template <typename ChangeAt>
  rocksdb::Status ApplyLocked(const RowLocks::Guard& guard, size_t count,
                              ChangeAt change_at, const WriteOptions& options) {
    Draft draft(opened_.families->Get(), options.timestamp_ms);
    MoveClock(guard, &draft);
    rocksdb::Status s;
    for (size_t i = 0; i < count; ++i) {
      const bool deletes = change_at(i).type != ChangeType::kPut;
      draft.looks_at_itself = draft.looks_at_itself || (count > 1 && deletes);
    }
    for (size_t i = 0; s.ok() && i < count; ++i) {
      s = Add(change_at(i), &draft);
    }
    return s.ok() ? Commit(options.durability, &draft) : s;
  }

 private:
  // A RocksDB batch in the making.
  struct Draft {
    Draft(SharedFamilies of_store, std::optional<uint64_t> given_ms)
        : families(std::move(of_store)), default_timestamp_ms(given_ms) {}

    const SharedFamilies families;
    const std::optional<uint64_t> default_timestamp_ms;
    uint64_t now_ms = 0;
    uint64_t last_ms = 0;  // what the clock's bound has to cover
    std::string_view row;  // what row_bytes encodes, once there is one
    std::string row_bytes;
    uint64_t row_hash = 0;
    RowLocks::Stripe* stripe = nullptr;  // of that row
    rocksdb::WriteBatch batch;
    // The cells whose merge operands are to be joined once all are written.
    struct Join {
      const Family* family;
      RowLocks::Stripe* stripe;
      uint64_t cell;  // as the stripe knows it
    };
    std::map<std::pair<uint32_t, std::string>, Join> joins;  // family, key
    // Some changes are deletes: of an earlier put, or of a later one. Only then
    // are the following filled.
    bool looks_at_itself = false;
    using Key = std::pair<uint32_t, std::string>;  // family, key
    std::map<Key, std::set<uint64_t>> puts;        // timestamps
    std::map<Key, uint64_t> family_deletes;        // the newest of each row
    std::set<std::pair<Key, uint64_t>> family_version_deletes;
  };

  static std::optional<uint64_t> GivenTime(const ChangeView& change,
                                           const Draft& draft) {
    return change.timestamp_ms ? change.timestamp_ms
                               : draft.default_timestamp_ms;
  }

  void MoveClock(const RowLocks::Guard& guard, Draft* draft);
  rocksdb::Status Add(const ChangeView& change, Draft* draft);
  rocksdb::Status AddPut(const ChangeView& change, Draft* draft);
  // A delete inside one family.
  rocksdb::Status AddDelete(const ChangeView& change,
                            FamilyMap::const_iterator family, Draft* draft);
  rocksdb::Status AddMarker(const ChangeView& change, const Family& family,
                            uint64_t timestamp_ms, Draft* draft);
  // A delete of one timestamp in all columns of the row: of the versions that
  // are there, each for itself, so that they take no version's place, and of
  // those to come.
  rocksdb::Status AddFamilyVersionDelete(const ChangeView& change,
                                         FamilyMap::const_iterator family,
                                         uint64_t timestamp_ms, Draft* draft);
  // Removes what RocksDB has of the row in a family, or of a cell, but for the
  // deletes of the row.
  rocksdb::Status Remove(const ChangeView& change,
                         FamilyMap::const_iterator family, Draft* draft);

  // FindRowDeletes with those of the draft.
  rocksdb::Status FindRowDeletes(std::string_view row,
                                 FamilyMap::const_iterator family,
                                 const Draft& draft,
                                 RowDeletes* row_deletes) const;

  // The newest timestamp of the versions that a delete is to take, in the
  // store, also those that have expired, and in the draft; nullopt: there are
  // none.
  rocksdb::Status FindNewestPut(const ChangeView& change,
                                FamilyMap::const_iterator family,
                                const Draft& draft,
                                std::optional<uint64_t>* newest_ms) const;
  // Whether a kDeleteFamilyVersion takes a put.
  rocksdb::Status IsDeletedAlready(const ChangeView& change,
                                   FamilyMap::const_iterator family,
                                   uint64_t timestamp_ms, const Draft& draft,
                                   bool* deleted) const;

  // Adds a merge operand, which is two parts, to a cell.
  rocksdb::Status AddMerge(const Family& family, std::string_view qualifier,
                           std::string_view head, std::string_view value,
                           Draft* draft);
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
