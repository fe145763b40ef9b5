#include "storage/filter_policy/front_filter/row_iterator.h"

#include <optional>
#include <string_view>

#include "storage/filter_policy/front_filter/point_reads.h"

namespace rowbloom::front_filter {

using rocksdb::Slice;
using rocksdb::Status;

bool StaysInRow(const rocksdb::ReadOptions& options) {
  return options.prefix_same_as_start && !options.total_order_seek &&
         !options.auto_prefix_mode && !options.tailing;
}

bool RowIterator::IsAbsent(const Slice& target) const {
  if (prepared_ || view_ == nullptr || !core_->answers() ||
      !family_->prefixes_are_rows()) {
    return false;
  }
  const Outcome outcome = family_->LookUp(
      *view_, 1,
      [&](size_t /*i*/) {
        auto parts = PartsOf(*family_, target);
        if (parts) parts->qualifier.reset();  // the seek goes on to others
        return parts;
      },
      [](size_t /*i*/) {});
  family_->Add(outcome);
  return outcome.absent > 0;
}

void RowIterator::Seek(const Slice& target) {
  answered_ = IsAbsent(target);
  if (!answered_) inner_->Seek(target);
}

template <typename Refreshing>
Status RowIterator::RefreshBy(const Refreshing& refresh) {
  Status status;
  auto view = family_->ViewDuring([&] { status = refresh(); });
  if (!status.ok()) return status;
  answered_ = false;
  view_ = std::move(view);
  return status;
}

Status RowIterator::Refresh() {
  return RefreshBy([this] { return inner_->Refresh(); });
}

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 807
Status RowIterator::Refresh(const rocksdb::Snapshot* snapshot) {
  return RefreshBy([&] { return inner_->Refresh(snapshot); });
}
#endif

}  // namespace rowbloom::front_filter
