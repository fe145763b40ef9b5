// The filter policy of a family, whose options change while RocksDB uses it.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
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
  using Policy = std::shared_ptr<const rocksdb::FilterPolicy>;

  explicit AlterableFilterPolicy(const Policy& policy)
      : policies_{policy}, first_(*policy), current_(policy.get()) {}

  // New filters are built by `policy`, or by one of its options that is known.
  void Alter(Policy policy) {
    const std::lock_guard lock(mutex_);
    const std::string_view name = policy->Name();
    auto known = std::find_if(
        policies_.begin(), policies_.end(),
        [name](const Policy& other) { return other->Name() == name; });
    if (known == policies_.end()) {
      known = policies_.insert(known, std::move(policy));
    }
    current_ = known->get();
  }

  // GetFilterStats of all policies, one after the other.
  rocksdb::Status Stats(std::vector<LevelFilterStats>* stats) const {
    stats->clear();
    const std::lock_guard lock(mutex_);
    rocksdb::Status s;
    for (const Policy& policy : policies_) {
      std::vector<LevelFilterStats> levels;
      if (s.ok()) s = GetFilterStats(*policy, &levels);
      stats->insert(stats->end(), levels.begin(), levels.end());
    }
    return s;
  }

  const char* Name() const override { return current_.load()->Name(); }
  const char* CompatibilityName() const override {
    return first_.CompatibilityName();
  }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return current_.load()->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(
      const rocksdb::Slice& contents) const override {
    return first_.GetFilterBitsReader(contents);
  }

 private:
  mutable std::mutex mutex_;
  // Stay as long as this object: RocksDB keeps names, and builders their
  // policy.
  std::vector<Policy> policies_;
  const rocksdb::FilterPolicy& first_;
  std::atomic<const rocksdb::FilterPolicy*> current_;
};

}  // namespace rowbloom
