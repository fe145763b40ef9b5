#include "storage/store/cell_reader.h"

#include "rowbloom/printable.h"
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

// Calls add(timestamp, value) for the versions that are to be seen.
template <typename Add>
Status ShowVersions(const StoredCell& stored, uint64_t now_ms,
                    const TimeRange& time_range, uint32_t max_versions,
                    Add add) {
  const Family& family = stored.family->second;
  std::string problem;
  if (family.format == CellFormat::kLatest) {
    CellValue cell;
    if (!DecodeCellValue(stored.value, &cell, &problem)) {
      return CorruptCell(stored, problem);
    }
    const bool expired = family.rules.min_versions == 0 &&
                         family.rules.Expired(cell.timestamp_ms, now_ms);
    if (!expired && time_range.Contains(cell.timestamp_ms)) {
      add(cell.timestamp_ms, cell.value);
    }
    return Status::OK();
  }
  Entries entries;
  if (Status s = ReadEntries(stored, &entries); !s.ok()) return s;
  uint32_t left = max_versions;
  ForEachVisible(entries, stored.family_delete_ms, family.rules, now_ms,
                 [&](const Entry& entry) {
                   if (time_range.Contains(entry.timestamp_ms)) {
                     add(entry.timestamp_ms, entry.value);
                     --left;
                   }
                   return left > 0 && entry.timestamp_ms > time_range.begin_ms;
                 });
  return Status::OK();
}

}  // namespace

Status ReadEntries(const StoredCell& stored, Entries* entries) {
  std::string problem;
  if (stored.family->second.format == CellFormat::kLatest) {
    CellValue cell;
    if (!DecodeCellValue(stored.value, &cell, &problem)) {
      return CorruptCell(stored, problem);
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
                std::vector<Cell>* cells) {
  return ShowVersions(
      stored, now_ms, time_range, max_versions,
      [&](uint64_t timestamp_ms, std::string_view value) {
        cells->push_back({stored.family->first, std::string(stored.qualifier),
                          timestamp_ms, std::string(value)});
      });
}

Status ReadNewest(const OpenedStore& opened, const CellName& name,
                  const ReadOptions& options, const TakeCell& take) {
  const SharedFamilies families = opened.families->Get();
  FamilyMap::const_iterator found;
  std::string key;
  Status s = CheckReadOptions(options.max_versions, options.time_range);
  if (s.ok()) s = opened.FindFamily(*families, name.family, &found);
  if (s.ok()) s = CheckQualifier(name.qualifier);
  if (s.ok()) s = opened.EncodeRow(name.row, &key);
  if (!s.ok()) return s;
  const Family& family = found->second;
  StoredCell stored{name.row, found, name.qualifier, {}, {}};
  rocksdb::ReadOptions read_options;
  read_options.snapshot = RocksdbSnapshot(options.snapshot);
  // Of the cell, and of the row's deletes, which have the row's bytes as key.
  rocksdb::PinnableSlice values[2];
  if (family.format == CellFormat::kVersioned && !name.qualifier.empty()) {
    const std::string row_bytes = key;
    key += name.qualifier;
    rocksdb::ColumnFamilyHandle* handles[] = {family.handle(), family.handle()};
    const Slice keys[] = {key, row_bytes};
    Status statuses[2];
    opened.database->MultiGet(read_options, 2, handles, keys, values, statuses);
    s = statuses[0];
    if (s.ok() && statuses[1].ok()) {
      StoredCell of_row = stored;
      of_row.qualifier = {};
      of_row.value = values[1].ToStringView();
      Status read = ReadFamilyDelete(of_row, &stored.family_delete_ms);
      if (!read.ok()) return read;
    } else if (s.ok() && !statuses[1].IsNotFound()) {
      s = statuses[1];
    }
  } else {
    key += name.qualifier;
    s = opened.database->Get(read_options, family.handle(), key, &values[0]);
  }
  if (s.IsNotFound()) return Status::NotFound("no such cell");
  if (!s.ok()) {
    return Prefixed(Describe(name.row, name.family, name.qualifier), s);
  }
  stored.value = values[0].ToStringView();
  const uint64_t now_ms =
      family.rules.ttl_ms == 0 ? 0 : opened.shared->clock.Now();
  bool shown = false;
  s = ShowVersions(stored, now_ms, options.time_range, 1,
                   [&](uint64_t timestamp_ms, std::string_view value) {
                     take(timestamp_ms, value);
                     shown = true;
                   });
  return s.ok() && !shown ? Status::NotFound("no such cell") : s;
}

Status ReadFamilyDelete(const StoredCell& stored,
                        std::optional<uint64_t>* family_delete_ms) {
  Entries entries;
  if (Status s = ReadEntries(stored, &entries); !s.ok()) return s;
  *family_delete_ms = FamilyDelete(entries);
  return Status::OK();
}

Status CheckReadOptions(uint32_t max_versions, const TimeRange& time_range) {
  if (max_versions == 0) {
    return Status::InvalidArgument("max_versions is 0, expected at least 1");
  }
  if (time_range.begin_ms > time_range.end_ms) {
    return Status::InvalidArgument(
        "the time range begins at " + std::to_string(time_range.begin_ms) +
        ", after its end at " + std::to_string(time_range.end_ms));
  }
  return Status::OK();
}

size_t CellLookup::AddKey(const Family& family, std::string key) {
  keys_.push_back(std::move(key));
  handles_.push_back(family.handle());
  return keys_.size() - 1;
}

Status CellLookup::Add(std::string_view row, std::string_view family_name,
                       std::string_view qualifier) {
  FamilyMap::const_iterator found;
  std::string key;
  Status s = opened_.FindFamily(*families_, family_name, &found);
  if (s.ok()) s = CheckQualifier(qualifier);
  if (s.ok()) s = opened_.EncodeRow(row, &key);
  if (!s.ok()) return s;
  const Family& family = found->second;
  Wanted wanted{row, found, qualifier, kNone, kNone};
  if (family.format == CellFormat::kVersioned) {
    const auto [row_key, is_new] =
        row_keys_.try_emplace({family.handle(), key}, kNone);
    if (is_new) row_key->second = AddKey(family, key);
    wanted.delete_key = row_key->second;
    if (qualifier.empty()) wanted.key = wanted.delete_key;
  }
  if (wanted.key == kNone) {
    key += qualifier;
    wanted.key = AddKey(family, std::move(key));
  }
  wanted_.push_back(wanted);
  return s;
}

Status CellLookup::Read() {
  if (Status s = CheckReadOptions(options_.max_versions, options_.time_range);
      !s.ok()) {
    return s;
  }
  const size_t count = keys_.size();
  values_ = std::vector<rocksdb::PinnableSlice>(count);
  statuses_ = std::vector<Status>(count);
  if (count == 0) return Status::OK();
  rocksdb::ReadOptions options;
  options.snapshot = RocksdbSnapshot(options_.snapshot);
  if (count == 1) {
    statuses_[0] =
        opened_.database->Get(options, handles_[0], keys_[0], &values_[0]);
    return Status::OK();
  }
  const std::vector<Slice> keys(keys_.begin(), keys_.end());
  opened_.database->MultiGet(options, count, handles_.data(), keys.data(),
                             values_.data(), statuses_.data());
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
  return ShowCell(stored, now_ms, options_.time_range, options_.max_versions,
                  cells);
}

}  // namespace rowbloom
