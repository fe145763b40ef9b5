#include "storage/store/writer.h"

#include <algorithm>
#include <string>

#include "rowbloom/cell.h"
#include "rowbloom/printable.h"
#include "storage/format/status_text.h"
#include "storage/store/cell_value.h"
#include "storage/store/metadata.h"
#include "storage/store/row_cells.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::SliceParts;
using rocksdb::Status;

// The end, exclusive, of the keys that start with `row_bytes`.
std::string RowEnd(std::string_view row_bytes) {
  std::string end = PrefixEnd(row_bytes);
  if (!end.empty()) return end;
  // Only the last row of a layout of fixed width is all ff: its keys are the
  // last ones, and a qualifier has a longest length.
  end = row_bytes;
  end.append(kMaxQualifierBytes + 1, '\xff');
  return end;
}

Status CheckTimestamp(uint64_t timestamp_ms) {
  if (timestamp_ms <= kMaxTimestampMs) return Status::OK();
  return InvalidArgument("timestamp ", timestamp_ms, ": expected at most ",
                         kMaxTimestampMs);
}

bool IsOfWholeRow(ChangeType type) {
  return IsDeleteOfRow(type) || type == ChangeType::kDeleteRow;
}

uint64_t Mix(uint64_t hash, uint64_t more) {
  return (hash ^ more) * 0x9E3779B97F4A7C15u;
}

// A row in a family, and a cell of it, as the stripe knows them.
uint64_t RowId(uint64_t row_hash, const Family& family) {
  return Mix(row_hash, family.handle()->GetID());
}
uint64_t CellId(uint64_t row_id, std::string_view qualifier) {
  return Mix(row_id, std::hash<std::string_view>()(qualifier));
}

}  // namespace

Status CheckChange(const Change& change) {
  switch (change.type) {
    case ChangeType::kPut:
      return Status::OK();
    case ChangeType::kDelete:
    case ChangeType::kDeleteVersion:
      break;
    case ChangeType::kDeleteFamily:
    case ChangeType::kDeleteFamilyVersion:
    case ChangeType::kDeleteRow:
      if (change.qualifier.empty()) break;
      return InvalidArgument("a delete of a family with the qualifier \"",
                             ToPrintable(change.qualifier),
                             "\": expected none");
    default:
      return InvalidArgument("a change of the unknown type ",
                             static_cast<int>(change.type));
  }
  if (change.value.empty()) return Status::OK();
  return Status::InvalidArgument("a delete with a value: expected none");
}

Status CheckPut(FamilyMap::const_iterator family, std::string_view qualifier,
                std::string_view value, std::optional<uint64_t> timestamp_ms) {
  Status s = CheckQualifier(qualifier);
  if (s.ok()) s = CheckSize("a value", value, kMaxValueBytes);
  if (!s.ok() || !timestamp_ms) return s;
  if (family->second.options.timestamps == Timestamps::kStore) {
    return InvalidArgument("family \"", family->first,
                           "\" has timestamps=store: a put takes no timestamp");
  }
  return CheckTimestamp(*timestamp_ms);
}

Status Writer::Apply(const RowLocks::Guard& guard,
                     std::span<const Change> changes,
                     const WriteOptions& options,
                     std::optional<uint64_t> replaces_ms) {
  if (changes.empty()) return Status::OK();
  const auto deletes = [](const Change& change) {
    return change.type != ChangeType::kPut;
  };
  Draft draft{
      .families = opened_.families->Get(),
      .default_timestamp_ms = options.timestamp_ms,
      .replaces_ms = replaces_ms,
      .looks_at_itself = changes.size() > 1 &&
                         std::any_of(changes.begin(), changes.end(), deletes)};
  LeasedClock& clock = opened_.shared->clock;
  draft.now_ms = clock.Now();
  guard.ForEach([&](RowLocks::Stripe* stripe) {
    const auto raised_ms = stripe->given.MoveTo(draft.now_ms);
    if (raised_ms) draft.now_ms = clock.RaiseTo(*raised_ms);
  });
  Status s;
  for (const Change& change : changes) {
    if (s.ok()) s = Add(change, &draft);
  }
  return s.ok() ? Commit(options.durability, &draft) : s;
}

