#include "storage/store/cell_reader.h"

#include <map>
#include <utility>

#include "rowbloom/printable.h"
#include "storage/store/cell_key.h"
#include "storage/store/cell_value.h"
#include "storage/store/snapshot.h"
#include "storage/store/status_text.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

std::string Describe(std::string_view row, std::string_view family,
                     std::string_view qualifier) {
  return "row \"" + ToPrintable(row) + "\", cell " + std::string(family) + ":" +
         ToPrintable(qualifier) + ": ";
}

Status CorruptCell(const StoredCell& stored, const std::string& problem) {
  return Status::Corruption(
      Describe(stored.row, stored.family->first, stored.qualifier) + problem);
}

// Calls add(timestamp, value) for the version that is to be seen, if any.
template <typename Add>
Status ShowLatest(const StoredCell& stored, uint64_t now_ms,
                  const TimeRange& time_range, Add add) {
  CellValue cell;
  if (!DecodeCellValue(stored.value, &cell)) {
    return CorruptCell(stored, ProblemOfCellValue(stored.value));
  }
  const VersionRules& rules = stored.family->second.rules;
  const bool expired =
      rules.min_versions == 0 && rules.Expired(cell.timestamp_ms, now_ms);
  if (!expired && time_range.Contains(cell.timestamp_ms)) {
    add(cell.timestamp_ms, cell.value);
  }
  return Status::OK();
}

// The same for all versions that are to be seen.
template <typename Add>
Status ShowVersioned(const StoredCell& stored, uint64_t now_ms,
                     const TimeRange& time_range, uint32_t max_versions,
                     Add add) {
  Entries entries;
  if (Status s = ReadEntries(stored, &entries); !s.ok()) return s;
  uint32_t left = max_versions;
  ForEachVisible(entries, stored.family_delete_ms, stored.family->second.rules,
                 now_ms, [&](const Entry& entry) {
                   if (time_range.Contains(entry.timestamp_ms)) {
                     add(entry.timestamp_ms, entry.value);
                     --left;
                   }
                   return left > 0 && entry.timestamp_ms > time_range.begin_ms;
                 });
  return Status::OK();
}

template <typename Add>
Status ShowVersions(const StoredCell& stored, uint64_t now_ms,
                    const TimeRange& time_range, uint32_t max_versions,
                    Add add) {
  return stored.family->second.format == CellFormat::kLatest
             ? ShowLatest(stored, now_ms, time_range, add)
             : ShowVersioned(stored, now_ms, time_range, max_versions, add);
}

// Looks up a cell and, in the same moment, the deletes of its row, which have
// the row's bytes as key.
Status GetWithFamilyDelete(const OpenedStore& opened,
                           const rocksdb::ReadOptions& options,
                           const CellKey& key, StoredCell* stored,
                           rocksdb::PinnableSlice* value) {
  rocksdb::ColumnFamilyHandle* const family = stored->family->second.handle();
  const Slice keys[] = {key.bytes(), key.row_bytes()};
  rocksdb::PinnableSlice values[2];
  Status statuses[2];
  opened.database->MultiGet(options, family, 2, keys, values, statuses);
  if (statuses[0].ok() && statuses[1].ok()) {
    StoredCell of_row = *stored;
    of_row.qualifier = {};
    of_row.value = values[1].ToStringView();
    Status s = ReadFamilyDelete(of_row, &stored->family_delete_ms);
    if (!s.ok()) return s;
  } else if (statuses[0].ok() && !statuses[1].IsNotFound()) {
    return statuses[1];
  }
  *value = std::move(values[0]);
  return statuses[0];
}

}  // namespace

Status ReadEntries(const StoredCell& stored, Entries* entries) {
  std::string problem;
  if (stored.family->second.format == CellFormat::kLatest) {
    CellValue cell;
    if (!DecodeCellValue(stored.value, &cell)) {
      return CorruptCell(stored, ProblemOfCellValue(stored.value));
    }
    *entries = {{EntryType::kPut, cell.timestamp_ms, cell.value}};
    return Status::OK();
  }
  if (!DecodeEntries(stored.value, entries, &problem)) {
    return CorruptCell(stored, problem);
  }
  if (!stored.qualifier.empty() && FamilyDelete(*entries)) {
    return CorruptCell(stored,
                       "a delete of the family outside of the cell of "
                       "the empty qualifier");
  }
  return Status::OK();
}

