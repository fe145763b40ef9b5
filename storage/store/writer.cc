#include "storage/store/writer.h"

#include <algorithm>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include "lib/block/hash.h"
#include "lib/layout/key_range.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "rocksdb/write_batch.h"
#include "rowbloom/cell.h"
#include "rowbloom/printable.h"
#include "storage/cells/cell_value.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/store/changed_cells.h"
#include "storage/store/metadata.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::SliceParts;
using rocksdb::Status;

// The sizes of a RocksDB batch's head, and of the parts of its records that
// vary little: type, family, lengths, and the head of a value.
constexpr size_t kBatchHeadBytes = 12;
constexpr size_t kRecordBytes = 24;

// Estimates the bytes of a batch of changes. 0: it is too large, and is refused
// later.
size_t BatchBytes(std::span<const Change> changes) {
  size_t bytes = kBatchHeadBytes;
  for (const Change& change : changes) {
    bytes += kRecordBytes + change.row.size() + change.qualifier.size() +
             change.value.size();
  }
  return bytes <= kMaxBatchBytes ? bytes : 0;
}

Status CheckTimestamp(uint64_t timestamp_ms) {
  if (timestamp_ms <= kMaxTimestampMs) return Status::OK();
  return InvalidArgument("timestamp ", timestamp_ms, ": expected at most ",
                         kMaxTimestampMs);
}

}  // namespace

Status CheckChange(const Change& change) {
  const ChangeType type = change.type;
  if (TakesTtl(type)) {
    if (change.ttl_ms.value_or(0) <= kMaxTimestampMs) return Status::OK();
    return InvalidArgument("a TTL of ", *change.ttl_ms,
                           " ms: expected at most ", kMaxTimestampMs);
  }
  const bool of_all_families = type == ChangeType::kDeleteRow;
  const bool of_row = IsOfWholeRow(type);
  if (!of_row && !IsEntryType(type) && type != ChangeType::kRemove) {
    return InvalidArgument("a change of the unknown type ",
                           static_cast<int>(type));
  }
  if (of_row && !change.qualifier.empty()) {
    return InvalidArgument("a delete of a family with the qualifier \"",
                           ToPrintable(change.qualifier), "\": expected none");
  }
  if (of_all_families && !change.family.empty()) {
    return InvalidArgument("a delete of a row with the ",
                           QuotedFamily(change.family), ": expected none");
  }
  if (change.value.empty() && !change.ttl_ms) return Status::OK();
  return InvalidArgument("a delete with a ", change.ttl_ms ? "TTL" : "value",
                         ": expected none");
}

Status CheckPut(FamilyMap::const_iterator family, std::string_view qualifier,
                std::string_view value, std::optional<uint64_t> timestamp_ms) {
  if (Status s = CheckQualifier(qualifier); !s.ok()) return s;
  if (Status s = CheckSize("a value", value, kMaxValueBytes);
      !s.ok() || !timestamp_ms) {
    return s;
  }
  if (family->second.options.timestamps == Timestamps::kStore) {
    return InvalidArgument(QuotedFamily(family->first),
                           " has timestamps=store: a put takes no timestamp");
  }
  return CheckTimestamp(*timestamp_ms);
}

// Turns the changes of one Apply into a RocksDB batch.
class Writer::Draft {
 public:
  // REQUIRES that `guard` has locked the rows of all changes. `families`
  // outlive it. `transaction` has the batch, unless it is null. `snapshot` is
  // for Read, unless it is null: then the changes are of one row, only Read may
  // follow Add, and no note of the changes is kept.
  Draft(Writer* writer, const RowLocks::Guard& guard, const FamilyMap& families,
        std::span<const Change> changes, rocksdb::Transaction* transaction,
        const rocksdb::Snapshot* snapshot)
      : writer_(*writer),
        opened_(writer->opened_),
        families_(families),
        transaction_(transaction),
        cells_(opened_, changes, snapshot),
        own_batch_(transaction == nullptr ? BatchBytes(changes) : 0),
        batch_(transaction == nullptr
                   ? &own_batch_
                   : transaction->GetWriteBatch()->GetWriteBatch()) {
    LeasedClock& clock = opened_.shared->clock;
    now_ms_ = snapshot == nullptr ? clock.Now() : clock.Peek();
    if (snapshot != nullptr) only_read_.emplace();
    guard.ForEach([this](RowLocks::Stripe* stripe) {
      if (!only_read_) return Forget(stripe);
      only_read_->given = stripe->given;
    });
  }

