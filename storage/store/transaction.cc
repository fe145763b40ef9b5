#include "rowbloom/transaction.h"

#include <memory>
#include <vector>

#include "lib/bytes/text.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/store/row_cells.h"
#include "storage/store/snapshot.h"
#include "storage/store/store_impl.h"

namespace rowbloom {
namespace {

using rocksdb::Status;

// RocksDB's transaction tracks the keys that reads and writes depend on. It
// gets the batch, and checks the keys, under the locks of all rows at Commit.
class TrackedTransaction final : public Transaction {
 public:
  explicit TrackedTransaction(Store::Impl* store)
      : store_(*store),
        opened_(store->opened),
        wide_writes_(store->writer.WideWrites()),
        count_(opened_.shared.get()),
        tracked_(opened_.database.BeginTransaction()),
        snapshot_(opened_) {}

  Status Get(std::string_view row, std::string_view family,
             std::string_view qualifier,
             std::optional<std::string>* value) override {
    return CatchExceptions([&]() -> Status {
      const Change at{.row = row, .family = family, .qualifier = qualifier};
      Status s = CheckOpen();
      if (s.ok()) s = Track(at);
      if (!s.ok()) return s;
      reads_.Add(at);
      return store_.writer.ReadThrough(Changes(), snapshot_, at, value);
    });
  }

  Status Commit(Durability durability) override {
    return CatchExceptions([&]() -> Status {
      Status s = CheckOpen();
      over_ = true;
      const std::vector<Change> changes = Changes();
      if (!s.ok() || changes.empty()) return s;
      for (const Change& change : changes) {
        if (s.ok()) s = Track(change);
      }
      if (!s.ok()) return s;
      std::vector<Change> rows = reads_.Changes();
      rows.insert(rows.end(), changes.begin(), changes.end());
      const RowLocks::Guard guard = store_.writer.Lock(rows);
      if (guard.HadWideWriteSince(wide_writes_)) {
        return Busy(
            "a row was deleted, a bulk load came in or a family was "
            "changed");
      }
      for (const Change& change : changes) {
        bool same = true;
        s = CompareRows(change, &same);
        if (!s.ok()) return s;
        if (!same) {
          return Busy("a row that the transaction deletes was changed");
        }
      }
      s = store_.writer.Apply(guard, changes, {.durability = durability},
                              /*updated=*/nullptr, tracked_.get());
      if (s.IsTryAgain()) return Busy("too much was written to be in memory");
      return s.IsBusy() ? Busy("a cell of the transaction was changed") : s;
    });
  }

 private:
  static Status Busy(const char* what) {
    return Status::Busy(
        Concat("since the transaction began, ", what, ": begin again"));
  }

  Status CheckOpen() const {
    if (!over_) return Status::OK();
    return Status::InvalidArgument("the transaction is over: begin another");
  }

  // Makes RocksDB check the keys whose entries change the cell, or the row.
  Status Track(const Change& at) {
    std::string row;
    Status s = opened_.EncodeRow(at.row, &row);
    const auto track = [&](const Family& family, const std::string& key) {
      if (!s.ok()) return;
      s = tracked_->GetForUpdate(rocksdb::ReadOptions(), family.handle(), key,
                                 static_cast<std::string*>(nullptr));
    };
    // Families that came or changed since are wide writes.
    for (const auto& [name, family] : *snapshot_.families()) {
      if (at.type != ChangeType::kDeleteRow && name != at.family) continue;
      track(family, row + std::string(at.qualifier));
      // The deletes of the row.
      if (family.format == CellFormat::kVersioned) track(family, row);
    }
    return s;
  }

  // Tells whether the row of the change is as at Begin, where the change is a
  // delete of all cells up to the newest one's timestamp. RocksDB checks single
  // keys, and not those that a row may have got. *same means nothing after an
  // error. REQUIRES that the row is locked.
  Status CompareRows(const Change& change, bool* same) const {
    const bool in_all = change.type == ChangeType::kDeleteRow;
    const bool in_one = change.type == ChangeType::kDeleteFamily;
    if (!(in_all || in_one) || change.timestamp_ms) return Status::OK();
    std::string row_bytes;
    Status s = opened_.EncodeRow(change.row, &row_bytes);
    const FamilyMap& families = *snapshot_.families();
    for (auto it = families.begin(); it != families.end(); ++it) {
      if (!s.ok() || !*same) break;
      if (it->second.options.timestamps == Timestamps::kClient &&
          (in_all || it->first == change.family)) {
        s = CompareRow(it, change.row, row_bytes, same);
      }
    }
    return s;
  }

  Status CompareRow(FamilyMap::const_iterator family, std::string_view row,
                    const std::string& row_bytes, bool* same) const {
    rocksdb::ReadOptions at_begin;
    at_begin.snapshot = snapshot_.get();
    RowCells before(opened_, family, at_begin, row_bytes);
    RowCells now(opened_, family, {}, row_bytes);
    Status s = before.Enter(row, row_bytes);
    if (s.ok()) s = now.Enter(row, row_bytes);
    for (; s.ok() && *same; before.Next(), now.Next()) {
      const StoredCell* const was = before.Find();
      const StoredCell* const is = now.Find();
      if (was == nullptr || is == nullptr) {
        *same = was == is;
        break;
      }
      *same = was->qualifier == is->qualifier && was->value == is->value;
    }
    if (s.ok()) s = before.status();
    return s.ok() ? now.status() : s;
  }

  Store::Impl& store_;
  const OpenedStore& opened_;
  // These are taken in this order, so that nothing that is read is newer than
  // what the checks begin with.
  const uint64_t wide_writes_;
  const SnapshotCount count_;  // counts the snapshot of tracked_
  const std::unique_ptr<rocksdb::Transaction> tracked_;
  const CountedSnapshot snapshot_;
  WriteBatch reads_;  // the rows that were read
  bool over_ = false;
};

}  // namespace

rocksdb::Status Store::Begin(std::unique_ptr<Transaction>* transaction) {
  return impl_->Change([&]() -> rocksdb::Status {
    if (!impl_->opened.options.transactions) {
      return NotSupported("a transaction: ", impl_->opened.path,
                          " is open without StoreOptions::transactions");
    }
    *transaction = std::make_unique<TrackedTransaction>(impl_.get());
    return Status::OK();
  });
}

}  // namespace rowbloom