Status ShowCell(const StoredCell& stored, uint64_t now_ms,
                const TimeRange& time_range, uint32_t max_versions,
                CellList* cells) {
  return ShowVersions(stored, now_ms, time_range, max_versions,
                      [&](uint64_t timestamp_ms, std::string_view value) {
                        cells->Add(stored.family->first, stored.qualifier,
                                   timestamp_ms, value);
                      });
}

Status ReadNewest(const OpenedStore& opened, const CellName& name,
                  const ReadOptions& options, NewestCell* newest) {
  if (Status s = CheckReadOptions(options.max_versions, options.time_range);
      !s.ok()) {
    return s;
  }
  const FamilyTable::Loan families(*opened.families);
  FamilyMap::const_iterator found;
  if (Status s = opened.FindFamily(*families, name.family, &found); !s.ok()) {
    return s;
  }
  if (Status s = CheckQualifier(name.qualifier); !s.ok()) return s;
  CellKey key;
  if (Status s = key.Set(opened, name.row, name.qualifier); !s.ok()) return s;
  const Family& family = found->second;
  StoredCell stored{name.row, found, name.qualifier, {}, {}};
  rocksdb::ReadOptions read_options;
  read_options.snapshot = RocksdbSnapshot(options.snapshot);
  Status s = family.format == CellFormat::kVersioned && !name.qualifier.empty()
                 ? GetWithFamilyDelete(opened, read_options, key, &stored,
                                       &newest->stored)
                 : opened.database->Get(read_options, family.handle(),
                                        key.bytes(), &newest->stored);
  if (s.IsNotFound()) return s;
  if (!s.ok()) {
    return Prefixed(Describe(name.row, name.family, name.qualifier), s);
  }
  stored.value = newest->stored.ToStringView();
  const uint64_t now_ms =
      family.rules.ttl_ms == 0 ? 0 : opened.shared->clock.Now();
  bool shown = false;
  s = ShowVersions(stored, now_ms, options.time_range, 1,
                   [&](uint64_t timestamp_ms, std::string_view value) {
                     newest->timestamp_ms = timestamp_ms;
                     newest->value = value;
                     shown = true;
                   });
  return s.ok() && !shown ? Status::NotFound() : s;
}

Status ReadFamilyDelete(const StoredCell& stored,
                        std::optional<uint64_t>* family_delete_ms) {
  Entries entries;
  if (Status s = ReadEntries(stored, &entries); !s.ok()) return s;
  *family_delete_ms = FamilyDelete(entries);
  return Status::OK();
}

Status RefuseReadOptions(uint32_t max_versions, const TimeRange& time_range) {
  if (max_versions == 0) {
    return Status::InvalidArgument("max_versions is 0, expected at least 1");
  }
  return Status::InvalidArgument(
      "the time range begins at " + std::to_string(time_range.begin_ms) +
      ", after its end at " + std::to_string(time_range.end_ms));
}

CellLookup::CellLookup(const OpenedStore& opened, const FamilyMap& families,
                       const ReadOptions& options, size_t count)
    : opened_(opened), families_(families), options_(options) {
  wanted_.reserve(count);
}

Status CellLookup::Add(std::string_view row, std::string_view family,
                       std::string_view qualifier) {
  if (Status s = CheckQualifier(qualifier); !s.ok()) return s;
  FamilyMap::const_iterator found;
  if (!wanted_.empty() && wanted_.back().family->first == family) {
    found = wanted_.back().family;
    one_row_ = one_row_ && wanted_.back().row == row;
  } else {
    if (Status s = opened_.FindFamily(families_, family, &found); !s.ok()) {
      return s;
    }
    one_row_ = wanted_.empty();
  }
  wanted_.push_back({row, found, qualifier});
  return Status::OK();
}

Status CellLookup::LookForRow(bool* absent) {
  *absent = false;
  // An iterator that is as of a snapshot cannot be kept for the next read.
  if (!one_row_ || wanted_.size() < kColumnsForASeek ||
      options_.snapshot != nullptr) {
    return Status::OK();
  }
  rocksdb::ColumnFamilyHandle* const family =
      wanted_.front().family->second.handle();
  AbsenceHint& hint = opened_.shared->absence_hint;
  if (!hint.IsWorthALook(family->GetID())) return Status::OK();
  CellKey row;
  if (Status s = row.Set(opened_, wanted_.front().row, {}); !s.ok()) return s;
  const RowIterators::Lease lease = opened_.shared->row_iterators.Take(
      opened_.database.get(), family, RowIterators::Reach::kMemory);
  lease.get()->Seek(row.bytes());
  // With an error, or where a block would have to be read, it is not known.
  *absent = !lease.get()->Valid() && lease.get()->status().ok();
  hint.Saw(family->GetID(), *absent);
  return Status::OK();
}