Status Writer::Add(const Change& change, Draft* draft) {
  if (draft->row_bytes.empty() || change.row != draft->row) {
    Status s = opened_.EncodeRow(change.row, &draft->row_bytes);
    if (!s.ok()) return s;
    draft->row = change.row;
    draft->row_hash = RowLocks::HashOf(change.row);
    draft->stripe = &locks_.StripeOf(draft->row_hash);
  }
  Status s = CheckChange(change);
  if (!s.ok()) return s;
  if (change.type == ChangeType::kPut) {
    s = AddPut(change, draft);
  } else if (change.type == ChangeType::kDeleteRow) {
    for (auto family = draft->families->begin();
         s.ok() && family != draft->families->end(); ++family) {
      s = AddDelete(change, family, draft);
    }
  } else {
    FamilyMap::const_iterator family;
    s = opened_.FindFamily(*draft->families, change.family, &family);
    if (s.ok()) s = AddDelete(change, family, draft);
  }
  if (s.ok() && draft->batch.GetDataSize() > kMaxBatchBytes) {
    return InvalidArgument("a batch of more than ", kMaxBatchBytes,
                           " bytes: write fewer changes at once");
  }
  return s;
}

Status Writer::AddPut(const Change& change, Draft* draft) {
  const std::optional<uint64_t> given_ms = GivenTime(change, *draft);
  FamilyMap::const_iterator found;
  Status s = opened_.FindFamily(*draft->families, change.family, &found);
  if (s.ok()) s = CheckPut(found, change.qualifier, change.value, given_ms);
  if (!s.ok()) return s;
  const Family& family = found->second;
  if (family.format == CellFormat::kLatest) {
    const Slice key_parts[] = {draft->row_bytes, Slice(change.qualifier)};
    const SliceParts key(key_parts, 2);
    draft->last_ms = std::max(draft->last_ms, draft->now_ms);
    const auto head = EncodeCellHead(draft->now_ms);
    const Slice value_parts[] = {Slice(head.data(), head.size()),
                                 Slice(change.value)};
    return draft->batch.Put(family.handle(), key, SliceParts(value_parts, 2));
  }
  const uint64_t row = RowId(draft->row_hash, family);
  const uint64_t cell = CellId(row, change.qualifier);
  uint64_t timestamp_ms = given_ms.value_or(0);
  if (given_ms) {
    draft->stripe->given.NotePut(row, cell, *given_ms, draft->now_ms);
  } else {
    timestamp_ms = draft->stripe->given.Put(row, cell, draft->now_ms,
                                            draft->replaces_ms.has_value());
    draft->last_ms = std::max(draft->last_ms, timestamp_ms);
    // The application may have given this one.
    timestamp_ms = std::max(timestamp_ms, draft->replaces_ms.value_or(0));
  }
  if (opened_.shared->has_family_version_deletes) {
    RowDeletes row_deletes;
    s = FindRowDeletes(change.row, found, *draft, &row_deletes);
    // Written, it would take the place of a version that is to be seen.
    if (!s.ok() || row_deletes.TakesAt(timestamp_ms)) return s;
  }
  family.shared_rules->NotePut(timestamp_ms);
  return AddEntry(family, change.qualifier,
                  {ChangeType::kPut, timestamp_ms, change.value}, draft);
}

