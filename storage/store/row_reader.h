// Reads of rows: what to read, and the loops over the two ways to read it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/cell.h"
#include "rowbloom/read_options.h"
#include "storage/store/cell_list.h"
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
  // What the iterators of the parts point into.
  const SharedFamilies& store_families() const { return store_families_; }
  const RowOptions& options() const { return options_; }

  // The time by which cells expire; 0 where none does.
  uint64_t WallMs(const SharedState& shared) const {
    return expires_ ? shared.clock.WallNow() : 0;
  }

  // Whether single columns are all that is asked for.
  bool HasColumnsOnly() const;

 private:
  RowOptions options_;
  SharedFamilies store_families_;
  std::vector<FamilyPart> families_;  // by name
  bool expires_ = false;              // in one of them
};

// Takes the columns of a row in order, and keeps the page that is asked for.
class ColumnPage {
 public:
  explicit ColumnPage(const RowOptions& options)
      : skip_(options.column_offset), left_(options.column_limit) {}

  bool IsFull() const { return left_ == 0; }

  // A column is what was added to `cells` from place `first` on; nothing: no
  // column.
  void Take(size_t first, CellList* cells);

 private:
  size_t skip_;
  size_t left_;
};

// Adds the cells of one family of a row, which `row` has entered. Leaves its
// iterator anywhere inside the row or at the first key after it.
rocksdb::Status ReadPart(const RowPlan& plan, const RowPlan::FamilyPart& part,
                         uint64_t wall_ms, RowCells* row, ColumnPage* page,
                         CellList* cells);

// The cells of one row: a prefix seek per family, for which ROW answers, or, of
// single columns, point lookups.
rocksdb::Status ReadRow(const OpenedStore& opened, const RowPlan& plan,
                        std::string_view row, std::vector<Cell>* cells);

}  // namespace rowbloom
