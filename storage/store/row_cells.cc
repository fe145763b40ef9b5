#include "storage/store/row_cells.h"

namespace rowbloom {

using rocksdb::Status;

RowCells::RowCells(const OpenedStore& opened, FamilyMap::const_iterator family,
                   const rocksdb::ReadOptions& options)
    : it_(opened.database->NewIterator(options, family->second.handle())) {
  cell_.family = family;
  cell_.row_deletes = &row_deletes_;
}

Status RowCells::Enter(std::string_view row, std::string_view row_bytes) {
  row_bytes_ = row_bytes;
  cell_.row = row;
  row_deletes_.clear();
  const bool may_have_deletes =
      family()->second.format == CellFormat::kVersioned && Valid() &&
      it_->key().size() == row_bytes.size();
  return may_have_deletes ? ReadRowDeletes(cell(), &row_deletes_)
                          : Status::OK();
}

const StoredCell& RowCells::cell() {
  cell_.qualifier = qualifier();
  cell_.value = it_->value().ToStringView();
  return cell_;
}

void RowCells::Seek(std::string_view qualifier) {
  if (!Valid() || this->qualifier() >= qualifier) return;
  key_.assign(row_bytes_.data(), row_bytes_.size());
  key_.append(qualifier);
  it_->Seek(key_);
}

}  // namespace rowbloom