Status Writer::AddDelete(const Change& change, FamilyMap::const_iterator found,
                         Draft* draft) {
  const auto& [name, family] = *found;
  const std::optional<uint64_t> given_ms = GivenTime(change, *draft);
  Status s = CheckQualifier(change.qualifier);
  if (s.ok() && given_ms) s = CheckTimestamp(*given_ms);
  if (!s.ok()) return s;
  if (!given_ms && (change.type == ChangeType::kDeleteVersion ||
                    change.type == ChangeType::kDeleteFamilyVersion)) {
    return Status::InvalidArgument(
        "a delete of a version needs the version's timestamp");
  }
  if (family.format == CellFormat::kLatest) {
    if (!given_ms) return Remove(change, found, draft);
    return InvalidArgument("family \"", name,
                           "\" keeps the latest version only, by the store's "
                           "timestamps: a delete takes no timestamp");
  }
  const bool of_row = IsOfWholeRow(change.type);
  GivenTimes& given = draft->stripe->given;
  const uint64_t row = RowId(draft->row_hash, family);
  const uint64_t cell = CellId(row, change.qualifier);
  const auto note_given = [&](uint64_t timestamp_ms) {
    if (of_row) {
      given.NoteDeleteOfRow(row, timestamp_ms, draft->now_ms);
    } else {
      given.NoteDeleteOfCell(row, cell, timestamp_ms, draft->now_ms);
    }
  };
  if (given_ms) {
    note_given(*given_ms);
    return change.type == ChangeType::kDeleteFamilyVersion
               ? AddFamilyVersionDelete(change, found, *given_ms, draft)
               : AddMarker(change, family, *given_ms, draft);
  }
  if (family.options.timestamps == Timestamps::kClient) {
    // The store's time says nothing about those of the application.
    std::optional<uint64_t> newest_ms;
    s = FindNewestPut(change, found, *draft, &newest_ms);
    if (!s.ok() || !newest_ms) return s;
    // The next put may get this timestamp again.
    if (*newest_ms == draft->now_ms + GivenTimes::kMaxAheadMs) {
      s = Remove(change, found, draft);
      --*newest_ms;
    }
    note_given(*newest_ms);
    return s.ok() ? AddMarker(change, family, *newest_ms, draft) : s;
  }
  const GivenTimes::Delete marker =
      of_row ? given.DeleteRow(row, draft->now_ms)
             : given.DeleteCell(row, cell, draft->now_ms);
  draft->last_ms = std::max(draft->last_ms, marker.timestamp_ms);
  if (marker.remove) s = Remove(change, found, draft);
  return s.ok() ? AddMarker(change, family, marker.timestamp_ms, draft) : s;
}

Status Writer::AddMarker(const Change& change, const Family& family,
                         uint64_t timestamp_ms, Draft* draft) {
  const ChangeType type = change.type == ChangeType::kDeleteRow
                              ? ChangeType::kDeleteFamily
                              : change.type;
  if (Status s = AllowDelete(type); !s.ok()) return s;
  return AddEntry(family,
                  IsDeleteOfRow(type) ? std::string_view() : change.qualifier,
                  {type, timestamp_ms, {}}, draft);
}

Status Writer::AddEntry(const Family& family, std::string_view qualifier,
                        const Entry& entry, Draft* draft) {
  const uint32_t id = family.handle()->GetID();
  const uint64_t cell = CellId(RowId(draft->row_hash, family), qualifier);
  const auto key = [&] {
    return Draft::Key(id, draft->row_bytes + std::string(qualifier));
  };
  if (draft->stripe->updates.Add(cell)) {
    draft->joins.try_emplace(key(), Draft::Join{&family, draft->stripe, cell});
  }
  if (draft->looks_at_itself) {
    draft->entries[key()].push_back({entry.type, entry.timestamp_ms, {}});
  }
  const std::string head =
      entry.type == ChangeType::kPut
          ? EncodePutHead(entry.timestamp_ms, entry.value.size())
          : EncodeEntry(entry);
  const Slice key_parts[] = {draft->row_bytes, Slice(qualifier)};
  const Slice value_parts[] = {Slice(head), Slice(entry.value)};
  return draft->batch.Merge(family.handle(), SliceParts(key_parts, 2),
                            SliceParts(value_parts, 2));
}

Status Writer::AddFamilyVersionDelete(const Change& change,
                                      FamilyMap::const_iterator found,
                                      uint64_t timestamp_ms, Draft* draft) {
  const Family& family = found->second;
  const uint32_t id = family.handle()->GetID();
  Status s = AddMarker(change, family, timestamp_ms, draft);
  const auto take = [&](std::string_view qualifier) {
    Change one = change;
    one.type = ChangeType::kDeleteVersion;
    one.qualifier = qualifier;
    return AddMarker(one, family, timestamp_ms, draft);
  };
  const Entry put{ChangeType::kPut, timestamp_ms, {}};
  for (auto it = draft->entries.lower_bound({id, draft->row_bytes});
       s.ok() && it != draft->entries.end() && it->first.first == id; ++it) {
    const auto& [key, written] = *it;
    if (!key.second.starts_with(draft->row_bytes)) break;
    if (std::find(written.begin(), written.end(), put) != written.end()) {
      s = take(std::string_view(key.second).substr(draft->row_bytes.size()));
    }
  }
  if (!s.ok()) return s;
  RowCells cells(opened_, found, RowReads());
  s = cells.SeekRow(change.row, draft->row_bytes);
  for (; s.ok() && cells.Valid(); cells.Next()) {
    Entries entries;
    s = ReadEntries(cells.cell(), &entries);
    if (s.ok() &&
        std::binary_search(entries.begin(), entries.end(), put, ComesBefore)) {
      s = take(cells.qualifier());
    }
  }
  return s.ok() ? cells.status() : s;
}