  // The change's views must outlive it.
  Status Add(const Change& change) {
    if (Status s = Enter(change.row); !s.ok()) return s;
    if (Status s = CheckChange(change); !s.ok()) return s;
    Status s = change.type == ChangeType::kDeleteRow ? AddDeleteRow(change)
                                                     : AddToFamily(change);
    return s.ok() ? CheckBatch() : s;
  }

  // Reads the newest value of a cell after the changes. nullopt: there is none.
  Status Read(const Change& at, std::optional<std::string>* value) {
    NewestCell cell;
    Status s = Enter(at.row);
    if (s.ok()) s = opened_.FindFamily(families_, at.family, &at_.family);
    if (s.ok()) s = FindNewest(at.qualifier, &cell);
    if (!s.ok()) return s;
    value->reset();
    if (cell.newest) value->emplace(cell.newest->value);
    return s;
  }

  // The value of the last increment or append. REQUIRES that there is one.
  std::string TakeUpdated() { return std::move(updated_.back()); }

  Status Commit(Durability durability, const RowLocks::Guard& guard) {
    if (Status s = writer_.Announce(rare_kinds_); !s.ok()) return s;
    LeasedClock& clock = opened_.shared->clock;
    clock.Note(last_ms_);
    // Otherwise a large batch would keep memory until the stripe's next write.
    guard.ForEach([&](RowLocks::Stripe* stripe) {
      if (!stripe->given.IsFull()) return;
      now_ms_ = clock.Now();
      Forget(stripe);
    });
    // kSkipWal writes need this, too: once flushed, they survive a crash.
    if (Status s = writer_.CoverTimestamp(last_ms_); !s.ok()) return s;
    rocksdb::WriteOptions options;
    options.sync = durability == Durability::kSync;
    options.disableWAL =
        durability == Durability::kSkipWal && writer_.log_all_ == 0;
    Status s;
    if (transaction_ != nullptr) {
      transaction_->SetWriteOptions(options);
      s = transaction_->Commit();
    } else {
      // A database with transactions would refuse a wide write.
      s = opened_.database->GetRootDB()->Write(options, batch_);
    }
    // After other errors the batch may have been written.
    const bool was_refused = s.IsBusy() || s.IsTryAgain();
    if (is_wide_ && !was_refused) guard.NoteWideWrite();
    for (SharedRules* const rules : family_version_deletes_) {
      rules->NoteFamilyVersionDelete();
    }
    if (!s.ok()) {
      // RocksDB's error may only say that it waited, or had an earlier error.
      Status stopped = opened_.CheckWritable();
      return stopped.ok() ? s : stopped;
    }
    options.sync = false;
    // Ignores errors: a caller may repeat a failed write, and this is written.
    CatchExceptions([&] {
      return JoinOperands(options);
    }).PermitUncheckedError();
    return s;
  }

 private:
  // A cell, and the newest version that it shows.
  struct NewestCell : ChangedCells::Cell {
    RowDeletes row_deletes;
    std::optional<Entry> newest;
  };

  Status CheckBatch() const {
    if (batch_->GetDataSize() <= kMaxBatchBytes) return Status::OK();
    return InvalidArgument("a batch of more than ", kMaxBatchBytes,
                           " bytes: write fewer changes at once");
  }

  // Forgets assigned timestamps that no longer matter.
  void Forget(RowLocks::Stripe* stripe) {
    const auto raised_ms = stripe->given.MoveTo(now_ms_);
    if (raised_ms) now_ms_ = opened_.shared->clock.RaiseTo(*raised_ms);
  }

