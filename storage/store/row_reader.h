// Reads the cells of a row through RocksDB iterators.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/iterator.h"
#include "rocksdb/status.h"
#include "rowbloom/cell.h"
#include "rowbloom/read_options.h"
#include "storage/store/cell_list.h"
#include "storage/store/opened_store.h"

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
  uint64_t NowMs(SharedState* shared) const {
    return expires_ ? shared->clock.Now() : 0;
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

// Adds the cells of one family of a row. The iterator stands on the first key
// that does not come before the row; it is left anywhere inside the row or at
// the first key after it.
rocksdb::Status ReadFamilyOfRow(const RowPlan& plan,
                                const RowPlan::FamilyPart& part,
                                std::string_view row,
                                std::string_view row_bytes, uint64_t now_ms,
                                rocksdb::Iterator* it, ColumnPage* page,
                                CellList* cells);

// The cells of one row: a prefix seek per family, for which ROW answers, or, of
// single columns, a CellLookup.
rocksdb::Status ReadRow(const OpenedStore& opened, const RowPlan& plan,
                        std::string_view row, std::vector<Cell>* cells);

}  // namespace rowbloom
