// Writes that depend on what is there: of one row under its lock, and of many
// by RocksDB's optimistic transactions.
#include <algorithm>
#include <memory>
#include <vector>

#include "lib/bytes/text.h"
#include "rowbloom/printable.h"
#include "rowbloom/transaction.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/store/point_cells.h"
#include "storage/store/snapshot.h"
#include "storage/store/store_impl.h"

namespace rowbloom {

using rocksdb::Status;

namespace {

using Comparison = Condition::Comparison;

// Tells whether a row, which is locked, meets all conditions.
Status Check(const OpenedStore& opened, std::string_view row,
             std::span<const Condition> conditions, bool* met) {
  const SharedFamilies families = opened.families->Get();
  PointCells cells(opened, *families, /*snapshot=*/nullptr);
  std::vector<bool> meets;
  Status s;
  for (const Condition& condition : conditions) {
    if (s.ok() && condition.comparison > Comparison::kPresent) {
      s = InvalidArgument("a condition with the unknown comparison ",
                          static_cast<int>(condition.comparison));
    }
    if (s.ok()) s = CheckVersions(/*max_versions=*/1, condition.time_range);
    if (s.ok()) s = cells.Add(row, condition.family, condition.qualifier);
    meets.push_back(condition.comparison == Comparison::kAbsent);
  }
  if (s.ok()) s = cells.Read();
  const uint64_t wall_ms = opened.shared->clock.WallNow();
  while (s.ok() && cells.Valid()) {
    const size_t i = cells.index();
    const Condition& condition = conditions[i];
    s = ForEachVersion(cells.cell(), {condition.time_range, 1, wall_ms},
                       [&](uint64_t, std::string_view found) {
                         const int order = found.compare(condition.value);
                         const auto bit = order < 0    ? Comparison::kLess
                                          : order == 0 ? Comparison::kEqual
                                                       : Comparison::kGreater;
                         meets[i] = (static_cast<int>(condition.comparison) &
                                     static_cast<int>(bit)) != 0;
                       });
    if (s.ok()) s = cells.Next();
  }
  *met = std::find(meets.begin(), meets.end(), false) == meets.end();
  return s;
}

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

Status Store::CheckAndWrite(std::string_view row,
                            std::span<const Condition> conditions,
                            const WriteBatch& changes, bool* applied,
                            const WriteOptions& options) {
  return CatchExceptions([&] {
    return CheckAndWrite(row, conditions, changes.Changes(), applied, options);
  });
}

Status Store::CheckAndWrite(std::string_view row,
                            std::span<const Condition> conditions,
                            std::span<const Change> changes, bool* applied,
                            const WriteOptions& options) {
  *applied = false;
  return impl_->Change([&]() -> Status {
    for (const Change& change : changes) {
      if (change.row == row) continue;
      return InvalidArgument("a change of row \"", ToPrintable(change.row),
                             "\" after a look at row \"", ToPrintable(row),
                             "\"");
    }
    const Change at{.row = row};
    const RowLocks::Guard guard = impl_->writer.Lock({&at, 1});
    bool met = false;
    Status s = Check(impl_->opened, row, conditions, &met);
    if (!s.ok() || !met) return s;
    s = impl_->writer.Apply(guard, changes, options);
    *applied = s.ok();
    return s;
  });
}

Status Store::Increment(std::string_view row, std::string_view family,
                        std::string_view qualifier, int64_t delta, int64_t* sum,
                        const WriteOptions& options) {
  return impl_->Change([&]() -> Status {
    const std::string value = EncodeCounter(delta);
    const Change change{ChangeType::kIncrement, row, family, qualifier, value};
    std::string updated;
    const Status s = impl_->writer.Write({&change, 1}, options, &updated);
    if (s.ok() && sum != nullptr) DecodeCounter(updated, sum);
    return s;
  });
}

Status Store::Append(std::string_view row, std::string_view family,
                     std::string_view qualifier, std::string_view suffix,
                     std::string* joined, const WriteOptions& options) {
  return impl_->Change([&] {
    const Change change{ChangeType::kAppend, row, family, qualifier, suffix};
    return impl_->writer.Write({&change, 1}, options, joined);
  });
}

Status Store::Begin(std::unique_ptr<Transaction>* transaction) {
  return impl_->Change([&]() -> Status {
    if (!impl_->opened.options.transactions) {
      return NotSupported("a transaction: ", impl_->opened.path,
                          " is open without StoreOptions::transactions");
    }
    *transaction = std::make_unique<TrackedTransaction>(impl_.get());
    return Status::OK();
  });
}

}  // namespace rowbloom