  std::optional<Entry> Newest(const NewestCell& cell,
                              const VersionRules& rules) const {
    std::optional<Entry> newest;
    ForEachVisible(cell.entries, cell.row_deletes, rules,
                   opened_.shared->clock.WallNow(), [&](const Entry& entry) {
                     newest = entry;
                     return false;
                   });
    return newest;
  }

  // Tells whether there may be such entries, those of the batch included.
  bool MayHave(RareKinds kinds) const {
    return opened_.shared->MayHave(kinds) || (rare_kinds_ & kinds) != 0;
  }

  // Begins a row, or continues with it.
  Status Enter(std::string_view row) {
    if (!at_.bytes.empty() && row == at_.row) return Status::OK();
    if (Status s = opened_.EncodeRow(row, &at_.bytes); !s.ok()) return s;
    at_.row = row;
    at_.hash = HashRow(row);
    stripe_ = only_read_ ? &*only_read_ : &writer_.locks.StripeOf(at_.hash);
    return Status::OK();
  }

  const Family& family() const { return at_.family->second; }
  std::string Describe(std::string_view qualifier) const {
    return rowbloom::Describe(at_.row, at_.family->first, qualifier);
  }
  // Identifies the row in the family for its stripe. A cell is identified by
  // the hash of its qualifier, seeded with this one.
  uint64_t RowId() const { return at_.hash ^ at_.family_id(); }

  Status FindNewest(std::string_view qualifier, NewestCell* cell) {
    // Compactions, which keep no expired entry for a snapshot, remove a delete
    // after what it takes.
    Status s = cells_.FindRowDeletes(at_, &cell->row_deletes);
    if (s.ok()) s = cells_.Find(at_, qualifier, cell);
    if (s.ok()) cell->newest = Newest(*cell, family().rules());
    return s;
  }

  Status AddDeleteRow(Change change) {
    change.type = ChangeType::kDeleteFamily;
    Status s;
    at_.family = families_.begin();
    for (; s.ok() && at_.family != families_.end(); ++at_.family) {
      s = AddDelete(change);
    }
    return s;
  }

  Status AddToFamily(const Change& change) {
    Status s = opened_.FindFamily(families_, change.family, &at_.family);
    if (!s.ok()) return s;
    if (IsUpdate(change.type)) return AddUpdate(change);
    return change.type == ChangeType::kPut ? AddPut(change) : AddDelete(change);
  }

  // Puts the result of an increment or an append on the newest value.
  Status AddUpdate(Change change) {
    NewestCell cell;
    Status s = FindNewest(change.qualifier, &cell);
    if (!s.ok()) return s;
    const std::optional<Entry>& before = cell.newest;
    std::string& value =
        updated_.emplace_back(before ? before->value : std::string_view());
    if (change.type == ChangeType::kAppend) {
      value.append(change.value);
    } else {
      s = Increment(change.value, before.has_value(), &value);
    }
    if (!s.ok()) return Prefixed(Describe(change.qualifier), s);
    change.type = ChangeType::kPut;
    change.value = value;
    if (before && before->ttl_ms != kNoTtl && !change.ttl_ms) {
      change.ttl_ms = before->ttl_ms;
    }
    return AddPut(change, &cell);
  }

  // Adds the put to the cell. InvalidArgument: it would not be the newest
  // version, and the increment or append would be lost.
  Status CheckNewest(const Change& put, uint64_t timestamp_ms,
                     NewestCell* cell) const {
    Entry entry = PutOf(put, timestamp_ms);
    VersionRules rules = family().rules();
    // A put of the present time is not lost if it expires at once, or soon.
    if (!put.timestamp_ms) {
      entry.ttl_ms = kNoTtl;
      rules.ttl_ms = 0;
    }
    cell->entries = ApplyOperand(cell->entries, {entry}, rules);
    const std::optional<Entry> after = Newest(*cell, rules);
    if (after && after->timestamp_ms == timestamp_ms) return Status::OK();
    return Prefixed(
        Describe(put.qualifier),
        InvalidArgument("a version at ", timestamp_ms,
                        " would not be the newest: a newer one or a delete "
                        "hides it, or it has expired"));
  }

