// Where a RowScanner gets its rows: an iterator per family, moved from row to
// row together.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/iterator.h"
#include "rocksdb/status.h"
#include "rowbloom/row_scanner.h"
#include "storage/store/row_reader.h"
#include "storage/store/snapshot.h"

namespace rowbloom {

class RowScanner::Source {
 public:
  explicit Source(const OpenedStore& opened) : opened_(opened) {}

  // InvalidArgument: as RowPlan::Make, or a row that is too long.
  rocksdb::Status Open(const ScanOptions& options);

  // *valid: there was another row. An error ends the rows.
  rocksdb::Status Next(Row* row, bool* valid);

 private:
  struct FamilyRows {
    const RowPlan::FamilyPart* part;
    std::unique_ptr<RowCells> cells;
  };

  // The keys of the rows in the range, [lower_, upper_); an empty upper_ is
  // beyond all. False: there are none.
  bool SetBounds(const ScanOptions& options);
  // Makes row_bytes_ that of the next row of all families; empty at the end.
  rocksdb::Status FindRow();
  rocksdb::Status ReadCells(Row* row);
  // Moves an iterator beyond the row that was read.
  void Leave(rocksdb::Iterator* it) const;

  const OpenedStore& opened_;
  RowPlan plan_;
  bool reverse_ = false;
  uint64_t left_ = 0;
  std::string lower_;
  std::string upper_;
  // What rocksdb::ReadOptions point to while the iterators live.
  rocksdb::Slice lower_slice_;
  rocksdb::Slice upper_slice_;
  std::optional<CountedSnapshot> moment_;
  std::vector<FamilyRows> families_;
  std::string row_bytes_;
};

}  // namespace rowbloom
