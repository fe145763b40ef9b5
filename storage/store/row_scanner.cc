// Store::Scan: an iterator per family, moved from row to row together.
#include "rowbloom/row_scanner.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/layout/key_range.h"
#include "rocksdb/iterator.h"
#include "storage/format/no_exceptions.h"
#include "storage/store/row_reader.h"
#include "storage/store/snapshot.h"
#include "storage/store/store_impl.h"

namespace rowbloom {

using rocksdb::Slice;
using rocksdb::Status;

class RowScanner::Source {
 public:
  explicit Source(const OpenedStore& opened) : opened_(opened) {}

  // InvalidArgument: as RowPlan::Make, or a row that is too long.
  Status Open(const ScanOptions& options) {
    Status s = CheckRowBound(options.start_row);
    if (s.ok()) s = CheckRowBound(options.stop_row);
    if (s.ok()) s = CheckRowBound(options.row_prefix);
    if (s.ok()) s = RowPlan::Make(opened_, options.row, &plan_);
    if (!s.ok() || options.limit == 0) return s;
    auto range = RangeOfRows(opened_.key_layout(), options.start_row,
                             options.stop_row, options.row_prefix);
    if (!range) return s;
    range_ = *std::move(range);
    reverse_ = options.reverse;
    left_ = options.limit;
    rocksdb::ReadOptions read_options;
    read_options.total_order_seek = true;
    lower_ = range_.first;
    upper_ = range_.end;
    if (!lower_.empty()) read_options.iterate_lower_bound = &lower_;
    if (!upper_.empty()) read_options.iterate_upper_bound = &upper_;
    read_options.snapshot = RocksdbSnapshot(options.row.snapshot);
    // One iterator is of one moment by itself.
    if (read_options.snapshot == nullptr && plan_.families().size() > 1) {
      read_options.snapshot = moment_.emplace(opened_).get();
    }
    for (const RowPlan::FamilyPart& part : plan_.families()) {
      families_.push_back({&part, std::make_unique<RowCells>(
                                      opened_, part.family, read_options)});
      rocksdb::Iterator* const it = families_.back().cells->it();
      if (reverse_) {
        it->SeekToLast();
      } else {
        it->SeekToFirst();
      }
    }
    return s;
  }

  // *valid: there was another row. An error ends the rows.
  Status Next(Row* row, bool* valid) {
    Status s;
    *valid = false;
    while (s.ok() && !*valid && left_ > 0) {
      s = FindRow();
      if (!s.ok() || row_bytes_.empty()) return s;
      s = ReadCells(row);
      *valid = s.ok() && !row->cells.empty();
    }
    if (*valid) --left_;
    return s;
  }

 private:
  struct FamilyRows {
    const RowPlan::FamilyPart* part;
    std::unique_ptr<RowCells> cells;
  };

  // Makes row_bytes_ that of the next row of all families; empty at the end.
  Status FindRow() {
    std::optional<std::string_view> next;
    for (const FamilyRows& family : families_) {
      const rocksdb::Iterator* const it = family.cells->it();
      if (!it->Valid()) {
        if (Status s = it->status(); !s.ok()) return s;
        continue;
      }
      std::string_view here;
      Status s = opened_.FindRow(it->key().ToStringView(), &here);
      if (!s.ok()) return s;
      if (!next || (reverse_ ? *next < here : here < *next)) next = here;
    }
    row_bytes_.assign(next.value_or(std::string_view()));
    return Status::OK();
  }

  Status ReadCells(Row* row) {
    if (Status s = opened_.DecodeRow(row_bytes_, &row->row); !s.ok()) return s;
    ColumnPage page(plan_.options(), &row->cells);
    const uint64_t wall_ms = plan_.WallMs(*opened_.shared);
    for (const FamilyRows& family : families_) {
      rocksdb::Iterator* const it = family.cells->it();
      if (!it->Valid() || !it->key().starts_with(row_bytes_)) continue;
      if (!page.IsFull()) {
        // Forwards it stands on the row's first key.
        if (reverse_) it->Seek(row_bytes_);
        Status s = family.cells->Enter(row->row, row_bytes_);
        if (s.ok()) {
          s = ReadPart(plan_, *family.part, wall_ms, family.cells.get(), &page);
        }
        if (!s.ok()) return s;
      }
      Leave(it);
    }
    return Status::OK();
  }

  // Moves an iterator beyond the row that was read.
  void Leave(rocksdb::Iterator* it) const {
    if (reverse_) {
      it->SeekForPrev(row_bytes_);
      // The cell of the empty qualifier is the row's own.
      if (it->Valid() && it->key() == Slice(row_bytes_)) it->Prev();
      return;
    }
    if (it->Valid() && it->key().starts_with(row_bytes_)) {
      it->Seek(RowEnd(row_bytes_, kMaxQualifierBytes));
    }
  }

  const OpenedStore& opened_;
  RowPlan plan_;
  bool reverse_ = false;
  uint64_t left_ = 0;
  KeyRange range_;
  // The bounds that rocksdb::ReadOptions point to while the iterators live.
  Slice lower_;
  Slice upper_;
  std::optional<CountedSnapshot> moment_;
  std::vector<FamilyRows> families_;
  std::string row_bytes_;
};

RowScanner::RowScanner(std::unique_ptr<Source> source)
    : source_(std::move(source)) {}
RowScanner::RowScanner(const Status& error) : status_(error) {}
RowScanner::RowScanner(RowScanner&&) noexcept = default;
RowScanner& RowScanner::operator=(RowScanner&&) noexcept = default;
RowScanner::~RowScanner() = default;

RowScanner::Iterator RowScanner::begin() {
  if (!begun_) Advance();
  return Iterator(this);
}

void RowScanner::Advance() {
  begun_ = true;
  if (source_ == nullptr) return;
  status_ = CatchExceptions([this] { return source_->Next(&row_, &valid_); });
  if (!status_.ok()) valid_ = false;
  if (!valid_) source_.reset();
}

RowScanner Store::Scan(const ScanOptions& options) {
  std::unique_ptr<RowScanner::Source> source;
  const Status s = CatchExceptions([&] {
    source = std::make_unique<RowScanner::Source>(impl_->opened);
    return source->Open(options);
  });
  return s.ok() ? RowScanner(std::move(source)) : RowScanner(s);
}

}  // namespace rowbloom