  static Status Increment(std::string_view delta_bytes, bool found,
                          std::string* value) {
    int64_t delta = 0;
    int64_t counter = 0;
    int64_t sum = 0;
    if (!DecodeCounter(delta_bytes, &delta)) {
      return InvalidArgument("an increment by a value of ", delta_bytes.size(),
                             " bytes: expected 8");
    }
    if (found && !DecodeCounter(*value, &counter)) {
      return InvalidArgument("a counter of ", value->size(),
                             " bytes: expected 8");
    }
    if (__builtin_add_overflow(counter, delta, &sum)) {
      return InvalidArgument("a counter of ", counter, " plus ", delta,
                             " does not fit into 8 bytes");
    }
    *value = EncodeCounter(sum);
    return Status::OK();
  }

  // `updated` is the cell of an increment or an append. Its put may replace the
  // version that it found.
  Status AddPut(const Change& change, NewestCell* updated = nullptr) {
    Status s = CheckPut(at_.family, change.qualifier, change.value,
                        change.timestamp_ms);
    if (!s.ok()) return s;
    if (family().format == CellFormat::kLatest) {
      last_ms_ = std::max(last_ms_, now_ms_);
      return AddEntry(change.qualifier, PutOf(change, now_ms_));
    }
    const uint64_t row = RowId();
    const uint64_t cell = HashRowCol(row, change.qualifier);
    uint64_t timestamp_ms = change.timestamp_ms.value_or(0);
    if (change.timestamp_ms) {
      if (stripe_->given.NotePut(row, cell, timestamp_ms, now_ms_)) {
        last_ms_ = std::max(last_ms_, timestamp_ms);
      }
    } else {
      const bool replaces = updated != nullptr && updated->newest;
      timestamp_ms = stripe_->given.Put(row, cell, now_ms_, replaces);
      last_ms_ = std::max(last_ms_, timestamp_ms);
      // The application may have assigned this one.
      if (replaces) {
        timestamp_ms = std::max(timestamp_ms, updated->newest->timestamp_ms);
      }
    }
    if (updated != nullptr) {
      s = CheckNewest(change, timestamp_ms, updated);
      if (!s.ok()) return s;
    }
    if (MayHave(kFamilyVersionDeletes)) {
      RowDeletes row_deletes;
      s = cells_.FindRowDeletes(at_, &row_deletes);
      // A put that is deleted would push out a visible version.
      if (!s.ok() || row_deletes.TakesAt(timestamp_ms)) return s;
    }
    if (!only_read_) family().shared_rules->oldest_put.Note(timestamp_ms);
    return AddEntry(change.qualifier, PutOf(change, timestamp_ms));
  }

  static Entry PutOf(const Change& change, uint64_t timestamp_ms) {
    return {ChangeType::kPut, timestamp_ms, change.value,
            change.ttl_ms.value_or(kNoTtl)};
  }

  Status CheckDelete(const Change& change) const {
    Status s = CheckQualifier(change.qualifier);
    if (!s.ok()) return s;
    if (!change.timestamp_ms) {
      return change.type == ChangeType::kDeleteVersion ||
                     change.type == ChangeType::kDeleteFamilyVersion
                 ? Status::InvalidArgument(
                       "a delete of a version needs the version's timestamp")
                 : s;
    }
    s = CheckTimestamp(*change.timestamp_ms);
    if (!s.ok()) return s;
    if (IsRemoval(change.type)) {
      return Status::InvalidArgument("a removal takes no timestamp");
    }
    if (family().format != CellFormat::kLatest) return s;
    return InvalidArgument(QuotedFamily(at_.family->first),
                           " keeps the latest version only, by the store's "
                           "timestamps: a delete takes no timestamp");
  }