Status Writer::Remove(const Change& change, FamilyMap::const_iterator found,
                      Draft* draft) {
  const Family& family = found->second;
  // The row's deletes are kept with the cell of the empty qualifier.
  RowDeletes row_deletes;
  Status s;
  if (family.format == CellFormat::kVersioned && change.qualifier.empty() &&
      !IsOfWholeRow(change.type)) {
    s = FindRowDeletes(change.row, found, *draft, &row_deletes);
  }
  if (!s.ok()) return s;
  const Slice key_parts[] = {draft->row_bytes, Slice(change.qualifier)};
  s = IsOfWholeRow(change.type)
          ? draft->batch.DeleteRange(family.handle(), draft->row_bytes,
                                     RowEnd(draft->row_bytes))
          : draft->batch.Delete(family.handle(), SliceParts(key_parts, 2));
  Change again = change;
  if (s.ok() && row_deletes.up_to_ms) {
    again.type = ChangeType::kDeleteFamily;
    s = AddMarker(again, family, *row_deletes.up_to_ms, draft);
  }
  again.type = ChangeType::kDeleteFamilyVersion;
  for (const uint64_t at_ms : row_deletes.at_ms) {
    if (s.ok()) s = AddMarker(again, family, at_ms, draft);
  }
  return s;
}

Status Writer::FindNewestPut(const Change& change,
                             FamilyMap::const_iterator family,
                             const Draft& draft,
                             std::optional<uint64_t>* newest_ms) const {
  const bool of_row = IsOfWholeRow(change.type);
  const auto note = [newest_ms](uint64_t timestamp_ms) {
    *newest_ms = std::max(*newest_ms, std::optional(timestamp_ms));
  };
  const std::string key = draft.row_bytes + std::string(change.qualifier);
  const uint32_t id = family->second.handle()->GetID();
  for (auto it = draft.entries.lower_bound({id, key});
       it != draft.entries.end() && it->first.first == id; ++it) {
    const std::string& of_batch = it->first.second;
    if (of_row ? !of_batch.starts_with(key) : of_batch != key) break;
    for (const Entry& entry : it->second) {
      if (entry.type == ChangeType::kPut) note(entry.timestamp_ms);
    }
  }
  VersionRules rules = family->second.rules;
  rules.ttl_ms = 0;
  RowCells cells(opened_, family, RowReads());
  Status s = cells.SeekRow(change.row, draft.row_bytes);
  if (!of_row) cells.Seek(change.qualifier);
  for (; s.ok() && cells.Valid(); cells.Next()) {
    if (!of_row && cells.qualifier() != change.qualifier) break;
    Entries entries;
    s = ReadEntries(cells.cell(), &entries);
    ForEachVisible(entries, cells.row_deletes(), rules, /*wall_ms=*/0,
                   [&](const Entry& newest) {
                     note(newest.timestamp_ms);
                     return false;
                   });
  }
  return s.ok() ? cells.status() : s;
}

Status Writer::FindRowDeletes(std::string_view row,
                              FamilyMap::const_iterator family,
                              const Draft& draft,
                              RowDeletes* row_deletes) const {
  const Status s = FindRowDeletes(row, family, draft.row_bytes, row_deletes);
  const auto of_batch =
      draft.entries.find({family->second.handle()->GetID(), draft.row_bytes});
  if (of_batch != draft.entries.end()) row_deletes->Add(of_batch->second);
  return s;
}

Status Writer::FindRowDeletes(std::string_view row,
                              FamilyMap::const_iterator family,
                              std::string_view row_bytes,
                              RowDeletes* row_deletes) const {
  row_deletes->clear();
  rocksdb::PinnableSlice value;
  Status s =
      opened_.database->Get(rocksdb::ReadOptions(), family->second.handle(),
                            Slice(row_bytes), &value);
  if (s.IsNotFound()) return Status::OK();
  if (!s.ok()) return s;
  return ReadRowDeletes({row, family, {}, value.ToStringView()}, row_deletes);
}

