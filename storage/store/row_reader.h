// A RowPlan describes a read of rows; ReadRow reads the cells of a row by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rowbloom/cell.h"
#include "rowbloom/read_options.h"
#include "storage/cells/filter_run.h"
#include "storage/store/opened_store.h"
#include "storage/store/row_cells.h"
#include "storage/store/snapshot.h"

namespace rowbloom {

// One read of rows: its options, checked and in order, the state of the store
// that it reads, its time and its filter.
class RowPlan {
 public:
  struct FamilyPart {
    FamilyMap::const_iterator family;
    // The qualifiers to read, in the order of the read; empty: all of them.
    std::vector<std::string> qualifiers;
  };

  // `opened` outlives it.
  explicit RowPlan(const OpenedStore& opened) : opened_(opened) {}
  RowPlan(const RowPlan&) = delete;
  RowPlan& operator=(const RowPlan&) = delete;

  // A read without a snapshot gets one if it may read a row twice, or reads
  // several families: RocksDB reads them one after the other. InvalidArgument:
  // an unknown family, a name out of its limits.
  rocksdb::Status Set(const RowOptions& options);

  const OpenedStore& opened() const { return opened_; }

  // The families in the order of the read: by ascending or descending name.
  const std::vector<FamilyPart>& families() const { return families_; }
  // The families that the iterators of the parts point into.
  const SharedFamilies& store_families() const { return store_families_; }
  // The options of Set, with the snapshot of the read.
  const RowOptions& options() const { return options_; }
  // The first qualifier to read, and the end, exclusive; an empty end is beyond
  // all. If another end is not larger than first(), no qualifier is read.
  const std::string& first() const { return first_; }
  const std::string& end() const { return end_; }
  bool Chooses(std::string_view qualifier) const {
    return qualifier >= first_ && (end_.empty() || qualifier < end_);
  }

  // nullptr: the read has none.
  FilterRun* filter() { return filter_ ? &*filter_ : nullptr; }

  // Returns the versions to read, which expire by the time of the first call.
  // REQUIRES that the read has its state of the store: a snapshot, an iterator
  // or a result. An earlier time would show versions that expired before a
  // write that the state has.
  const VersionQuery& Query() {
    if (!query_) {
      query_ = {options_.time_range, options_.max_versions,
                opened_.shared->clock.WallNow()};
    }
    return *query_;
  }

 private:
  // Sets the families and their qualifiers by options_.
  rocksdb::Status SetFamilies();

  const OpenedStore& opened_;
  RowOptions options_;
  std::optional<StoreSnapshot> own_snapshot_;
  std::optional<FilterRun> filter_;
  std::optional<VersionQuery> query_;
  std::string first_;
  std::string end_;
  SharedFamilies store_families_;
  std::vector<FamilyPart> families_;
};

// Takes the columns of a row in order, and keeps the requested page of them. It
// overwrites the cells of the vector, whose strings keep their memory: a scan
// of cells of 40 bytes would take 10 % longer without that. Memory that is far
// larger than a qualifier or value is freed: a scan would come to hold the
// largest one of each place in a row.
class ColumnPage {
 public:
  // REQUIRES that the plan's filter has begun with the row.
  ColumnPage(RowPlan* plan, std::vector<Cell>* cells)
      : cells_(cells),
        filter_(plan->filter()),
        keys_only_(plan->options().keys_only),
        from_end_(plan->options().columns_from_end),
        skip_(plan->options().column_offset),
        left_(plan->options().column_limit) {}
  // Removes the cells that were not overwritten.
  ~ColumnPage() {
    cells_->resize(size_);
    if (from_end_) Reverse();
  }
  ColumnPage(const ColumnPage&) = delete;
  ColumnPage& operator=(const ColumnPage&) = delete;

  // True: the page needs no further cell of the row.
  bool IsFull() const {
    return left_ == 0 || (filter_ != nullptr && filter_->RowIsDone());
  }

  // Adds a version of the present column, unless the filter drops it.
  void Add(std::string_view family, std::string_view qualifier,
           uint64_t timestamp_ms, std::string_view value) {
    if (filter_ != nullptr &&
        !filter_->Keeps({family, qualifier, timestamp_ms, value})) {
      return;
    }
    if (size_ == cells_->size()) cells_->emplace_back();
    Cell& cell = (*cells_)[size_];
    // Rows that follow each other mostly have the same columns.
    Assign(family, &cell.family);
    Assign(qualifier, &cell.qualifier);
    cell.timestamp_ms = timestamp_ms;
    if (keys_only_) value = {};
    FreeSpare(value.size(), &cell.value);
    cell.value.assign(value);
    ++size_;
  }

  // Ends the column. A column without versions does not count.
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
  // Frees the memory of a string that is far larger than it needs.
  static void FreeSpare(size_t needed, std::string* of) {
    constexpr size_t kSpareBytes = 1024;
    if (of->capacity() > 2 * needed + kSpareBytes) Free(of);
  }
  static void Free(std::string* of);  // rarely called, and so not inline

  // A Slice compares inline, a string_view in a call.
  static void Assign(const rocksdb::Slice& name, std::string* to) {
    if (name == *to) return;
    FreeSpare(name.size(), to);
    to->assign(name.data(), name.size());
  }

  // Puts columns that were added last one first into their order.
  void Reverse();

  std::vector<Cell>* const cells_;
  FilterRun* const filter_;
  const bool keys_only_;
  const bool from_end_;
  size_t size_ = 0;
  size_t kept_ = 0;  // cells of columns that were ended
  size_t skip_;
  size_t left_;
};

// Adds the cells of one family of the row that `row` has entered. Leaves its
// iterator anywhere in the row or next to it.
rocksdb::Status ReadPart(RowPlan* plan, const RowPlan::FamilyPart& part,
                         RowCells* row, ColumnPage* page);

// Reads the cells of one row: by point lookups if only single columns are
// chosen, otherwise by a prefix seek per family, which probes ROW.
rocksdb::Status ReadRow(RowPlan* plan, std::string_view row,
                        std::vector<Cell>* cells);

}  // namespace rowbloom