size_t CellLookup::AddKey(const Family& family, std::string_view row_bytes,
                          std::string_view qualifier) {
  keys_.push_back({family.handle(), key_bytes_.size(),
                   row_bytes.size() + qualifier.size()});
  key_bytes_.append(row_bytes).append(qualifier);
  return keys_.size() - 1;
}

Status CellLookup::MakeKeys() {
  // Of row bytes in versioned families, since many cells share a row.
  std::map<std::pair<rocksdb::ColumnFamilyHandle*, std::string>, size_t>
      row_keys;
  std::string row_bytes;
  const Wanted* before = nullptr;
  keys_.reserve(wanted_.size() + 1);
  for (Wanted& wanted : wanted_) {
    const Family& family = wanted.family->second;
    const bool same_row = before != nullptr && before->row == wanted.row;
    if (!same_row) {
      Status s = opened_.EncodeRow(wanted.row, &row_bytes);
      if (!s.ok()) return s;
    }
    if (family.format == CellFormat::kVersioned) {
      if (same_row && before->family == wanted.family) {
        wanted.delete_key = before->delete_key;
      } else {
        const auto [place, is_new] =
            row_keys.try_emplace({family.handle(), row_bytes}, kNone);
        if (is_new) place->second = AddKey(family, row_bytes, {});
        wanted.delete_key = place->second;
      }
      if (wanted.qualifier.empty()) wanted.key = wanted.delete_key;
    }
    if (wanted.key == kNone) {
      wanted.key = AddKey(family, row_bytes, wanted.qualifier);
    }
    before = &wanted;
  }
  return Status::OK();
}

Status CellLookup::Read() {
  if (Status s = MakeKeys(); !s.ok()) return s;
  const size_t count = keys_.size();
  values_ = std::vector<rocksdb::PinnableSlice>(count);
  statuses_ = std::vector<Status>(count);
  std::vector<Slice> keys;
  keys.reserve(count);
  bool one_family = true;
  for (const Key& key : keys_) {
    keys.emplace_back(key_bytes_.data() + key.begin, key.size);
    one_family = one_family && key.handle == keys_.front().handle;
  }
  rocksdb::ReadOptions options;
  options.snapshot = RocksdbSnapshot(options_.snapshot);
  rocksdb::ColumnFamilyHandle* const family = keys_.front().handle;
  if (count == 1) {
    statuses_[0] = opened_.database->Get(options, family, keys[0], &values_[0]);
  } else if (one_family) {
    opened_.database->MultiGet(options, family, count, keys.data(),
                               values_.data(), statuses_.data());
  } else {
    std::vector<rocksdb::ColumnFamilyHandle*> families;
    families.reserve(count);
    for (const Key& key : keys_) families.push_back(key.handle);
    opened_.database->MultiGet(options, count, families.data(), keys.data(),
                               values_.data(), statuses_.data());
  }
  return Status::OK();
}

Status CellLookup::Show(const Wanted& wanted, uint64_t now_ms,
                        std::vector<Cell>* cells) {
  StoredCell stored{wanted.row, wanted.family, wanted.qualifier, {}, {}};
  const auto failed = [&stored](const Status& s) {
    return Prefixed(
        Describe(stored.row, stored.family->first, stored.qualifier), s);
  };
  const Status& found = statuses_[wanted.key];
  if (found.IsNotFound()) return Status::OK();
  if (!found.ok()) return failed(found);
  if (wanted.delete_key != kNone && wanted.delete_key != wanted.key) {
    const Status& row = statuses_[wanted.delete_key];
    if (row.ok()) {
      StoredCell of_row = stored;
      of_row.qualifier = {};
      of_row.value = values_[wanted.delete_key].ToStringView();
      Status s = ReadFamilyDelete(of_row, &stored.family_delete_ms);
      if (!s.ok()) return s;
    } else if (!row.IsNotFound()) {
      return failed(row);
    }
  }
  stored.value = values_[wanted.key].ToStringView();
  CellList shown(cells);
  return ShowCell(stored, now_ms, options_.time_range, options_.max_versions,
                  &shown);
}

}  // namespace rowbloom