  // Adds a delete inside one family.
  Status AddDelete(const Change& change) {
    Status s = CheckDelete(change);
    if (!s.ok()) return s;
    if (IsRemoval(change.type) || family().format == CellFormat::kLatest) {
      return Remove(change, std::nullopt);
    }
    if (change.timestamp_ms) {
      s = AddDeleteAt(*change.timestamp_ms, change);
      if (!s.ok() || change.type != ChangeType::kDeleteFamilyVersion) return s;
      family_version_deletes_.push_back(family().shared_rules.get());
      return DeleteInAllColumns(change);
    }
    return family().options.timestamps == Timestamps::kClient
               ? AddDeleteOfNewest(change)
               : AddDeleteOfAll(change);
  }

  // The id by which GivenTimes notes a delete: of the row, or of a cell.
  uint64_t IdOf(const Change& change) const {
    return IsOfWholeRow(change.type) ? RowId()
                                     : HashRowCol(RowId(), change.qualifier);
  }

  Status AddDeleteAt(uint64_t timestamp_ms, const Change& change) {
    if (stripe_->given.NoteDelete(RowId(), IdOf(change), timestamp_ms,
                                  now_ms_)) {
      last_ms_ = std::max(last_ms_, timestamp_ms);
    }
    return AddEntry(change.qualifier, {change.type, timestamp_ms});
  }

  // Adds a delete with the newest put's timestamp: the store's time does not
  // bound the application's timestamps.
  Status AddDeleteOfNewest(const Change& change) {
    std::optional<uint64_t> newest_ms;
    Status s = FindNewestPut(change, &newest_ms);
    if (!s.ok() || !newest_ms) return s;
    // The next put may be assigned this timestamp again.
    const uint64_t last_ms = now_ms_ + GivenTimes::kMaxAheadMs;
    if (*newest_ms == last_ms || *newest_ms == last_ms + 1) {
      *newest_ms = last_ms - 1;
      s = Remove(change, *newest_ms);
    }
    return s.ok() ? AddDeleteAt(*newest_ms, change) : s;
  }

  // Adds a delete with the store's timestamp.
  Status AddDeleteOfAll(const Change& change) {
    GivenTimes::Marker marker =
        stripe_->given.Delete(RowId(), IdOf(change), now_ms_);
    last_ms_ = std::max(last_ms_, marker.timestamp_ms);
    Status s;
    if (MayHave(kLaterPuts)) {
      s = cells_.ForEach(
          at_, change,
          [&](std::string_view /*qualifier*/, const ChangedCells::Cell& found) {
            for (const Entry& entry : found.entries) {
              marker.remove |= entry.timestamp_ms > marker.timestamp_ms;
            }
          });
    }
    if (s.ok() && marker.remove) s = Remove(change, marker.timestamp_ms);
    return s.ok()
               ? AddEntry(change.qualifier, {change.type, marker.timestamp_ms})
               : s;
  }

  // Adds an entry to a cell of the row. In a `latest` family it is a put, which
  // replaces the cell.
  Status AddEntry(std::string_view qualifier, const Entry& entry) {
    // A delete may add entries to all columns of a row.
    if (Status s = CheckBatch(); !s.ok()) return s;
    rare_kinds_ |= RareKindsOf(entry);
    cells_.Note(at_, qualifier, entry);
    const bool is_latest = family().format == CellFormat::kLatest;
    const std::string head =
        is_latest ? EncodeCellHead(entry.timestamp_ms, entry.ttl_ms)
                  : EncodeEntryHead(entry);
    const Slice key_parts[] = {at_.bytes, Slice(qualifier)};
    const Slice value_parts[] = {Slice(head), Slice(entry.value)};
    const SliceParts key(key_parts, 2);
    const SliceParts value(value_parts, 2);
    if (is_latest) return batch_->Put(family().handle(), key, value);
    const uint64_t cell = HashRowCol(RowId(), qualifier);
    if (!only_read_ && family().shared_rules->updates.Add(cell)) {
      joins_[{&family(), at_.KeyOf(qualifier).second}] = cell;
    }
    return batch_->Merge(family().handle(), key, value);
  }

