#include "storage/store/stored_cell.h"

#include <algorithm>

#include "rowbloom/printable.h"
#include "storage/format/status_text.h"

namespace rowbloom {

using rocksdb::Status;

std::string Describe(std::string_view row, std::string_view family,
                     std::string_view qualifier) {
  return "row \"" + ToPrintable(row) + "\", cell " + std::string(family) + ":" +
         ToPrintable(qualifier) + ": ";
}

Status CorruptCell(const StoredCell& stored, const std::string& problem) {
  return Corruption(
      Describe(stored.row, stored.family->first, stored.qualifier), problem);
}

Status ReadEntries(const StoredCell& stored, Entries* entries) {
  if (stored.family->second.format == CellFormat::kLatest) {
    CellValue cell;
    if (!DecodeCellValue(stored.value, &cell)) {
      return CorruptCell(stored, ProblemOfCellValue(stored.value));
    }
    *entries = {{ChangeType::kPut, cell.timestamp_ms, cell.value, cell.ttl_ms}};
    return Status::OK();
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
  return Status::OK();
}

Status ReadRowDeletes(const StoredCell& of_row, RowDeletes* deletes) {
  deletes->clear();
  Entries entries;
  Status s = ReadEntries(of_row, &entries);
  if (s.ok()) deletes->Add(entries);
  return s;
}

Status CheckVersions(uint32_t max_versions, const TimeRange& time_range) {
  if (max_versions == 0) {
    return Status::InvalidArgument("max_versions is 0, expected at least 1");
  }
  if (time_range.begin_ms <= time_range.end_ms) return Status::OK();
  return InvalidArgument("the time range begins at ", time_range.begin_ms,
                         ", after its end at ", time_range.end_ms);
}

}  // namespace rowbloom
