// Fills a vector of cells in the place of those that it has, whose strings keep
// their memory. A scan of cells of 40 bytes takes 10 % longer without that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rowbloom/cell.h"

namespace rowbloom {

class CellList {
 public:
  explicit CellList(std::vector<Cell>* cells) : cells_(cells) {}
  // Cells that were not replaced go.
  ~CellList() { cells_->resize(size_); }
  CellList(const CellList&) = delete;
  CellList& operator=(const CellList&) = delete;

  void Add(std::string_view family, std::string_view qualifier,
           uint64_t timestamp_ms, std::string_view value) {
    if (size_ == cells_->size()) cells_->emplace_back();
    Cell& cell = (*cells_)[size_];
    // Mostly that of the cell that was here.
    if (cell.family != family) cell.family.assign(family);
    cell.qualifier.assign(qualifier);
    cell.timestamp_ms = timestamp_ms;
    cell.value.assign(value);
    ++size_;
  }

  size_t size() const { return size_; }
  // Takes back what was added from place `size` on.
  void Shrink(size_t size) { size_ = size; }

 private:
  std::vector<Cell>* const cells_;
  size_t size_ = 0;
};

}  // namespace rowbloom
