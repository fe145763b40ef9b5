// Optimistic transactions of an embedded store: changes to many rows that are
// written together, if nobody has changed meanwhile what they depend on.
//
//   std::unique_ptr<rowbloom::Transaction> transfer;
//   rocksdb::Status s = store->Begin(&transfer);
//   std::optional<std::string> balance;
//   if (s.ok()) s = transfer->Get("ada", "account", "balance", &balance);
//   transfer->Put("ada", "account", "balance", Minus(balance, 10));
//   transfer->Increment("bob", "account", "payments", 1);
//   if (s.ok()) s = transfer->Commit();
//   if (s.IsBusy()) ...  // nothing was written: begin again
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/write_batch.h"

namespace rowbloom {

// The changes are those of the batch, and are kept in memory until Commit. No
// lock is held meanwhile. Destroying it without Commit drops the changes.
//
// Get sees the store as it was at Begin, with its families, and the
// transaction's own changes in it. There is nothing to read ranges with: what
// Store's functions read is neither checked nor with the changes.
//
// Not thread-safe. It must be gone before the store is.
class Transaction : public WriteBatch {
 public:
  virtual ~Transaction() = default;

  // The newest value of one cell. nullopt: there is none, which is as much of a
  // read as a value. Takes time in proportion to the changes of the cell and,
  // up to the last delete or removal of the whole row, of the row.
  // InvalidArgument: one of these is a change that Commit would refuse, or the
  // transaction is over. Others as of Store::Get.
  virtual rocksdb::Status Get(std::string_view row, std::string_view family,
                              std::string_view qualifier,
                              std::optional<std::string>* value) = 0;

  // Writes all changes or none, and ends the transaction whatever it returns.
  // Without changes there is nothing to check: all reads are of one time.
  //   Busy  another write has changed a cell since Begin that Get has read,
  //         present or absent, or that a change names, or any cell of a row
  //         that a change deletes without a timestamp in a family with
  //         timestamps of the client; or RocksDB cannot rule that out: a row of
  //         the same 1 in 256 was deleted in a family that keeps the latest
  //         version, a bulk load came in, a family was created, altered,
  //         truncated or dropped, or memory has been flushed so often that
  //         nothing is left of the time of Begin. A version that expires is no
  //         change. Nothing was written.
  // Others as of Store::Write.
  virtual rocksdb::Status Commit(
      Durability durability = Durability::kAsync) = 0;
};

}  // namespace rowbloom
