// RowCells reads the cells of whole rows by a RocksDB iterator. The store's
// other way to read cells is in point_cells.h.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/layout/key_range.h"
#include "rocksdb/iterator.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "rocksdb/version.h"
#include "rowbloom/cell.h"
#include "storage/store/opened_store.h"
#include "storage/store/row_counter.h"
#include "storage/store/stored_cell.h"

namespace rowbloom {

// Moves to the last key before `key`. REQUIRES an iterator in total order.
inline void SeekToBefore(const rocksdb::Slice& key, rocksdb::Iterator* it) {
  it->SeekForPrev(key);
  if (it->Valid() && it->key() == key) it->Prev();
}

// Walks over the cells of a family, one row at a time: move the iterator to the
// first key of a row, Enter the row, and walk until Find returns nullptr.
// `opened` and the map of `family` outlive it.
class RowCells {
 public:
  // Entries before `range` may be missing: files that have no others are
  // skipped.
  RowCells(const OpenedStore& opened, FamilyMap::const_iterator family,
           rocksdb::ReadOptions options,
           const TimeRange& range = TimeRange::All())
      : RowCells(family, range, &options) {
    MakeIterator(&options, [&] {
      it_.reset(opened.database->NewIterator(options, family->second.handle()));
    });
  }
  // Walks over one row. The iterator is at its first key.
  RowCells(const OpenedStore& opened, FamilyMap::const_iterator family,
           rocksdb::ReadOptions options, std::string_view row_bytes,
           const TimeRange& range = TimeRange::All())
      : RowCells(family, range, &options) {
    MakeIterator(&options, [&] {
      it_ =
          opened.database.SeekRow(options, family->second.handle(), row_bytes);
    });
  }
  RowCells(const RowCells&) = delete;
  RowCells& operator=(const RowCells&) = delete;

  rocksdb::Iterator* it() const { return it_.get(); }

  // Begins a row, and reads its deletes if the iterator is at its first key.
  // The views must outlive the walk. Corruption as ReadEntries.
  rocksdb::Status Enter(std::string_view row, std::string_view row_bytes) {
    row_bytes_ = row_bytes;
    cell_.row = row;
    row_deletes_.clear();
    if (cell_.family->second.format == CellFormat::kLatest) return {};
    const StoredCell* const first = Find();
    return first != nullptr && first->qualifier.empty()
               ? ReadRowDeletes(*first, &row_deletes_)
               : rocksdb::Status::OK();
  }

  // Returns the row's cell at the iterator, which may have only deletes of the
  // row. nullptr: there is none; status() tells whether reading failed.
  const StoredCell* Find() {
    if (!it_->Valid()) return nullptr;
    rocksdb::Slice key = it_->key();
    // A Slice compares inline, a string_view in a call.
    if (!key.starts_with(row_bytes_)) return nullptr;
    key.remove_prefix(row_bytes_.size());
    cell_.qualifier = key.ToStringView();
    cell_.value = it_->value().ToStringView();
    return &cell_;
  }
  rocksdb::Status status() const { return it_->status(); }
  const RowDeletes& row_deletes() const { return row_deletes_; }
  // Moves to the next or the previous key. REQUIRES that Find finds a cell.
  void Next() { it_->Next(); }
  void Prev() { it_->Prev(); }
  // Moves to the first cell of the row from that qualifier on.
  void Seek(std::string_view qualifier) {
    const StoredCell* const here = Find();
    if (here == nullptr || here->qualifier >= qualifier) return;
    key_.assign(row_bytes_).append(qualifier);
    it_->Seek(key_);
  }
  // Moves to the last cell of the row before that qualifier, or to the last of
  // all if it is empty. REQUIRES an iterator in total order.
  void SeekBefore(std::string_view qualifier) {
    if (qualifier.empty()) {
      key_ = RowEnd(row_bytes_, kMaxQualifierBytes);
    } else {
      key_.assign(row_bytes_).append(qualifier);
    }
    SeekToBefore(key_, it_.get());
  }

 private:
  // Completes the options. The caller makes the iterator with them.
  RowCells(FamilyMap::const_iterator family, const TimeRange& range,
           rocksdb::ReadOptions* options) {
    cell_.family = family;
    cell_.row_deletes = &row_deletes_;
    if (range.begin_ms == 0 || family->second.format == CellFormat::kLatest) {
      return;
    }
    file_filter_ =
        [passed_over = &family->second.shared_rules->files_passed_over,
         begin_ms =
             range.begin_ms](const rocksdb::TableProperties& properties) {
          const std::optional<uint64_t> newest_ms =
              NumberOf(properties, kNewestProperty);
          if (!newest_ms || *newest_ms >= begin_ms) return true;
          passed_over->fetch_add(1, std::memory_order_relaxed);
          return false;
        };
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1109
    options->table_filter = &file_filter_;
#else
    options->table_filter = file_filter_;
#endif
  }

  // Calls make() for an iterator that ignores range deletions if the family has
  // none (kRocksdbForgetsBlocks), and again if the first was written meanwhile.
  template <typename Make>
  void MakeIterator(rocksdb::ReadOptions* options, Make make) {
    const std::atomic<bool>& may_have =
        cell_.family->second.shared_rules->may_have_range_deletions;
    do {
      options->ignore_range_deletions = !may_have;
      make();
    } while (options->ignore_range_deletions && may_have);
  }

  std::function<bool(const rocksdb::TableProperties&)> file_filter_;
  std::unique_ptr<rocksdb::Iterator> it_;  // may use file_filter_
  std::string_view row_bytes_;
  RowDeletes row_deletes_;
  StoredCell cell_;
  std::string key_;  // to seek
};

}  // namespace rowbloom
