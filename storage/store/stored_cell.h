// StoredCell is a cell as RocksDB keeps it, in either cell format. Functions
// read its entries and its visible versions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "rowbloom/cell.h"
#include "rowbloom/printable.h"
#include "storage/cells/cell_value.h"
#include "storage/cells/cell_versions.h"
#include "storage/format/status_text.h"
#include "storage/store/opened_store.h"

namespace rowbloom {

// The views must outlive it.
struct StoredCell {
  std::string_view row;
  FamilyMap::const_iterator family;
  std::string_view qualifier;
  std::string_view value;
  const RowDeletes* row_deletes = nullptr;  // in a `versioned` family
};

// Returns "row \"R\", cell F:Q: ", the prefix of messages about a cell.
inline std::string Describe(std::string_view row, std::string_view family,
                            std::string_view qualifier) {
  return "row \"" + ToPrintable(row) + "\", cell " + std::string(family) + ":" +
         ToPrintable(qualifier) + ": ";
}
inline rocksdb::Status CorruptCell(const StoredCell& stored,
                                   const std::string& problem) {
  return Corruption(
      Describe(stored.row, stored.family->first, stored.qualifier), problem);
}

// Decodes all entries of the value, which they view into. Corruption: the value
// is not of the family's format.
inline rocksdb::Status ReadEntries(const StoredCell& stored, Entries* entries) {
  if (stored.family->second.format == CellFormat::kLatest) {
    CellValue cell;
    if (!DecodeCellValue(stored.value, &cell)) {
      return CorruptCell(stored, ProblemOfCellValue(stored.value));
    }
    *entries = {{ChangeType::kPut, cell.timestamp_ms, cell.value, cell.ttl_ms}};
    return rocksdb::Status::OK();
  }
  std::string problem;
  if (!DecodeEntries(stored.value, entries, &problem)) {
    return CorruptCell(stored, problem);
  }
  const bool of_row =
      std::any_of(entries->begin(), entries->end(),
                  [](const Entry& entry) { return IsDeleteOfRow(entry.type); });
  if (of_row && !stored.qualifier.empty()) {
    return CorruptCell(stored,
                       "a delete of the row outside of the cell of the empty "
                       "qualifier");
  }
  return rocksdb::Status::OK();
}

// Reads the deletes of a row from its cell of the empty qualifier. Corruption
// as ReadEntries.
inline rocksdb::Status ReadRowDeletes(const StoredCell& of_row,
                                      RowDeletes* deletes) {
  deletes->clear();
  Entries entries;
  rocksdb::Status s = ReadEntries(of_row, &entries);
  if (s.ok()) deletes->Add(entries);
  return s;
}

// The versions that a read requests, and the time by which they expire.
struct VersionQuery {
  TimeRange time_range = TimeRange::All();
  uint32_t max_versions = 1;
  uint64_t wall_ms = 0;
};

// InvalidArgument: max_versions is 0, or the time range ends before it begins.
inline rocksdb::Status CheckVersions(uint32_t max_versions,
                                     const TimeRange& time_range) {
  if (max_versions == 0) {
    return rocksdb::Status::InvalidArgument(
        "max_versions is 0, expected at least 1");
  }
  if (time_range.begin_ms <= time_range.end_ms) return rocksdb::Status::OK();
  return InvalidArgument("the time range begins at ", time_range.begin_ms,
                         ", after its end at ", time_range.end_ms);
}

// Calls add(timestamp, value) for each visible version of the query, newest
// first. Corruption as ReadEntries.
template <typename Add>
rocksdb::Status ForEachVersion(const StoredCell& stored,
                               const VersionQuery& query, Add add) {
  const Family& family = stored.family->second;
  if (family.format == CellFormat::kLatest) {
    CellValue cell;
    if (!DecodeCellValue(stored.value, &cell)) {
      return CorruptCell(stored, ProblemOfCellValue(stored.value));
    }
    if (!family.rules().Hide(cell, query.wall_ms) &&
        query.time_range.Contains(cell.timestamp_ms)) {
      add(cell.timestamp_ms, cell.value);
    }
    return rocksdb::Status::OK();
  }
  Entries entries;
  if (rocksdb::Status s = ReadEntries(stored, &entries); !s.ok()) return s;
  uint32_t left = query.max_versions;
  ForEachVisible(entries, *stored.row_deletes, family.rules(), query.wall_ms,
                 [&](const Entry& entry) {
                   if (query.time_range.Contains(entry.timestamp_ms)) {
                     add(entry.timestamp_ms, entry.value);
                     --left;
                   }
                   return left > 0 &&
                          entry.timestamp_ms > query.time_range.begin_ms;
                 });
  return rocksdb::Status::OK();
}

}  // namespace rowbloom
