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
    : options_(options), waiting_(std::move(files)) {
  std::sort(waiting_.begin(), waiting_.end(),
            [](const SourceFile& a, const SourceFile& b) {
              return std::tie(a.first_row, a.place) >
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
    return std::tuple(source.file.mvcc.value_or(source.cells->cell().mvcc),
                      source.file.sequence_id, source.file.place);
  };
  return age(*a) < age(*b);
}

Status MergedCells::Start() { return OpenWaiting(); }

Status MergedCells::Next() {
  std::pop_heap(open_.begin(), open_.end(), ComesAfter);
  open_.back()->cells->Next();
  Status s = PlaceLast();
  return s.ok() ? OpenWaiting() : s;
}

Status MergedCells::PlaceLast() {
  const Source& source = *open_.back();
  if (!source.cells->Valid()) {
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
  while (!waiting_.empty() &&
         (open_.empty() || waiting_.back().first_row <= cell().row)) {
    auto source = std::make_unique<Source>();
    source->file = std::move(waiting_.back());
    waiting_.pop_back();
    Status s = HFileReader::Open(options_, source->file.path, &source->reader);
    if (!s.ok()) return s;
    // Each block is read once.
    source->cells = source->reader->NewIterator({.fill_cache = false});
    source->cells->SeekToFirst();
    open_.push_back(std::move(source));
    s = PlaceLast();
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace rowbloom::hfile_transfer
