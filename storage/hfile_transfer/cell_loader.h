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
#include "storage/hfile_transfer/cell_tags.h"
#include "storage/hfile_transfer/mob_files.h"

namespace rowbloom::hfile_transfer {

// Not thread-safe.
class CellLoader {
 public:
  // Says what becomes of the cells that are added.
  enum class Mode : uint8_t {
    kLoad,
    kTry,  // they are checked as a load checks them, and not loaded
  };

  // All outlive it. `wall_ms` is the machine's time when the import began.
  // nullptr for `load`: cells are checked by what every store refuses, and not
  // loaded.
  CellLoader(Mode mode, const HFileImportOptions& options, uint64_t wall_ms,
             BulkLoad* load, const std::string& family,
             const FamilyOptions& family_options, MobFiles* mob_files,
             HFileImportReport* report);

  // Cells come as MergedCells gives them, from a file below `root` (StoreFile).
  // InvalidArgument, NotSupported: one that the store does not take; nothing
  // was added. One whose own TTL has run out is left out. A value in a MOB
  // file is read there, if it is one that is loaded; errors are those of
  // MobFiles.
  rocksdb::Status Add(const HFileCellView& cell, const std::string& root);

  // The errors that Add has for the cell whatever was added before it, though
  // a delete before it may make Add pass over it. Adds nothing. Values in MOB
  // files are not read, because a cell that is passed over needs none.
  rocksdb::Status Check(const HFileCellView& cell);
  // True if a cell that was checked has its value in a MOB file.
  bool has_references() const { return has_references_; }

 private:
  // The value of a put, or where it is.
  struct Value {
    const HFileCellView& cell;
    const std::optional<MobReference>& reference;
    const std::string& root;
    std::optional<uint64_t> ttl_ms;

    uint64_t size_bytes() const {
      return reference ? reference->value_bytes : cell.value.size();
    }
  };

  // Tells whether the cell's own TTL has run out, or that of its family, so
  // that HBase may have removed the MOB file with its value.
  bool IsOver(const HFileCellView& cell, const CellTags& tags) const;
  // NotSupported: the family has deletes and cells with visibility labels. In
  // HBase a delete takes only cells of its own label, or those without one.
  rocksdb::Status CheckLabels(const HFileCellView& cell,
                              const std::optional<CellTags>& tags);
  // NotSupported: the cells are of several families, and some are deletes.
  rocksdb::Status CheckFamily(const HFileCellView& cell);
  // The value that a put is loaded with.
  rocksdb::Status ReadValue(const Value& value, std::string_view* bytes);
  // The put as it is loaded.
  Change PutOf(const Value& value, std::string_view bytes) const;

  void EnterRow(std::string_view row);
  // Does nothing in the column here.
  void EnterColumn(std::string_view qualifier);

  // Each adds to the column here what no delete before it has taken.
  rocksdb::Status AddAs(HFileCellType type, uint64_t timestamp_ms,
                        const Value& value);
  rocksdb::Status AddPut(uint64_t timestamp_ms, const Value& value);
  rocksdb::Status AddDeleteVersion(uint64_t timestamp_ms);
  rocksdb::Status AddDeleteColumn(uint64_t timestamp_ms);
  rocksdb::Status AddDeleteFamily(uint64_t timestamp_ms);
  rocksdb::Status AddDeleteFamilyVersion(uint64_t timestamp_ms);

  bool IsDeleted(uint64_t timestamp_ms) const;
  // Adds a delete of the column here, or of its family, to the load.
  rocksdb::Status LoadDelete(ChangeType type, uint64_t timestamp_ms);
  // Adds the change to the load, or checks it.
  rocksdb::Status Load(const Change& change);

  const Mode mode_;
  const HFileImportOptions& options_;
  BulkLoad* const load_;
  const uint64_t now_ms_;  // the time of the load
  // The time by which cells run out; the store's may be ahead.
  const uint64_t wall_ms_;
  const std::string family_;
  const FamilyOptions& family_options_;
  const bool latest_;
  MobFiles* const mob_files_;
  HFileImportReport* const report_;

  // The kinds of cells that were added or checked in the family.
  bool has_labels_ = false;
  bool has_deletes_ = false;
  std::optional<std::string> first_family_;
  std::optional<std::string> other_family_;
  bool has_references_ = false;  // among those that were checked

  std::string row_;  // empty: none yet
  std::optional<uint64_t> family_deleted_ms_;
  std::set<uint64_t> versions_deleted_;  // the row's, in all columns

  std::string qualifier_;  // the present column's
  bool in_column_ = false;
  bool column_deleted_ = false;
  std::optional<uint64_t> version_deleted_ms_;  // the last one
  uint32_t puts_ = 0;
  size_t value_bytes_ = 0;
  std::string mob_value_;
  // The last cell of the column.
  std::optional<std::pair<uint64_t, HFileCellType>> last_;
};

}  // namespace rowbloom::hfile_transfer
