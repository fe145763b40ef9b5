// Reads of single cells: point gets, for which ROW and ROWCOL answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rowbloom/cell.h"
#include "rowbloom/read_options.h"
#include "storage/store/cell_list.h"
#include "storage/store/opened_store.h"

namespace rowbloom {

// A cell as RocksDB keeps it, and what its row adds.
struct StoredCell {
  std::string_view row;
  FamilyMap::const_iterator family;
  std::string_view qualifier;
  std::string_view value;
  std::optional<uint64_t> family_delete_ms;
};

struct CellName {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
};

// A version of a cell, and the bytes that its value views into.
struct NewestCell {
  uint64_t timestamp_ms = 0;
  std::string_view value;
  rocksdb::PinnableSlice stored;
};

// The newest version of one cell that is to be seen. NotFound: there is none;
// without a message, which would be most of what the store adds to the time.
rocksdb::Status ReadNewest(const OpenedStore& opened, const CellName& name,
                           const ReadOptions& options, NewestCell* newest);

// What the value says, in either cell format; the entries view into it.
// Corruption: it is not of the family's format; names the cell.
rocksdb::Status ReadEntries(const StoredCell& stored, Entries* entries);

// Adds the versions that are to be seen at `now_ms`, newest first. Corruption
// as ReadEntries.
rocksdb::Status ShowCell(const StoredCell& stored, uint64_t now_ms,
                         const TimeRange& time_range, uint32_t max_versions,
                         CellList* cells);

// The newest kDeleteFamily in a value of the empty qualifier. Corruption as
// ReadEntries.
rocksdb::Status ReadFamilyDelete(const StoredCell& stored,
                                 std::optional<uint64_t>* family_delete_ms);

// InvalidArgument: options that mean nothing; says what is wrong with those.
rocksdb::Status RefuseReadOptions(uint32_t max_versions,
                                  const TimeRange& time_range);
inline rocksdb::Status CheckReadOptions(uint32_t max_versions,
                                        const TimeRange& time_range) {
  if (max_versions > 0 && time_range.begin_ms <= time_range.end_ms) {
    return rocksdb::Status::OK();
  }
  return RefuseReadOptions(max_versions, time_range);
}

// Looks up cells with one RocksDB MultiGet: Add them all, then Run. Where all
// are of one row it may seek to that first, for a row that is absent needs no
// more.
class CellLookup {
 public:
  // `count`: of cells that will be added, more or less. The references outlive
  // the lookup.
  CellLookup(const OpenedStore& opened, const FamilyMap& families,
             const ReadOptions& options, size_t count);

  // The views must outlive the lookup. InvalidArgument: a name out of its
  // limits.
  rocksdb::Status Add(std::string_view row, std::string_view family,
                      std::string_view qualifier);

  // Calls found(i, cells) for each cell that was added, the i-th, and has
  // versions to show, in order. Once. InvalidArgument: a row out of its limits.
  template <typename Found>
  rocksdb::Status Run(Found found) {
    rocksdb::Status s =
        CheckReadOptions(options_.max_versions, options_.time_range);
    if (!s.ok() || wanted_.empty()) return s;
    bool absent = false;
    s = LookForRow(&absent);
    if (!s.ok() || absent) return s;
    s = Read();
    const uint64_t now_ms = opened_.shared->clock.Now();
    for (size_t i = 0; s.ok() && i < wanted_.size(); ++i) {
      std::vector<Cell> cells;
      s = Show(wanted_[i], now_ms, &cells);
      if (s.ok() && !cells.empty()) found(i, std::move(cells));
    }
    return s;
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  // Fewer columns are found absent as fast as their row.
  static constexpr size_t kColumnsForASeek = 4;

  struct Wanted {
    std::string_view row;
    FamilyMap::const_iterator family;
    std::string_view qualifier;
    size_t key = kNone;         // places in keys_
    size_t delete_key = kNone;  // of a kDeleteFamily; kNone: it cannot be
  };
  struct Key {
    rocksdb::ColumnFamilyHandle* handle;
    size_t begin;  // in key_bytes_
    size_t size;
  };

  // Sets *absent if all cells are of one row and family that is surely absent.
  rocksdb::Status LookForRow(bool* absent);
  rocksdb::Status MakeKeys();
  size_t AddKey(const Family& family, std::string_view row_bytes,
                std::string_view qualifier);
  rocksdb::Status Read();
  rocksdb::Status Show(const Wanted& wanted, uint64_t now_ms,
                       std::vector<Cell>* cells);

  const OpenedStore& opened_;
  const FamilyMap& families_;
  const ReadOptions options_;
  std::vector<Wanted> wanted_;
  bool one_row_ = true;  // all of them are of one row and family
  std::vector<Key> keys_;
  std::string key_bytes_;
  std::vector<rocksdb::PinnableSlice> values_;
  std::vector<rocksdb::Status> statuses_;
};

}  // namespace rowbloom