Status Writer::Commit(Durability durability, Draft* draft) {
  opened_.shared->clock.Note(draft->last_ms);
  // kSkipWal as well: what is flushed survives.
  Status s = CoverTimestamp(draft->last_ms);
  if (!s.ok()) return s;
  rocksdb::WriteOptions options;
  options.sync = durability == Durability::kSync;
  options.disableWAL = durability == Durability::kSkipWal;
  s = opened_.database->Write(options, &draft->batch);
  // The changes are written: a cell that is not joined only costs more.
  if (s.ok() && !draft->joins.empty()) {
    JoinOperands(options, *draft).PermitUncheckedError();
  }
  return s;
}

Status Writer::JoinOperands(rocksdb::WriteOptions options, const Draft& draft) {
  options.sync = false;
  Status s;
  // Each cell by itself, since together they may be larger than memory.
  for (const auto& [at, join] : draft.joins) {
    rocksdb::ColumnFamilyHandle* const family = join.family->handle();
    rocksdb::PinnableSlice value;
    s = opened_.database->Get(rocksdb::ReadOptions(), family, at.second,
                              &value);
    Entries entries;
    std::string problem;
    if (!s.ok() || !DecodeEntries(value.ToStringView(), &entries, &problem)) {
      continue;
    }
    for (const Entry& entry : entries) {
      if (entry.type == ChangeType::kPut) {
        join.family->shared_rules->NotePut(entry.timestamp_ms);
      }
    }
    s = opened_.database->Put(options, family, at.second, value);
    if (!s.ok()) return s;
    join.stripe->updates.Joined(join.cell, entries.size());
  }
  return s;
}

Status Writer::KeepBound(uint64_t bound_ms, bool sync) {
  rocksdb::WriteBatch batch;
  Status s = PutClockRecord(bound_ms, &batch);
  rocksdb::WriteOptions options;
  options.sync = sync;
  if (s.ok()) s = opened_.database->Write(options, &batch);
  if (s.ok()) opened_.shared->clock.Kept(bound_ms);
  return s;
}

Status Writer::CoverTimestamp(uint64_t timestamp_ms) {
  const LeasedClock& clock = opened_.shared->clock;
  if (!clock.BoundToKeep(timestamp_ms)) return Status::OK();
  const std::lock_guard lock(records_mutex_);
  const auto bound_ms = clock.BoundToKeep(timestamp_ms);
  if (!bound_ms) return Status::OK();  // another writer did
  return KeepBound(*bound_ms, /*sync=*/false);
}

Status Writer::KeepExactBound() {
  const auto bound_ms = opened_.shared->clock.ExactBound();
  return bound_ms ? KeepBound(*bound_ms, /*sync=*/false) : Status::OK();
}

Status Writer::ResetClock() {
  const RowLocks::Guard no_writes = LockAll();
  const std::lock_guard no_records(records_mutex_);
  LeasedClock& clock = opened_.shared->clock;
  const uint64_t wall_ms = clock.WallNow();
  Status s = KeepBound(wall_ms, /*sync=*/true);
  if (!s.ok()) return s;
  clock.Start(wall_ms);
  no_writes.ForEach([](RowLocks::Stripe* stripe) { stripe->given.Clear(); });
  return s;
}

Status Writer::AllowDelete(ChangeType type) {
  SharedState& shared = *opened_.shared;
  const bool of_version = type == ChangeType::kDeleteFamilyVersion;
  const auto is_allowed = [&] {
    return !IsDeleteOfRow(type) ||
           (shared.has_row_deletes &&
            (!of_version || shared.has_family_version_deletes));
  };
  if (is_allowed()) return Status::OK();
  const std::lock_guard lock(records_mutex_);
  if (is_allowed()) return Status::OK();
  const bool of_versions = of_version || shared.has_family_version_deletes;
  rocksdb::WriteBatch batch;
  Status s = PutStoreRecord({opened_.key_layout(),
                             /*row_deletes=*/true, of_versions},
                            &batch);
  rocksdb::WriteOptions options;
  options.sync = true;
  if (s.ok()) s = opened_.database->Write(options, &batch);
  if (!s.ok()) return s;
  shared.has_family_version_deletes = of_versions;
  shared.has_row_deletes = true;
  return s;
}

}  // namespace rowbloom
