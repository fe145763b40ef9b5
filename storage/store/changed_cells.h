// ChangedCells reads stored cells with the changes of an unwritten batch.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "lib/layout/key_range.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/snapshot.h"
#include "rocksdb/status.h"
#include "rowbloom/write_batch.h"
#include "storage/cells/cell_versions.h"
#include "storage/store/opened_store.h"
#include "storage/store/row_cells.h"
#include "storage/store/stored_cell.h"

namespace rowbloom {

using CellKey = std::pair<uint32_t, std::string>;  // family, key

// The row of a change, in one family.
struct RowOfFamily {
  std::string_view row;
  std::string bytes;  // the row as in its keys
  uint64_t hash = 0;  // HashRow
  FamilyMap::const_iterator family;

  uint32_t family_id() const { return family->second.handle()->GetID(); }
  CellKey KeyOf(std::string_view qualifier) const {
    return {family_id(), bytes + std::string(qualifier)};
  }
};

// One write's view of the cells of its rows. Not thread-safe.
class ChangedCells {
 public:
  // Reads cells as of `snapshot`. If it is null, the caller has locked their
  // rows. `opened` outlives the object.
  ChangedCells(const OpenedStore& opened, std::span<const Change> changes,
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

  // Notes the entry that a change adds to a cell, for later changes that read
  // the cell. The entry's value outlives the object.
  void Note(const RowOfFamily& at, std::string_view qualifier,
            const Entry& entry) {
    if (IsLookedAt(at)) changed_[at.KeyOf(qualifier)].since.push_back(entry);
  }
  // Notes that a change removes all that RocksDB has of the cell, or of the row
  // in the family.
  void NoteRemoval(const RowOfFamily& at, std::string_view qualifier) {
    Note(at, qualifier, {kRemoval});
  }
  void NoteRowRemoval(const RowOfFamily& at) {
    if (!IsLookedAt(at)) return;
    const CellKey row = at.KeyOf("");
    changed_.erase(changed_.lower_bound(row), EndOf(row));
    removed_rows_.insert(row);
  }

  struct Cell {
    rocksdb::PinnableSlice stored;  // the entries may view into it
    Entries entries;
  };
  // Finds a cell; an absent one has no entries. Errors are RocksDB's;
  // Corruption as ReadEntries; InvalidArgument: the qualifier is too long.
  rocksdb::Status Find(const RowOfFamily& at, std::string_view qualifier,
                       Cell* cell) {
    if (rocksdb::Status s = CheckQualifier(qualifier); !s.ok()) return s;
    const CellKey key = at.KeyOf(qualifier);
    const auto found = changed_.find(key);
    if (found == changed_.end()) return Read(at, key, qualifier, cell);
    Changed& changed = found->second;
    rocksdb::Status s;
    if (!changed.is_read) s = Read(at, key, qualifier, &changed.cell);
    if (!s.ok()) return s;
    changed.is_read = true;
    const Family& family = at.family->second;
    Entries& entries = changed.cell.entries;
    for (const Entry& entry : changed.since) {
      if (entry.type == kRemoval) {
        entries.clear();
      } else if (family.format == CellFormat::kVersioned) {
        entries =
            ApplyOperand(entries, {entry}, family.shared_rules->Merging());
      } else {
        entries = {entry};
      }
    }
    changed.since.clear();
    cell->entries = entries;
    return s;
  }
  // Finds the deletes of the row, which are kept with the cell of the empty
  // qualifier. A `latest` family has none.
  rocksdb::Status FindRowDeletes(const RowOfFamily& at, RowDeletes* deletes) {
    deletes->clear();
    if (at.family->second.format == CellFormat::kLatest ||
        !(opened_.shared->MayHave(kRowDeletes) ||
          changed_.contains(at.KeyOf("")))) {
      return rocksdb::Status::OK();
    }
    Cell cell;
    rocksdb::Status s = Find(at, "", &cell);
    if (s.ok()) deletes->Add(cell.entries);
    return s;
  }

  // Calls visit(qualifier, Cell&) for each cell that a delete concerns. It
  // may Note entries of that cell.
  template <typename Visit>
  rocksdb::Status ForEach(const RowOfFamily& at, const Change& change,
                          Visit visit) {
    if (!IsOfWholeRow(change.type)) {
      Cell cell;
      rocksdb::Status s = Find(at, change.qualifier, &cell);
      if (s.ok()) visit(change.qualifier, cell);
      return s;
    }
    const CellKey row = at.KeyOf("");
    rocksdb::Status s;
    const auto end = EndOf(row);
    for (auto it = changed_.lower_bound(row); s.ok() && it != end; ++it) {
      const auto qualifier =
          std::string_view(it->first.second).substr(row.second.size());
      Cell cell;
      s = Find(at, qualifier, &cell);
      if (s.ok()) visit(qualifier, cell);
    }
    if (!s.ok() || removed_rows_.contains(row)) return s;
    Cell cell;
    RowCells stored(opened_, at.family, options_, at.bytes);
    s = stored.Enter(at.row, at.bytes);
    for (; s.ok(); stored.Next()) {
      const StoredCell* const here = stored.Find();
      if (here == nullptr) break;
      if (changed_.contains(at.KeyOf(here->qualifier))) continue;
      s = ReadEntries(*here, &cell.entries);
      if (s.ok()) visit(here->qualifier, cell);
    }
    return s.ok() ? stored.status() : s;
  }

 private:
  struct Changed {
    bool is_read = false;
    Cell cell;      // once it is read
    Entries since;  // these come after the cell's entries
  };

  // The end of a row's cells.
  std::map<CellKey, Changed>::iterator EndOf(const CellKey& row) {
    return changed_.lower_bound(
        {row.first, RowEnd(row.second, kMaxQualifierBytes)});
  }
  // The type of an entry that removes all entries before it.
  static constexpr ChangeType kRemoval = ChangeType::kDeleteRow;

  bool IsLookedAt(const RowOfFamily& at) const {
    return at.family->second.format == CellFormat::kLatest ? looks_at_values_
                                                           : looks_at_cells_;
  }
  // Reads a cell as it was before the changes.
  rocksdb::Status Read(const RowOfFamily& at, const CellKey& key,
                       std::string_view qualifier, Cell* cell) const {
    if (removed_rows_.contains(at.KeyOf(""))) return rocksdb::Status::OK();
    const rocksdb::Status s = opened_.database->Get(
        options_, at.family->second.handle(), key.second, &cell->stored);
    if (s.IsNotFound()) return rocksdb::Status::OK();
    return s.ok() ? ReadEntries({at.row, at.family, qualifier,
                                 cell->stored.ToStringView()},
                                &cell->entries)
                  : s;
  }

  const OpenedStore& opened_;
  rocksdb::ReadOptions options_;
  // Tell whether a later change may read cells of `versioned` families, and of
  // `latest` ones. Most batches read none, and note nothing.
  bool looks_at_cells_ = false;
  bool looks_at_values_ = false;
  // The rows that were removed, and the cells that were changed afterwards.
  // Find applies the changes of its cell.
  std::set<CellKey> removed_rows_;
  std::map<CellKey, Changed> changed_;
};

}  // namespace rowbloom
