#include "storage/filter_policy/front_filter/row_iterator.h"

namespace rowbloom::front_filter {

using rocksdb::Slice;
using rocksdb::Status;

bool StaysInRow(const rocksdb::ReadOptions& options) {
  return options.prefix_same_as_start && !options.total_order_seek &&
         !options.auto_prefix_mode && !options.tailing;
}

Answer RowIterator::LookUp(const Slice& target) const {
  if (prepared_ || view_ == nullptr || !core_->answers() ||
      !family_->prefixes_are_rows()) {
    return Answer::kNothing;
  }
  const Outcome outcome = family_->LookUp(
      *view_, 1,
      [&](size_t /*i*/) {
        auto parts = PartsOf(*family_, target);
        if (parts) parts->qualifier.reset();  // a seek may find any column
        return parts;
      },
      [](size_t /*i*/) {});
  family_->Add(outcome);
  if (outcome.absent > 0) return Answer::kAbsent;
  return outcome.passed > 0 ? Answer::kMayExist : Answer::kNothing;
}

void RowIterator::Seek(const Slice& target) {
  const Answer answer = LookUp(target);
  answered_ = answer == Answer::kAbsent;
  if (answered_) return;
  inner_->Seek(target);
  Status status = inner_->status();
  if (status.ok() && !inner_->Valid()) status = Status::NotFound();
  CountPassed(*family_, answer, status);
}

template <typename Refreshing>
Status RowIterator::RefreshBy(const Refreshing& refresh) {
  Status status;
  auto view = family_->ViewDuring([&] { status = refresh(); });
  // An answered seek stays one: inner_ may have the error of an earlier seek.
  if (status.ok()) view_ = std::move(view);
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
