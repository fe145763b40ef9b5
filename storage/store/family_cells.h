// The CellIterator behind rowbloom::CellIterator: a walk through the keys of a
// family.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rowbloom/cell_iterator.h"
#include "storage/store/opened_store.h"
#include "storage/store/row_cells.h"

namespace rowbloom {

class FamilyCells final : public CellIterator {
 public:
  // `opened` outlives it.
  explicit FamilyCells(const OpenedStore& opened) : opened_(opened) {}

  // To the first cell. InvalidArgument: an unknown family.
  rocksdb::Status Open(const CellIteratorOptions& options);

  bool Valid() const override { return at_ < shown_.size(); }
  const CellView& cell() const override { return cell_; }
  void Next() override;
  const rocksdb::Status& status() const override { return status_; }

 private:
  // To the next key, from the one here on, that has something to show.
  rocksdb::Status FindShown();
  // What the key here shows.
  rocksdb::Status ReadKey();
  // Makes shown_ what is to be shown of the entries in it.
  void Select();
  void SetCell();

  const OpenedStore& opened_;
  SharedFamilies families_;
  FamilyMap::const_iterator family_;
  bool deletes_ = false;
  uint64_t wall_ms_ = 0;
  std::unique_ptr<RowCells> cells_;

  std::string row_bytes_;  // of the row here, as in its keys
  std::string row_;
  Entries shown_;  // of the key here
  size_t at_ = 0;
  CellView cell_;
  rocksdb::Status status_;
};

}  // namespace rowbloom