  // Adds a kDeleteVersion for each version that a kDeleteFamilyVersion takes,
  // so that these versions push out no others.
  Status DeleteInAllColumns(const Change& change) {
    Status added;
    const Status s = cells_.ForEach(
        at_, change,
        [&](std::string_view qualifier, const ChangedCells::Cell& cell) {
          for (const Entry& entry : cell.entries) {
            if (added.ok() && entry.type == ChangeType::kPut &&
                entry.timestamp_ms == change.timestamp_ms) {
              added = AddEntry(
                  qualifier, {ChangeType::kDeleteVersion, entry.timestamp_ms});
            }
          }
        });
    return s.ok() ? added : s;
  }

  // Removes all that RocksDB has of a cell, or of the row in a family, for a
  // delete with the timestamp `marker_ms`. nullopt: the delete is of a `latest`
  // family, or a removal. Deletes with later timestamps stay, as they take
  // other puts. If a cell is removed, deletes of the row stay, too.
  Status Remove(const Change& change, std::optional<uint64_t> marker_ms) {
    KeptDeletes kept;
    Status s;
    if (family().format == CellFormat::kVersioned) {
      s = FindKeptDeletes(change, marker_ms, &kept);
    }
    if (!s.ok()) return s;
    if (IsOfWholeRow(change.type)) {
      cells_.NoteRowRemoval(at_);
      is_wide_ = true;
      // A transaction's own may never be written.
      if (!only_read_) family().shared_rules->may_have_range_deletions = true;
      s = batch_->DeleteRange(family().handle(), at_.bytes,
                              RowEnd(at_.bytes, kMaxQualifierBytes));
    } else {
      cells_.NoteRemoval(at_, change.qualifier);
      const Slice key_parts[] = {at_.bytes, Slice(change.qualifier)};
      s = batch_->Delete(family().handle(), SliceParts(key_parts, 2));
    }
    for (const auto& [qualifier, entry] : kept) {
      if (s.ok()) s = AddEntry(qualifier, entry);
    }
    return s;
  }

  // The deletes that Remove writes again, with their qualifiers.
  using KeptDeletes = std::vector<std::pair<std::string, Entry>>;
  Status FindKeptDeletes(const Change& change,
                         std::optional<uint64_t> marker_ms, KeptDeletes* kept) {
    // The store's own deletes may be later if its clock was ahead (kLaterPuts).
    // They would take its next puts, and are not kept.
    const bool keeps_later =
        marker_ms && (family().options.timestamps == Timestamps::kClient ||
                      !MayHave(kLaterPuts));
    const auto is_later = [&](uint64_t timestamp_ms) {
      return keeps_later && timestamp_ms > *marker_ms;
    };
    Status s = cells_.ForEach(
        at_, change,
        [&](std::string_view qualifier, const ChangedCells::Cell& cell) {
          for (const Entry& entry : cell.entries) {
            if (is_later(entry.timestamp_ms) &&
                (entry.type == ChangeType::kDelete ||
                 entry.type == ChangeType::kDeleteVersion)) {
              kept->emplace_back(qualifier, entry);
            }
          }
        });
    // The row's deletes are kept with the cell of the empty qualifier.
    if (!s.ok() || !change.qualifier.empty()) return s;
    RowDeletes row_deletes;
    s = cells_.FindRowDeletes(at_, &row_deletes);
    // A compaction may still apply a removed delete of the row, unless a record
    // forbids it. Without the record, deletes up to the store's time stay, as
    // the next delete covers them. Later ones are removed once it is written.
    RareKinds found = 0;
    const auto keep = [&](ChangeType type, uint64_t timestamp_ms) {
      if (!IsOfWholeRow(change.type) || is_later(timestamp_ms) ||
          (!marker_ms && !MayHave(kLaterPuts) &&
           timestamp_ms <= now_ms_ + GivenTimes::kMaxAheadMs)) {
        kept->emplace_back("", Entry{type, timestamp_ms, {}});
      } else if (!marker_ms || timestamp_ms > *marker_ms) {
        found = kLaterPuts;
        // A load may have left out puts that the removed delete, or one that it
        // replaced, would take.
        if (MayHave(kFamilyVersionDeletes)) {
          family_version_deletes_.push_back(family().shared_rules.get());
        }
      }
    };
    if (row_deletes.up_to_ms) {
      keep(ChangeType::kDeleteFamily, *row_deletes.up_to_ms);
    }
    for (const uint64_t at_ms : row_deletes.at_ms) {
      keep(ChangeType::kDeleteFamilyVersion, at_ms);
    }
    rare_kinds_ |= found;
    return s;
  }

