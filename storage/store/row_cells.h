// The cells of whole rows by a RocksDB iterator: one of the two ways in which
// the store reads cells (point_cells.h has the other).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "rocksdb/iterator.h"
#include "rocksdb/status.h"
#include "storage/store/opened_store.h"
#include "storage/store/stored_cell.h"

namespace rowbloom {

// The options of a read of one row: it asks the ROW section of each file, and
// ends with the row.
inline rocksdb::ReadOptions RowReads() {
  rocksdb::ReadOptions options;
  options.prefix_same_as_start = true;
  return options;
}

// A walk over the cells of a family, one row at a time: move the iterator to
// the first key of a row, Enter the row, and walk until no cell is left.
class RowCells {
 public:
  // `opened` and what `family` points into outlive it.
  RowCells(const OpenedStore& opened, FamilyMap::const_iterator family,
           const rocksdb::ReadOptions& options);

  rocksdb::Iterator* it() const { return it_.get(); }
  // Moves to a row and enters it.
  rocksdb::Status SeekRow(std::string_view row, std::string_view row_bytes) {
    it_->Seek(row_bytes);
    return Enter(row, row_bytes);
  }
  FamilyMap::const_iterator family() const { return cell_.family; }

  // Begins with a row, whose deletes it reads if the iterator is at its first
  // key. The views must outlive the walk. Corruption as ReadEntries.
  rocksdb::Status Enter(std::string_view row, std::string_view row_bytes);

  // True if the iterator is at a cell of the row, which may be no more than the
  // row's deletes. Otherwise status() says whether reading failed.
  bool Valid() const {
    return it_->Valid() && it_->key().starts_with(row_bytes_);
  }
  rocksdb::Status status() const { return it_->status(); }

  // The cell here. REQUIRES Valid().
  const StoredCell& cell();
  std::string_view qualifier() const {
    return it_->key().ToStringView().substr(row_bytes_.size());
  }
  const RowDeletes& row_deletes() const { return row_deletes_; }
  // To the next key. REQUIRES Valid().
  void Next() { it_->Next(); }
  // To the first cell of the row from that qualifier on.
  void Seek(std::string_view qualifier);

 private:
  const std::unique_ptr<rocksdb::Iterator> it_;
  rocksdb::Slice row_bytes_;
  RowDeletes row_deletes_;
  StoredCell cell_;
  std::string key_;  // of Seek
};

}  // namespace rowbloom
