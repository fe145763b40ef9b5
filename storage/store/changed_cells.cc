#include "storage/store/changed_cells.h"

#include "storage/store/stored_cell.h"

namespace rowbloom {
namespace {

using rocksdb::Status;

// This type stands in the place of an entry: all before it is removed.
constexpr ChangeType kRemoval = ChangeType::kDeleteRow;

}  // namespace

ChangedCells::ChangedCells(const OpenedStore& opened,
                           std::span<const Change> changes,
                           const rocksdb::Snapshot* snapshot)
    : opened_(opened) {
  options_.snapshot = snapshot;
  const bool reads = snapshot != nullptr;
  looks_at_cells_ = looks_at_values_ = reads;
  if (reads || changes.size() < 2) return;
  for (const Change& change : changes) {
    looks_at_cells_ |= change.type != ChangeType::kPut;
    looks_at_values_ |= IsUpdate(change.type);
  }
}

void ChangedCells::Note(const RowOfFamily& at, std::string_view qualifier,
                        const Entry& entry) {
  if (IsLookedAt(at)) changed_[at.KeyOf(qualifier)].since.push_back(entry);
}

void ChangedCells::NoteRemoval(const RowOfFamily& at,
                               std::string_view qualifier) {
  Note(at, qualifier, {kRemoval});
}

void ChangedCells::NoteRowRemoval(const RowOfFamily& at) {
  if (!IsLookedAt(at)) return;
  const CellKey row = at.KeyOf("");
  changed_.erase(changed_.lower_bound(row), EndOf(row));
  removed_rows_.insert(row);
}

Status ChangedCells::Find(const RowOfFamily& at, std::string_view qualifier,
                          Cell* cell) {
  if (Status s = CheckQualifier(qualifier); !s.ok()) return s;
  const CellKey key = at.KeyOf(qualifier);
  const auto found = changed_.find(key);
  if (found == changed_.end()) return Read(at, key, qualifier, cell);
  Changed& changed = found->second;
  Status s;
  if (!changed.is_read) s = Read(at, key, qualifier, &changed.cell);
  if (!s.ok()) return s;
  changed.is_read = true;
  const Family& family = at.family->second;
  Entries& entries = changed.cell.entries;
  for (const Entry& entry : changed.since) {
    if (entry.type == kRemoval) {
      entries.clear();
    } else if (family.format == CellFormat::kVersioned) {
      entries = ApplyOperand(entries, {entry}, family.shared_rules->Merging());
    } else {
      entries = {entry};
    }
  }
  changed.since.clear();
  cell->entries = entries;
  return s;
}

// Reads a cell as it was before the changes.
Status ChangedCells::Read(const RowOfFamily& at, const CellKey& key,
                          std::string_view qualifier, Cell* cell) const {
  if (removed_rows_.contains(at.KeyOf(""))) return Status::OK();
  const Status s = opened_.database->Get(options_, at.family->second.handle(),
                                         key.second, &cell->stored);
  if (s.IsNotFound()) return Status::OK();
  return s.ok() ? ReadEntries({at.row, at.family, qualifier,
                               cell->stored.ToStringView()},
                              &cell->entries)
                : s;
}

Status ChangedCells::FindRowDeletes(const RowOfFamily& at,
                                    RowDeletes* deletes) {
  deletes->clear();
  if (at.family->second.format == CellFormat::kLatest ||
      !(opened_.shared->MayHave(kRowDeletes) ||
        changed_.contains(at.KeyOf("")))) {
    return Status::OK();
  }
  Cell cell;
  Status s = Find(at, "", &cell);
  if (s.ok()) deletes->Add(cell.entries);
  return s;
}

}  // namespace rowbloom