  // Finds the newest timestamp of the versions that a delete is to take,
  // expired ones included. nullopt: there are none.
  Status FindNewestPut(const Change& change,
                       std::optional<uint64_t>* newest_ms) {
    VersionRules rules = family().rules();
    rules.ttl_ms = 0;
    RowDeletes row_deletes;
    if (Status s = cells_.FindRowDeletes(at_, &row_deletes); !s.ok()) return s;
    return cells_.ForEach(
        at_, change,
        [&](std::string_view /*qualifier*/, ChangedCells::Cell& cell) {
          for (Entry& entry : cell.entries) entry.ttl_ms = kNoTtl;
          ForEachVisible(cell.entries, row_deletes, rules, /*wall_ms=*/0,
                         [newest_ms](const Entry& newest) {
                           *newest_ms = std::max(
                               *newest_ms, std::optional(newest.timestamp_ms));
                           return false;
                         });
        });
  }

  // Replaces the merge operands of cells by their merged values. The changes
  // are written: a cell that is not joined only costs more.
  Status JoinOperands(const rocksdb::WriteOptions& options) {
    // Cells are joined one by one, as together they may be larger than memory.
    for (const auto& [at, cell] : joins_) {
      const auto& [family, key] = at;
      rocksdb::PinnableSlice value;
      Entries entries;
      std::string problem;
      if (!opened_.database
               ->Get(rocksdb::ReadOptions(), family->handle(), key, &value)
               .ok() ||
          !DecodeEntries(value.ToStringView(), &entries, &problem)) {
        continue;
      }
      for (const Entry& entry : entries) {
        if (entry.type == ChangeType::kPut) {
          family->shared_rules->oldest_put.Note(entry.timestamp_ms);
        }
      }
      // Compactions may have removed expired puts since they were read, and the
      // deletes that took them before the puts were noted. By this later time
      // such puts have expired, too, and are not written again.
      std::string rest;
      Slice written(value.data(), value.size());
      if (RemoveDead(family->shared_rules->Get(),
                     {.wall_ms = opened_.shared->clock.WallNow()}, &entries)) {
        rest = EncodeEntries(entries);
        written = rest;
      }
      Status s = opened_.database->Put(options, family->handle(), key, written);
      if (!s.ok()) return s;
      family->shared_rules->updates.Joined(cell, entries.size());
    }
    return Status::OK();
  }

  // The stripe of a Draft that only reads, in place of the row's. It is the
  // first member, as it is aligned to cache lines.
  std::optional<RowLocks::Stripe> only_read_;
  Writer& writer_;
  const OpenedStore& opened_;
  const FamilyMap& families_;
  rocksdb::Transaction* const transaction_;
  ChangedCells cells_;
  uint64_t now_ms_ = 0;
  uint64_t last_ms_ = 0;  // the clock's bound has to cover it
  RowOfFamily at_;        // of the change; no row if it has no bytes
  RowLocks::Stripe* stripe_ = nullptr;  // that row's
  rocksdb::WriteBatch own_batch_;
  rocksdb::WriteBatch* const batch_;
  // Most writes leave these empty:
  // The cells whose merge operands are to be joined after the write, by family
  // and key, as hashes for UpdateCounts.
  std::map<std::pair<const Family*, std::string>, uint64_t> joins_;
  std::list<std::string> updated_;  // values of increments and appends
  // The family of each kDeleteFamilyVersion, and of each removed one.
  std::vector<SharedRules*> family_version_deletes_;
  RareKinds rare_kinds_ = 0;  // of the entries
  bool is_wide_ = false;      // NoteWideWrite
};

