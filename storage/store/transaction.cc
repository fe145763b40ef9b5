#include "rowbloom/transaction.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>
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

// RocksDB's transaction tracks the keys that reads and writes depend on. At
// Commit, under the locks of all rows, it gets the batch and checks the keys.
class TrackedTransaction final : public Transaction {
 public:
  explicit TrackedTransaction(Store::Impl* store)
      : store_(*store),
        opened_(store->opened),
        wide_writes_(store->writer.locks.WideWrites()),
        tracked_(opened_.database.BeginTransaction()),
        snapshot_(std::in_place, opened_) {}

  Status Get(std::string_view row, std::string_view family,
             std::string_view qualifier,
             std::optional<std::string>* value) override {
    return CatchExceptions([&]() -> Status {
      const Change at{.row = row, .family = family, .qualifier = qualifier};
      Status s = CheckOpen();
      if (s.ok()) s = Track(at);
      if (!s.ok()) return s;
      read_rows_.emplace(row);
      return store_.writer.ReadThrough(ChangesFor(row, family, qualifier),
                                       *snapshot_, at, value);
    });
  }

  Status Commit(Durability durability) override {
    const Status s = CatchExceptions([&] { return TryCommit(durability); });
    // A transaction that is over pins no versions of cells.
    over_ = true;
    if (opened_.IsForked()) return s;  // locks may be held
    tracked_.reset();
    snapshot_.reset();
    return s;
  }

 private:
  static Status Busy(const char* what) {
    return Status::Busy(
        Concat("since the transaction began, ", what, ": begin again"));
  }

  Status TryCommit(Durability durability) {
    Status s = CheckOpen();
    const std::vector<Change> changes = Changes();
    if (!s.ok() || changes.empty()) return s;
    for (const Change& change : changes) {
      if (s.ok()) s = Track(change);
    }
    if (!s.ok()) return s;
    std::vector<Change> rows = changes;
    for (const std::string& row : read_rows_) rows.push_back({.row = row});
    const RowLocks::Guard guard = store_.writer.locks.Lock(rows);
    if (guard.HadWideWriteSince(wide_writes_)) {
      return Busy(
          "a row was deleted, a bulk load came in, a family was changed or "
          "the clock was reset");
    }
    for (const Change& change : changes) {
      if (s.ok()) s = TrackRow(change);
    }
    if (!s.ok()) return s;
    s = store_.writer.Apply(guard, changes, {.durability = durability},
                            /*updated=*/nullptr, tracked_.get());
    if (s.IsTryAgain()) return Busy("too much was written to be in memory");
    return s.IsBusy() ? Busy("a cell of the transaction was changed") : s;
  }

  Status CheckOpen() const {
    if (!over_) return Status::OK();
    return Status::InvalidArgument("the transaction is over: begin another");
  }

  // Returns the bounds of the families that the change is in. Those that were
  // created or altered since Begin count as wide writes.
  auto FamiliesOf(const Change& at) const {
    const FamilyMap& families = *snapshot_->families();
    return at.type == ChangeType::kDeleteRow
               ? std::pair(families.begin(), families.end())
               : families.equal_range(at.family);
  }

  // Makes RocksDB check the keys whose entries change the cell, or the row.
  Status Track(const Change& at) {
    std::string row;
    Status s = opened_.EncodeRow(at.row, &row);
    const auto [begin, end] = FamiliesOf(at);
    for (auto it = begin; it != end; ++it) {
      const Family& family = it->second;
      if (s.ok()) s = Track(family, row + std::string(at.qualifier));
      // The deletes of the row.
      if (s.ok() && family.format == CellFormat::kVersioned) {
        s = Track(family, row);
      }
    }
    return s;
  }
  Status Track(const Family& family, const std::string& key) {
    return tracked_->GetForUpdate(rocksdb::ReadOptions(), family.handle(), key,
                                  static_cast<std::string*>(nullptr));
  }

  // Makes RocksDB check each cell that the row has or had at Begin, if the
  // change deletes all versions up to the newest one's timestamp. REQUIRES that
  // the row is locked.
  Status TrackRow(const Change& change) {
    if ((change.type != ChangeType::kDeleteRow &&
         change.type != ChangeType::kDeleteFamily) ||
        change.timestamp_ms) {
      return Status::OK();
    }
    std::string row_bytes;
    Status s = opened_.EncodeRow(change.row, &row_bytes);
    const auto [begin, end] = FamiliesOf(change);
    for (auto it = begin; it != end; ++it) {
      if (it->second.options.timestamps != Timestamps::kClient) continue;
      for (const bool at_begin : {true, false}) {
        rocksdb::ReadOptions options;
        options.snapshot = at_begin ? snapshot_->get() : nullptr;
        RowCells cells(opened_, it, options, row_bytes);
        if (s.ok()) s = cells.Enter(change.row, row_bytes);
        while (s.ok()) {
          const StoredCell* const cell = cells.Find();
          if (cell == nullptr) break;
          s = Track(it->second, row_bytes + std::string(cell->qualifier));
          cells.Next();
        }
        if (s.ok()) s = cells.status();
      }
    }
    return s;
  }

  Store::Impl& store_;
  const OpenedStore& opened_;
  // These are taken in this order, so that the checks cover every write that
  // the snapshot does not see.
  const uint64_t wide_writes_;
  std::unique_ptr<rocksdb::Transaction> tracked_;
  std::optional<StoreSnapshot> snapshot_;
  std::set<std::string> read_rows_;
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
