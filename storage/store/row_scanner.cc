// Store::Scan moves one iterator per family from row to row together.
#include "rowbloom/row_scanner.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/layout/key_range.h"
#include "rocksdb/iterator.h"
#include "storage/cells/filter_run.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/store/row_reader.h"
#include "storage/store/store_impl.h"

namespace rowbloom {

using rocksdb::Slice;
using rocksdb::Status;

class RowScanner::Source {
 public:
  explicit Source(const OpenedStore& opened) : opened_(opened), plan_(opened) {}

  // InvalidArgument: that of RowPlan::Set, or a token of another scan.
  Status Open(const ScanOptions& options) {
    reverse_ = options.reverse;
    Status s = FindRanges(options);
    if (s.ok()) s = plan_.Set(options.row);
    if (!s.ok() || options.limit == 0 || ranges_.empty()) return s;
    left_ = options.limit;
    filter_ = plan_.filter();
    // Cells between two ranges must not be read.
    passes_dropped_ =
        filter_ != nullptr && filter_->NeedsNoKey() && ranges_.size() == 1;
    rocksdb::ReadOptions read_options;
    read_options.total_order_seek = true;
    bounds_ = {ranges_.front().first, ranges_.back().end};
    lower_ = bounds_.first;
    upper_ = bounds_.end;
    if (!lower_.empty()) read_options.iterate_lower_bound = &lower_;
    if (!upper_.empty()) read_options.iterate_upper_bound = &upper_;
    read_options.snapshot = RocksdbSnapshot(plan_.options().snapshot);
    for (const RowPlan::FamilyPart& part : plan_.families()) {
      families_.push_back(
          {&part, std::make_unique<RowCells>(opened_, part.family, read_options,
                                             options.row.time_range)});
    }
    plan_.Query();  // the time of the iterators
    if (reverse_) std::ranges::reverse(ranges_);
    EnterRange();
    return s;
  }

  // *valid tells whether there was another row. An error ends the scan.
  Status Next(Row* row, bool* valid) {
    Status s;
    *valid = false;
    while (s.ok() && !*valid && left_ > 0 &&
           !(filter_ != nullptr && filter_->IsOver())) {
      if (!row_bytes_.empty()) std::swap(row_bytes_, done_);
      row_bytes_.clear();
      s = FindRow();
      if (!s.ok() || row_bytes_.empty()) return s;
      s = ReadCells(row);
      *valid = s.ok() && !row->cells.empty();
    }
    if (*valid) --left_;
    return s;
  }

  // RowScanner::Token, where `valid` says whether the last row was read whole.
  std::string Token(bool valid) const {
    const std::string& row_bytes =
        valid && !row_bytes_.empty() ? row_bytes_ : done_;
    return row_bytes.empty() ? "" : std::string(TokenHead()) + row_bytes;
  }

 private:
  static constexpr int kStepsBeforeSeek = 8;
  // A token begins with its version, 1, and the direction. The bytes of a row
  // follow, as in its keys.
  std::string_view TokenHead() const { return reverse_ ? "\1r" : "\1f"; }

  struct FamilyRows {
    const RowPlan::FamilyPart* part;
    std::unique_ptr<RowCells> cells;
    bool has_row = false;  // the present one
  };

  // Sets ranges_ to the ranges that the options choose, in order and disjoint.
  Status FindRanges(const ScanOptions& options) {
    std::vector<RowRange> chosen = options.ranges;
    if (chosen.empty()) chosen.emplace_back();
    Status s = ReadToken(options.token);
    if (!s.ok()) return s;
    for (const RowRange& range : chosen) {
      auto keys = RangeOfRows(
          opened_.key_layout(), std::max(range.start_row, options.start_row),
          EarlierEnd(range.stop_row, options.stop_row), options.row_prefix);
      if (keys) AddRange(*std::move(keys));
    }
    std::ranges::sort(ranges_, {}, &KeyRange::first);
    std::vector<KeyRange> apart;
    for (KeyRange& range : ranges_) {
      if (apart.empty() ||
          (!apart.back().end.empty() && apart.back().end < range.first)) {
        apart.push_back(std::move(range));
      } else if (std::string& end = apart.back().end;
                 !end.empty() && (range.end.empty() || end < range.end)) {
        end = std::move(range.end);
      }
    }
    ranges_ = std::move(apart);
    return s;
  }

