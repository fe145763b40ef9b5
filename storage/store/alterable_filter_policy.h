// The filter policy of a family, whose options change while RocksDB uses it.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "rocksdb/filter_policy.h"
#include "rocksdb/status.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom {

// Hands everything on to policies of NewFilterPolicy: the current one builds
// filters, the first one reads those of all, as each of them could.
// Thread-safe.
class AlterableFilterPolicy final : public rocksdb::FilterPolicy {
 public:
  explicit AlterableFilterPolicy(
      std::shared_ptr<const rocksdb::FilterPolicy> policy) {
    policies_.push_back(std::move(policy));
  }

  // New filters are built by `policy`, or by one of its options that is known.
  void Alter(std::shared_ptr<const rocksdb::FilterPolicy> policy);

  // GetFilterStats of all policies together.
  rocksdb::Status Stats(std::vector<LevelFilterStats>* stats) const;

  const char* Name() const override { return Current().Name(); }
  const char* CompatibilityName() const override {
    return Current().CompatibilityName();
  }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return Current().GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(
      const rocksdb::Slice& contents) const override {
    return First().GetFilterBitsReader(contents);
  }

 private:
  // Stay as long as this object: RocksDB keeps names, and builders their
  // policy.
  const rocksdb::FilterPolicy& First() const;
  const rocksdb::FilterPolicy& Current() const;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const rocksdb::FilterPolicy>> policies_;
  size_t current_ = 0;
};

}  // namespace rowbloom
