#include "storage/hfile_transfer/merged_cells.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "rowbloom/printable.h"
#include "storage/hfile_transfer/hbase_limits.h"

namespace rowbloom::hfile_transfer {

using rocksdb::Status;

MergedCells::MergedCells(const HFileReaderOptions& options,
                         std::vector<SourceFile> files)
    : options_(options), files_(std::move(files)) {
  std::sort(files_.begin(), files_.end(),
            [](const SourceFile& a, const SourceFile& b) {
              return std::tie(a.first_row, a.place) <
                     std::tie(b.first_row, b.place);
            });
}

bool MergedCells::ComesAfter(const std::unique_ptr<Source>& a,
                             const std::unique_ptr<Source>& b) {
  const auto key = [](const Source& source) {
    HFileKey without_family = source.cells->cell().key();
    without_family.family = {};
    return without_family;
  };
  const int order = CompareHFileKeys(key(*a), key(*b));
  if (order != 0) return order > 0;
  const auto age = [](const Source& source) {
    const SourceFile& file = source.file;
    return std::tuple(file.mvcc.value_or(source.cells->cell().mvcc),
                      file.sequence_id, -file.file_bytes, file.load_time_ms,
                      file.place);
  };
  return age(*a) < age(*b);
}

Status MergedCells::Start() { return OpenWaiting(); }

Status MergedCells::Next() {
  std::pop_heap(open_.begin(), open_.end(), ComesAfter);
  open_.back()->cells->Next();
  if (Status s = PlaceLast(); !s.ok()) return s;
  return OpenWaiting();
}

Status MergedCells::PlaceLast() {
  const Source& source = *open_.back();
  const std::string& stop_row = source.file.rows.stop_row;
  if (!source.cells->Valid() ||
      (!stop_row.empty() && source.cells->cell().row >= stop_row)) {
    Status s = source.cells->status();
    if (s.ok()) ++files_read_;
    open_.pop_back();
    return s;
  }
  const HFileCellView& cell = source.cells->cell();
  if (cell.family != source.file.family) {
    return Status::InvalidArgument(
        source.file.path + ": " + DescribeCell(cell) +
        ": expected cells of one family, found \"" +
        ToPrintable(source.file.family) + "\" before it");
  }
  std::push_heap(open_.begin(), open_.end(), ComesAfter);
  return Status::OK();
}

Status MergedCells::OpenWaiting() {
  while (next_file_ < files_.size() &&
         (open_.empty() || files_[next_file_].first_row <= cell().row)) {
    const SourceFile& file = files_[next_file_++];
    auto source = std::make_unique<Source>(file);
    Status s = HFileReader::Open(options_, file.path, &source->reader);
    if (!s.ok()) return s;
    // Each block is read once.
    source->cells = source->reader->NewIterator({.fill_cache = false});
    const std::string& start_row = file.rows.start_row;
    if (start_row.empty()) {
      source->cells->SeekToFirst();
    } else {
      source->cells->Seek({.row = start_row});
    }
    open_.push_back(std::move(source));
    s = PlaceLast();
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace rowbloom::hfile_transfer