  // Adds the part of a range that the token leaves.
  void AddRange(KeyRange range) {
    if (!done_.empty() && reverse_) {
      range.end = EarlierEnd(range.end, done_);
    } else if (!done_.empty()) {
      range.first = std::max(range.first, RowEnd(done_, kMaxQualifierBytes));
    }
    if (range.end.empty() || range.first < range.end) {
      ranges_.push_back(std::move(range));
    }
  }

  // Sets done_ to the row of a token, whose bytes may be anything.
  Status ReadToken(std::string_view token) {
    if (token.empty()) return Status::OK();
    std::string row;
    if (!token.starts_with(TokenHead()) ||
        !opened_.key_layout().DecodeRow(token.substr(TokenHead().size()),
                                        &row)) {
      return InvalidArgument("a token of ", token.size(), " bytes is not of a ",
                             reverse_ ? "reverse" : "forward",
                             " scan of this store");
    }
    done_ = token.substr(TokenHead().size());
    return Status::OK();
  }

  // Moves the iterators to the first row of the present range.
  void EnterRange() {
    const KeyRange& range = ranges_[range_];
    for (const FamilyRows& family : families_) {
      rocksdb::Iterator* const it = family.cells->it();
      if (!reverse_) {
        it->Seek(range.first);
      } else if (range.end.empty()) {
        it->SeekToLast();
      } else {
        SeekToBefore(range.end, it);
      }
    }
  }

  // Moves the iterator of a `latest` family over cells that the filter drops.
  // In a scan for values these are most cells. They cost little more than
  // RocksDB's steps if their keys are not read.
  void PassDropped(const FamilyRows& family) {
    const auto& [name, of_store] = *family.part->family;
    if (of_store.format != CellFormat::kLatest) return;
    rocksdb::Iterator* const it = family.cells->it();
    FilteredCell seen{name};
    for (CellValue cell;
         it->Valid() && DecodeCellValue(it->value().ToStringView(), &cell);
         reverse_ ? it->Prev() : it->Next()) {
      seen.timestamp_ms = cell.timestamp_ms;
      seen.value = cell.value;
      if (!filter_->Drops(seen)) return;
    }
  }

  // Sets *next to the next row of all families, if there is one. It views into
  // an iterator's key.
  Status NextRow(std::optional<std::string_view>* next) {
    for (const FamilyRows& family : families_) {
      if (passes_dropped_) PassDropped(family);
      const rocksdb::Iterator* const it = family.cells->it();
      if (!it->Valid()) {
        if (Status s = it->status(); !s.ok()) return s;
        continue;
      }
      std::string_view here;
      Status s = opened_.FindRow(it->key().ToStringView(), &here);
      if (!s.ok()) return s;
      if (!*next || (reverse_ ? **next < here : here < **next)) *next = here;
    }
    return Status::OK();
  }

  // Sets row_bytes_ to the next row in the ranges; at the end it stays empty.
  Status FindRow() {
    for (;; EnterRange()) {
      std::optional<std::string_view> next;
      Status s = NextRow(&next);
      if (!s.ok() || !next) return s;
      const KeyRange& range = ranges_[range_];
      if (reverse_ ? *next >= range.first
                   : range.end.empty() || *next < range.end) {
        row_bytes_.assign(*next);
        return s;
      }
      if (++range_ == ranges_.size()) return s;
    }
  }

