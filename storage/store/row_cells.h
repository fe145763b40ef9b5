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
           const rocksdb::ReadOptions& options)
      : it_(opened.database->NewIterator(options, family->second.handle())) {
    cell_.family = family;
    cell_.row_deletes = &row_deletes_;
  }

  rocksdb::Iterator* it() const { return it_.get(); }
  // Moves to a row and enters it.
  rocksdb::Status SeekRow(std::string_view row, std::string_view row_bytes) {
    it_->Seek(row_bytes);
    return Enter(row, row_bytes);
  }

  // Begins with a row, whose deletes it reads if the iterator is at its first
  // key. The views must outlive the walk. Corruption as ReadEntries.
  rocksdb::Status Enter(std::string_view row, std::string_view row_bytes) {
    row_bytes_ = row_bytes;
    cell_.row = row;
    row_deletes_.clear();
    const bool may_have_deletes =
        cell_.family->second.format == CellFormat::kVersioned && Valid() &&
        it_->key().size() == row_bytes.size();
    return may_have_deletes ? ReadRowDeletes(cell(), &row_deletes_)
                            : rocksdb::Status::OK();
  }

  // True if the iterator is at a cell of the row, which may be no more than the
  // row's deletes. Otherwise status() says whether reading failed.
  bool Valid() const {
    return it_->Valid() && it_->key().starts_with(row_bytes_);
  }
  rocksdb::Status status() const { return it_->status(); }

  // The cell here. REQUIRES Valid().
  const StoredCell& cell() {
    cell_.qualifier = qualifier();
    cell_.value = it_->value().ToStringView();
    return cell_;
  }
  std::string_view qualifier() const {
    return it_->key().ToStringView().substr(row_bytes_.size());
  }
  const RowDeletes& row_deletes() const { return row_deletes_; }
  // To the next key. REQUIRES Valid().
  void Next() { it_->Next(); }
  // To the first cell of the row from that qualifier on.
  void Seek(std::string_view qualifier) {
    if (!Valid() || this->qualifier() >= qualifier) return;
    key_.assign(row_bytes_.data(), row_bytes_.size());
    key_.append(qualifier);
    it_->Seek(key_);
  }

 private:
  const std::unique_ptr<rocksdb::Iterator> it_;
  rocksdb::Slice row_bytes_;
  RowDeletes row_deletes_;
  StoredCell cell_;
  std::string key_;  // of Seek
};

}  // namespace rowbloom
