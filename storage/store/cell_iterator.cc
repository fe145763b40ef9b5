// Store::NewCellIterator walks over the keys of a family.
#include "rowbloom/cell_iterator.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "lib/layout/key_range.h"
#include "rocksdb/sst_file_reader.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/store/row_cells.h"
#include "storage/store/snapshot.h"
#include "storage/store/store_impl.h"

namespace rowbloom {
namespace {

using rocksdb::Status;

class FamilyCells final : public CellIterator {
 public:
  explicit FamilyCells(const OpenedStore& opened) : opened_(opened) {}

  // Moves to the first cell. InvalidArgument: an unknown family.
  Status Open(const CellIteratorOptions& options) {
    Status s = FamiliesAt(opened_, options.snapshot, &families_);
    if (s.ok()) s = opened_.FindFamily(*families_, options.family, &family_);
    if (!s.ok()) return s;
    auto range = RangeOfRows(opened_.key_layout(), options.start_row,
                             options.stop_row, "");
    if (!range) return s;
    range_ = *std::move(range);
    upper_ = range_.end;
    deletes_ =
        options.deletes && family_->second.format == CellFormat::kVersioned;
    read_options_.total_order_seek = true;
    read_options_.fill_cache = false;
    if (!range_.end.empty()) read_options_.iterate_upper_bound = &upper_;
    read_options_.snapshot = RocksdbSnapshot(options.snapshot);
    cells_ = std::make_unique<RowCells>(opened_, family_, read_options_);
    // The caller may destroy it before the iterator, which does not need it.
    read_options_.snapshot = nullptr;
    // An earlier time would show versions that expired before a write that the
    // iterator has.
    wall_ms_ = opened_.shared->clock.WallNow();
    cells_->it()->Seek(range_.first);
    return FindShown();
  }

  bool Valid() const override { return at_ < shown_.size(); }
  const CellView& cell() const override { return cell_; }
  const Status& status() const override { return status_; }

  void Next() override {
    if (++at_ < shown_.size()) {
      SetCell();
      return;
    }
    status_ = CatchExceptions([this] {
      cells_->it()->Next();
      return FindShown();
    });
    // The key may have been read in part.
    if (!status_.ok()) shown_.clear();
  }

 private:
  // Moves to the first key, from the present one on, with an entry to show.
  Status FindShown() {
    shown_.clear();
    at_ = 0;
    rocksdb::Iterator* const it = cells_->it();
    for (; it->Valid(); it->Next()) {
      if (Status s = ReadKey(); !s.ok()) return s;
      if (shown_.empty()) continue;
      SetCell();
      break;
    }
    const Status s = it->status();
    return kRocksdbForgetsBlocks && s.ok() && !it->Valid() &&
                   family_->second.shared_rules->may_have_range_deletions
               ? CheckBlocks()
               : s;
  }

  // Reads the blocks of the range once more. Without their keys, other files
  // show cells that were overwritten or deleted. A file that is gone was
  // merged, and so read.
  Status CheckBlocks() const {
    rocksdb::ColumnFamilyHandle* const handle = family_->second.handle();
    rocksdb::TablePropertiesCollection files;
    const rocksdb::Range range(range_.first, range_.end);
    Status s = range_.end.empty()
                   ? opened_.database->GetPropertiesOfAllTables(handle, &files)
                   : opened_.database->GetPropertiesOfTablesInRange(
                         handle, &range, 1, &files);
    if (!s.ok()) return s;
    for (const auto& [file, properties] : files) {
      rocksdb::SstFileReader reader(opened_.database->GetOptions(handle));
      s = reader.Open(file);
      if (s.IsNotFound() || s.IsPathNotFound()) continue;
      if (s.ok()) {
        const std::unique_ptr<rocksdb::Iterator> keys(
            reader.NewIterator(read_options_));
        keys->Seek(range_.first);
        while (keys->Valid()) keys->Next();
        s = keys->status();
        // The block is read, but begins with a merge into a blob file's value.
        if (s.IsNotSupported()) s = Status::OK();
      }
      if (!s.ok()) return Prefixed(file + ": ", s);
    }
    return Status::OK();
  }

  // Reads the entries that the present key shows.
  Status ReadKey() {
    std::string_view row_bytes;
    Status s = opened_.FindRow(cells_->it()->key().ToStringView(), &row_bytes);
    if (s.ok() && row_bytes != row_bytes_) {
      row_bytes_ = row_bytes;
      s = opened_.DecodeRow(row_bytes_, &row_);
      if (s.ok()) s = cells_->Enter(row_, row_bytes_);
    }
    if (!s.ok()) return s;
    const StoredCell& here = *cells_->Find();
    cell_.qualifier = here.qualifier;
    s = ReadEntries(here, &shown_);
    if (s.ok()) Select();
    return s;
  }

  // Reduces shown_ to the entries to show.
  void Select() {
    const VersionRules rules = family_->second.rules();
    const RowDeletes& row_deletes = cells_->row_deletes();
    Entries selected;
    if (deletes_) {
      RemoveDead(rules, {wall_ms_, kMaxTimestampMs, &row_deletes}, &shown_);
      selected = DropDeleted(shown_);
      DropDeletedSingly(&selected);
      // A put whose TTL has run out hides the versions that it pushed out.
      std::erase_if(selected, [this](const Entry& entry) {
        return entry.type == ChangeType::kPut && !HasRunOut(entry, wall_ms_);
      });
    }
    const auto deletes = static_cast<std::ptrdiff_t>(selected.size());
    ForEachVisible(shown_, row_deletes, rules, wall_ms_,
                   [&](const Entry& entry) {
                     selected.push_back(entry);
                     return true;
                   });
    std::inplace_merge(selected.begin(), selected.begin() + deletes,
                       selected.end(), ComesBefore);
    shown_ = std::move(selected);
  }

  void SetCell() {
    const Entry& entry = shown_[at_];
    cell_ = {row_, cell_.qualifier, entry.type, entry.timestamp_ms,
             entry.value};
    if (entry.ttl_ms != kNoTtl) cell_.ttl_ms = entry.ttl_ms;
  }

  const OpenedStore& opened_;
  SharedFamilies families_;
  FamilyMap::const_iterator family_;
  bool deletes_ = false;
  uint64_t wall_ms_ = 0;
  KeyRange range_;
  rocksdb::Slice upper_;
  // Seeks probe no filter, as the first row of the range may be absent.
  rocksdb::ReadOptions read_options_;
  std::unique_ptr<RowCells> cells_;

  std::string row_bytes_;  // the present row's, as in its keys
  std::string row_;
  Entries shown_;  // the present key's
  size_t at_ = 0;
  CellView cell_;
  Status status_;
};

}  // namespace

Status Store::NewCellIterator(const CellIteratorOptions& options,
                              std::unique_ptr<CellIterator>* iterator) {
  return CatchExceptions([&] {
    auto cells = std::make_unique<FamilyCells>(impl_->opened);
    Status s = cells->Open(options);
    if (s.ok()) *iterator = std::move(cells);
    return s;
  });
}

}  // namespace rowbloom
