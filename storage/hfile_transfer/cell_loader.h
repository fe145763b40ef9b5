// Puts the cells of HFiles, in order, into one family of a bulk load: applies
// their deletes to them, and leaves out what the family cannot keep.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "rocksdb/status.h"
#include "rowbloom/bulk_load.h"
#include "rowbloom/hfile_transfer.h"
#include "rowbloom/store_options.h"

namespace rowbloom::hfile_transfer {

// Not thread-safe.
class CellLoader {
 public:
  // All outlive it.
  CellLoader(const HFileImportOptions& options, BulkLoad* load,
             const std::string& family, const FamilyOptions& family_options,
             HFileImportReport* report);

  // Cells come as MergedCells gives them. InvalidArgument, NotSupported: one
  // that the store does not take; nothing was added.
  rocksdb::Status Add(const HFileCellView& cell);

 private:
  rocksdb::Status Check(const HFileCellView& cell) const;
  void EnterRow(std::string_view row);
  // Does nothing in the column here.
  void EnterColumn(std::string_view qualifier);

  // Each adds to the column here what no delete before it has taken.
  rocksdb::Status AddPut(uint64_t timestamp_ms, std::string_view value);
  rocksdb::Status AddDeleteVersion(uint64_t timestamp_ms);
  rocksdb::Status AddDeleteColumn(uint64_t timestamp_ms);
  rocksdb::Status AddDeleteFamily(uint64_t timestamp_ms);
  rocksdb::Status AddDeleteFamilyVersion(uint64_t timestamp_ms);

  bool IsDeleted(uint64_t timestamp_ms) const;
  // Adds a delete of the column here, or of its family, to the load.
  rocksdb::Status Load(ChangeType type, uint64_t timestamp_ms);

  const HFileImportOptions& options_;
  BulkLoad* const load_;
  const std::string family_;
  const bool latest_;
  HFileImportReport* const report_;

  std::string row_;  // empty: none yet
  std::optional<uint64_t> family_deleted_ms_;
  std::set<uint64_t> versions_deleted_;  // of the row, in all columns

  std::string qualifier_;  // of the column here
  bool in_column_ = false;
  bool column_deleted_ = false;
  std::optional<uint64_t> version_deleted_ms_;  // the last one
  uint32_t puts_ = 0;
  size_t value_bytes_ = 0;
  // The last cell of the column.
  std::optional<std::pair<uint64_t, HFileCellType>> last_;
};

}  // namespace rowbloom::hfile_transfer