  Status ReadCells(Row* row) {
    if (Status s = opened_.DecodeRow(row_bytes_, &row->row); !s.ok()) return s;
    for (FamilyRows& family : families_) {
      const rocksdb::Iterator* const it = family.cells->it();
      family.has_row = it->Valid() && it->key().starts_with(row_bytes_);
    }
    if (filter_ != nullptr) filter_->BeginRow(row->row);
    // In a forward scan the iterators are at the row's first key.
    Status s = ReadFamilies(row, /*seek=*/reverse_);
    if (s.ok() && filter_ != nullptr && filter_->LooksFirst()) {
      filter_->StartKeeping();
      s = ReadFamilies(row, /*seek=*/true);
    }
    for (const FamilyRows& family : families_) {
      if (s.ok() && family.has_row) Leave(family.cells->it());
    }
    return s;
  }

  // Reads the visible cells, or passes them to the filter's first pass only.
  Status ReadFamilies(Row* row, bool seek) {
    ColumnPage page(&plan_, &row->cells);
    Status s;
    for (const FamilyRows& family : families_) {
      if (!s.ok() || page.IsFull()) break;
      if (!family.has_row) continue;
      if (seek) family.cells->it()->Seek(row_bytes_);
      s = family.cells->Enter(row->row, row_bytes_);
      if (!s.ok()) break;
      s = ReadPart(&plan_, *family.part, family.cells.get(), &page);
    }
    return s;
  }

  // Moves an iterator beyond the row that was read.
  void Leave(rocksdb::Iterator* it) const {
    if (reverse_) return SeekToBefore(row_bytes_, it);
    if (!plan_.options().columns_from_end) {
      // A few steps take less time than a seek.
      for (int steps = 0; steps < kStepsBeforeSeek; ++steps) {
        if (!it->Valid() || !it->key().starts_with(row_bytes_)) return;
        it->Next();
      }
    }
    it->Seek(RowEnd(row_bytes_, kMaxQualifierBytes));
  }

  const OpenedStore& opened_;
  RowPlan plan_;
  FilterRun* filter_ = nullptr;  // the plan's
  bool reverse_ = false;
  uint64_t left_ = 0;
  KeyRange bounds_;               // of all ranges
  std::vector<KeyRange> ranges_;  // in the order of the scan
  size_t range_ = 0;              // the present one
  // The bounds that rocksdb::ReadOptions point to while the iterators live.
  Slice lower_;
  Slice upper_;
  std::vector<FamilyRows> families_;
  bool passes_dropped_ = false;
  std::string row_bytes_;
  std::string done_;  // the row before row_bytes_, or the token's
};

RowScanner::RowScanner() = default;
RowScanner::RowScanner(std::unique_ptr<Source> source)
    : source_(std::move(source)) {}
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
  bool valid = false;
  status_ = CatchExceptions([&] { return source_->Next(&row_, &valid); });
  if (status_.ok() && valid) return;
  const Status s = CatchExceptions([this] {
    token_ = source_->Token(status_.ok());
    return Status::OK();
  });
  if (status_.ok()) status_ = s;
  source_.reset();
}

std::string RowScanner::Token() const {
  return source_ == nullptr ? token_ : source_->Token(true);
}

Status Store::Scan(const ScanOptions& options, RowScanner* rows) {
  return CatchExceptions([&] {
    auto source = std::make_unique<RowScanner::Source>(impl_->opened);
    const Status s = source->Open(options);
    if (s.ok()) *rows = RowScanner(std::move(source));
    return s;
  });
}

Status Store::Count(const ScanOptions& options, ScanCounts* counts) {
  return CatchExceptions([&] {
    *counts = {};
    ScanOptions keys = options;
    keys.row.keys_only = true;
    RowScanner rows;
    if (Status s = Scan(keys, &rows); !s.ok()) return s;
    for (const Row& row : rows) {
      ++counts->rows;
      counts->cells += row.cells.size();
    }
    return rows.status();
  });
}

}  // namespace rowbloom
