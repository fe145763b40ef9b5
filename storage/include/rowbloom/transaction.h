// Optimistic transactions of an embedded store: changes to many rows that are
// written together if no other write has changed the cells that they depend on.
//
//   std::unique_ptr<rowbloom::Transaction> transfer;
//   rocksdb::Status s = store->Begin(&transfer);
//   std::optional<std::string> balance;
//   if (s.ok()) s = transfer->Get("ada", "account", "balance", &balance);
//   if (s.ok()) {
//     transfer->Put("ada", "account", "balance", Minus(balance, 10));
//     transfer->Increment("bob", "account", "payments", 1);
//     s = transfer->Commit();
//   }
//   if (s.IsBusy()) ...  // nothing was written: begin again
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/write_batch.h"

namespace rowbloom {

// The changes are those of the batch, and are kept in memory until Commit. No
// lock is held meanwhile. Destroying the transaction without Commit drops them.
//
// Get sees the store as it was at Begin, with its families, and the changes of
// the transaction. A transaction reads no ranges: Commit does not check what
// Store's functions read, and these do not see the changes.
//
// Not thread-safe. It must be destroyed before its store.
class Transaction : public WriteBatch {
 public:
  virtual ~Transaction() = default;

  // The newest value of one cell. nullopt: the cell is absent, which Commit
  // checks as it checks a value. Takes time in proportion to the changes of the
  // cell and, up to the last delete or removal of the whole row, of the row.
  // InvalidArgument: Commit would refuse one of these changes, or the
  // transaction has ended. Other errors are those of Store::Get.
  virtual rocksdb::Status Get(std::string_view row, std::string_view family,
                              std::string_view qualifier,
                              std::optional<std::string>* value) = 0;

  // Writes all changes or none, and ends the transaction whatever it returns.
  // Without changes there is nothing to check, as all reads are of one
  // snapshot.
  //   Busy  nothing was written: since Begin, another write has changed a cell
  //         that Get has read, present or absent, or that a change names; or
  //         any cell of a row that a change deletes without a timestamp in a
  //         family with timestamps of the client. Or RocksDB cannot rule such a
  //         write out: one row in the same 1/256 of all rows was removed, or
  //         deleted in a family that keeps the latest version, a bulk load was
  //         added, a family was created, altered, truncated or dropped, the
  //         store's clock was reset, or the memtables of the time of Begin have
  //         been flushed and dropped. A version that expires is no change.
  // Other errors are those of Store::Write. A refused change comes before Busy
  // for a changed cell or dropped memtables, also where only what others wrote
  // makes it impossible, such as an increment of a cell that is no counter any
  // more.
  virtual rocksdb::Status Commit(
      Durability durability = Durability::kAsync) = 0;
};

}  // namespace rowbloom
