// Reads of rows: what to read, and the loops over the two ways to read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/cell.h"
#include "rowbloom/read_options.h"
#include "storage/store/opened_store.h"
#include "storage/store/row_cells.h"

namespace rowbloom {

// RowOptions, checked and put in order.
class RowPlan {
 public:
  struct FamilyPart {
    FamilyMap::const_iterator family;
    // In order; empty: all of them.
    std::vector<std::string> qualifiers;
  };

  // InvalidArgument: an unknown family, a name out of its limits.
  static rocksdb::Status Make(const OpenedStore& opened,
                              const RowOptions& options, RowPlan* plan);

  const std::vector<FamilyPart>& families() const { return families_; }
  // The families that the iterators of the parts point into.
  const SharedFamilies& store_families() const { return store_families_; }
  const RowOptions& options() const { return options_; }

  // The time by which cells expire; 0 where none does.
  uint64_t WallMs(const SharedState& shared) const {
    return expires_ ? shared.clock.WallNow() : 0;
  }

  // Tells whether single columns are all that is asked for.
  bool HasColumnsOnly() const;

 private:
  RowOptions options_;
  SharedFamilies store_families_;
  std::vector<FamilyPart> families_;  // by name
  bool expires_ = false;              // in one of them
};

// Takes the columns of a row in order, and keeps the page that is asked for in
// the place of the cells that the vector has, whose strings keep their memory.
// A scan of cells of 40 bytes takes 10 % longer without that.
class ColumnPage {
 public:
  ColumnPage(const RowOptions& options, std::vector<Cell>* cells)
      : cells_(cells),
        skip_(options.column_offset),
        left_(options.column_limit) {}
  // Cells that were not replaced go.
  ~ColumnPage() { cells_->resize(size_); }
  ColumnPage(const ColumnPage&) = delete;
  ColumnPage& operator=(const ColumnPage&) = delete;

  bool IsFull() const { return left_ == 0; }

  // A version of the next column. REQUIRES that the page is not full.
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

  // Ends the column, which is none if it has no version.
  void EndColumn() {
    if (size_ == kept_) return;
    if (skip_ > 0) {
      --skip_;
      size_ = kept_;
    } else {
      --left_;
      kept_ = size_;
    }
  }

 private:
  std::vector<Cell>* const cells_;
  size_t size_ = 0;
  size_t kept_ = 0;  // cells of columns that were ended
  size_t skip_;
  size_t left_;
};

// Adds the cells of one family of a row, which `row` has entered. Leaves its
// iterator anywhere inside the row or at the first key after it.
rocksdb::Status ReadPart(const RowPlan& plan, const RowPlan::FamilyPart& part,
                         uint64_t wall_ms, RowCells* row, ColumnPage* page);

// The cells of one row: a prefix seek per family, for which ROW answers, or, of
// single columns, point lookups.
rocksdb::Status ReadRow(const OpenedStore& opened, const RowPlan& plan,
                        std::string_view row, std::vector<Cell>* cells);

}  // namespace rowbloom
