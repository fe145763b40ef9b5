// The iterator of a FrontFilterDB.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "rocksdb/iterator.h"
#include "rocksdb/options.h"
#include "storage/filter_policy/front_filter/core.h"
#include "storage/filter_policy/front_filter/point_reads.h"

namespace rowbloom::front_filter {

// Tells whether seeks of an iterator with these options stay within the row of
// their target, if prefixes are rows, and do not depend on earlier seeks. A
// tailing iterator keeps positions from one seek to the next: its results would
// change if it did not see all seeks.
bool StaysInRow(const rocksdb::ReadOptions& options);

// Answers seeks to absent rows itself and forwards all else to `inner`, an
// iterator of RocksDB. REQUIRES StaysInRow of the options, and that core and
// family outlive it, as the database does.
class RowIterator final : public rocksdb::Iterator {
 public:
  // A null `view` means that each row may exist.
  RowIterator(const Core* core, const Family* family,
              std::unique_ptr<rocksdb::Iterator> inner,
              std::shared_ptr<const View> view)
      : core_(core),
        family_(family),
        inner_(std::move(inner)),
        view_(std::move(view)) {}

  bool Valid() const override { return !answered_ && inner_->Valid(); }
  rocksdb::Status status() const override {
    return answered_ ? rocksdb::Status::OK() : inner_->status();
  }
  void Seek(const rocksdb::Slice& target) override;
  void SeekToFirst() override {
    answered_ = false;
    inner_->SeekToFirst();
  }
  void SeekToLast() override {
    answered_ = false;
    inner_->SeekToLast();
  }
  void SeekForPrev(const rocksdb::Slice& target) override {
    answered_ = false;
    inner_->SeekForPrev(target);
  }
  rocksdb::Status Refresh() override;

  void Next() override { inner_->Next(); }
  void Prev() override { inner_->Prev(); }
  rocksdb::Slice key() const override { return inner_->key(); }
  rocksdb::Slice value() const override { return inner_->value(); }
  rocksdb::Slice timestamp() const override { return inner_->timestamp(); }
  rocksdb::Status GetProperty(std::string name, std::string* value) override {
    return inner_->GetProperty(std::move(name), value);
  }
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 707
  const rocksdb::WideColumns& columns() const override {
    return inner_->columns();
  }
#endif
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 807
  rocksdb::Status Refresh(const rocksdb::Snapshot* snapshot) override;
#endif
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 908
  bool PrepareValue() override { return inner_->PrepareValue(); }
#endif
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1001
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1006
  using ScanRanges = rocksdb::MultiScanArgs;
#else
  using ScanRanges = std::vector<rocksdb::ScanOptions>;
#endif
  // After this call RocksDB expects the seek of each range.
  void Prepare(const ScanRanges& ranges) override {
    prepared_ = true;
    inner_->Prepare(ranges);
  }
#endif

 private:
  Answer LookUp(const rocksdb::Slice& target) const;
  template <typename Refreshing>
  rocksdb::Status RefreshBy(const Refreshing& refresh);

  const Core* const core_;
  const Family* const family_;
  const std::unique_ptr<rocksdb::Iterator> inner_;
  std::shared_ptr<const View> view_;
  bool answered_ = false;  // the last seek did not reach inner_
  bool prepared_ = false;  // each seek must reach inner_
};

}  // namespace rowbloom::front_filter