Status Writer::Apply(const RowLocks::Guard& guard,
                     std::span<const Change> changes,
                     const WriteOptions& options, std::string* updated,
                     rocksdb::Transaction* transaction) {
  if (changes.empty()) return Status::OK();
  // An error may have stopped the store while the caller waited for the rows.
  if (Status s = opened_.CheckWritable(); !s.ok()) return s;
  Draft draft(this, guard, opened_.families->Unshared(), changes, transaction,
              /*snapshot=*/nullptr);
  for (Change change : changes) {
    if (!change.timestamp_ms) change.timestamp_ms = options.timestamp_ms;
    if (!change.ttl_ms && TakesTtl(change.type)) change.ttl_ms = options.ttl_ms;
    if (Status s = draft.Add(change); !s.ok()) return s;
  }
  Status s = draft.Commit(options.durability, guard);
  if (s.ok() && updated != nullptr) *updated = draft.TakeUpdated();
  return s;
}

Status Writer::ReadThrough(std::span<const Change> changes,
                           const StoreSnapshot& snapshot, const Change& at,
                           std::optional<std::string>* value) {
  const RowLocks::Guard guard = locks.Lock(changes);
  Draft draft(this, guard, *snapshot.families(), changes,
              /*transaction=*/nullptr, snapshot.get());
  Status s;
  for (const Change& change : changes) {
    if (s.ok()) s = draft.Add(change);
  }
  return s.ok() ? draft.Read(at, value) : s;
}

Status Writer::KeepBound(uint64_t bound_ms, bool sync) {
  rocksdb::WriteBatch batch;
  PutClockRecord(bound_ms, &batch);
  Status s = sync ? opened_.database.WriteSynced(&batch)
                  : opened_.database->Write({}, &batch);
  if (s.ok()) opened_.shared->clock.Kept(bound_ms);
  return s;
}

Status Writer::CoverTimestamp(uint64_t timestamp_ms) {
  const LeasedClock& clock = opened_.shared->clock;
  if (!clock.BoundToKeep(timestamp_ms)) return Status::OK();
  const std::lock_guard lock(records_mutex);
  const auto bound_ms = clock.BoundToKeep(timestamp_ms);
  if (!bound_ms) return Status::OK();  // another writer did
  return KeepBound(*bound_ms, /*sync=*/false);
}

Status Writer::KeepExactBound() {
  const auto bound_ms = opened_.shared->clock.ExactBound();
  return bound_ms ? KeepBound(*bound_ms, /*sync=*/false) : Status::OK();
}

Status Writer::ResetClock() {
  const RowLocks::Guard no_writes = locks.LockAll();
  no_writes.NoteWideWrite();
  Status s = Announce(kLaterPuts);
  if (!s.ok()) return s;
  const std::lock_guard no_records(records_mutex);
  LeasedClock& clock = opened_.shared->clock;
  const uint64_t wall_ms = clock.WallNow();
  s = KeepBound(wall_ms, /*sync=*/true);
  if (!s.ok()) return s;
  clock.Start(wall_ms);
  no_writes.ForEach([&clock, wall_ms](RowLocks::Stripe* stripe) {
    clock.Note(stripe->given.ForgetBeyond(wall_ms));
  });
  return KeepExactBound();  // a busy cell may be ahead
}

Status Writer::Announce(RareKinds kinds) {
  std::atomic<RareKinds>& known = opened_.shared->rare_kinds;
  if ((kinds & ~known) == 0) return Status::OK();
  const std::lock_guard lock(records_mutex);
  const StoreRecord record{opened_.key_layout(),
                           static_cast<RareKinds>(known | kinds)};
  rocksdb::WriteBatch batch;
  PutStoreRecord(record, &batch);
  Status s = opened_.database.WriteSynced(&batch);
  if (s.ok()) known = record.rare_kinds;
  return s;
}

}  // namespace rowbloom
