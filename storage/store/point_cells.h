// PointCells reads single cells by point lookups, which probe the ROW and
// ROWCOL sections. The store's other way to read cells is in row_cells.h.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rowbloom/read_options.h"
#include "storage/store/opened_store.h"
#include "storage/store/stored_cell.h"

namespace rowbloom {

// Add all cells, Read them, and walk over those that were found, in the order
// in which they were added. All are as of one snapshot.
class PointCells {
 public:
  // The arguments outlive it.
  PointCells(const OpenedStore& opened, const FamilyMap& families,
             const Snapshot* snapshot)
      : opened_(opened), families_(families), snapshot_(snapshot) {}
  PointCells(const PointCells&) = delete;
  PointCells& operator=(const PointCells&) = delete;

  // The views must outlive it. InvalidArgument: a name out of its limits, or an
  // unknown family.
  rocksdb::Status Add(std::string_view row, std::string_view family,
                      std::string_view qualifier);

  // Reads the cells, and moves to the first one that exists. May be called
  // once. Errors are RocksDB's, and name the cell; Corruption as ReadEntries.
  rocksdb::Status Read();

  bool Valid() const { return at_ < wanted_.size(); }
  // The number of the present cell, in the order of Add. REQUIRES Valid().
  size_t index() const { return at_; }
  const StoredCell& cell() const { return cell_; }
  // Moves the stored bytes of the present cell to *to. cell() must not be used
  // afterwards. REQUIRES Valid().
  void MoveStored(rocksdb::PinnableSlice* to) {
    *to = std::move(values_[wanted_[at_].value]);
  }
  // Moves to the next cell that exists. REQUIRES Valid().
  rocksdb::Status Next() {
    ++at_;
    return FindCell();
  }

 private:
  struct Wanted {
    std::string_view row;
    FamilyMap::const_iterator family;
    std::string_view qualifier;
    rocksdb::Slice key;
    size_t row_bytes;  // the row's share of the key
    size_t value = 0;  // place in values_
    // The place of the row's deletes; nullopt: there are none.
    std::optional<size_t> row_value = std::nullopt;
  };

  static bool IsVersioned(const Wanted& wanted) {
    return wanted.family->second.format == CellFormat::kVersioned;
  }
  static rocksdb::Slice RowKey(const Wanted& wanted) {
    return {wanted.key.data(), wanted.row_bytes};
  }

  void ReadOne();
  void ReadAll();
  // Moves to the first cell that exists, from the present one on.
  rocksdb::Status FindCell();
  rocksdb::Status Failed(const Wanted& wanted,
                         const rocksdb::Status& status) const;

  const OpenedStore& opened_;
  const FamilyMap& families_;
  const Snapshot* const snapshot_;
  // Keys and values of a few cells take no memory from the heap.
  std::array<std::byte, 1024> buffer_;
  std::pmr::monotonic_buffer_resource memory_{buffer_.data(), buffer_.size()};
  std::pmr::vector<Wanted> wanted_{&memory_};
  // The values that were read, of the cells and of their rows' deletes. A
  // vector for the value of a single cell would take 2 % of the instructions of
  // its get.
  rocksdb::PinnableSlice one_value_;
  rocksdb::Status one_status_;
  std::pmr::vector<rocksdb::PinnableSlice> many_values_{&memory_};
  std::pmr::vector<rocksdb::Status> many_statuses_{&memory_};
  std::span<rocksdb::PinnableSlice> values_{&one_value_, 1};
  std::span<rocksdb::Status> statuses_{&one_status_, 1};
  size_t at_ = 0;
  std::optional<size_t> deletes_of_;  // row_value of row_deletes_
  RowDeletes row_deletes_;
  StoredCell cell_;
};

}  // namespace rowbloom
