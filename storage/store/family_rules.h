// The parts of an open store that RocksDB's background threads share:
// SharedState, the version rules and filter policies of families, which can be
// altered meanwhile, and the merge operators and compaction filters that apply
// the rules. The threads may run on for a short time after the store is closed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/status.h"
#include "rocksdb/version.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/key_layout.h"
#include "storage/cells/cell_value.h"
#include "storage/cells/cell_versions.h"
#include "storage/cells/clock.h"
#include "storage/store/oldest_put.h"
#include "storage/store/update_counts.h"

namespace rowbloom {

// Tells whether iterators forget that they could not read a block: where they
// skip a deleted range and, unless they ignore range deletions, where they come
// to the next file of a level. Found with 7.8.3; 8.7 reports each.
inline constexpr bool kRocksdbForgetsBlocks =
    ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR < 807;

// The state that all families share. Thread-safe.
struct SharedState {
  explicit SharedState(WallClock wall_clock) : clock(std::move(wall_clock)) {}

  LeasedClock clock;
  // As the store record has them (metadata.h).
  std::atomic<RareKinds> rare_kinds{kRowDeletes};
  bool MayHave(RareKinds kinds) const { return (rare_kinds & kinds) != 0; }
};

// The rules of a family, and the facts about its entries on which compactions
// and loads depend. Thread-safe, but only one Set may run at a time.
class SharedRules {
 public:
  // `memtable_bytes` are those of UpdateCounts.
  SharedRules(const VersionRules& rules, uint64_t memtable_bytes)
      : updates(memtable_bytes) {
    Set(rules);
  }

  // During a Set the result may mix old and new rules. Compactions, which need
  // the rules of one Set, do not run then, and merges use max_versions alone.
  VersionRules Get() const { return {max_versions_, min_versions_, ttl_ms_}; }

  void Set(const VersionRules& rules) {
    max_versions_ = rules.max_versions;
    min_versions_ = rules.min_versions;
    ttl_ms_ = rules.ttl_ms;
  }

  // Returns the rules by which writes are merged. Writes from when the family
  // kept more versions are merged by that number: a later delete of one version
  // shows the next. The number is in a record of the family. An opening that
  // finds nothing to merge deletes the record.
  VersionRules Merging() const {
    VersionRules rules = Get();
    rules.max_versions = std::max<uint32_t>(rules.max_versions, merged_);
    return rules;
  }
  // Sets that number. Called before a Set that keeps fewer versions. It may
  // fall only while no thread reads or writes. 0: there is nothing to merge.
  void SetMerged(uint32_t max_versions) { merged_ = max_versions; }

  // Returns a number that rises, under the locks of the rows, with each write
  // or removal of a kDeleteFamilyVersion after it is visible, and with each
  // load of some before its files are added.
  uint64_t FamilyVersionDeletes() const { return family_version_deletes_; }
  void NoteFamilyVersionDelete() { ++family_version_deletes_; }

  OldestPut oldest_put;
  UpdateCounts updates;
  // Tells whether iterators have to look for range deletions. It is set before
  // the first one is written, and never reset.
  std::atomic<bool> may_have_range_deletions = !kRocksdbForgetsBlocks;
  // The files that reads skipped by their times.
  std::atomic<uint64_t> files_passed_over = 0;

 private:
  std::atomic<uint32_t> max_versions_;
  std::atomic<uint32_t> min_versions_;
  std::atomic<uint64_t> ttl_ms_;
  std::atomic<uint32_t> merged_ = 0;
  std::atomic<uint64_t> family_version_deletes_ = 0;
};

// The filter policy of a family. It forwards all calls to policies of
// NewFilterPolicy: the current one builds filters, and the first one reads
// those of all policies, as any of them could. Thread-safe.
class AlterableFilterPolicy final : public rocksdb::FilterPolicy {
 public:
  using Policy = std::shared_ptr<const rocksdb::FilterPolicy>;

  explicit AlterableFilterPolicy(const Policy& policy)
      : policies_{policy}, first_(*policy), current_(policy.get()) {}

  // Makes `policy`, or a known one with the same options, build new filters.
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

  // Collects GetFilterStats of all policies, one after the other.
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
  // None is ever removed: RocksDB keeps names, and builders keep their policy.
  std::vector<Policy> policies_;
  const rocksdb::FilterPolicy& first_;
  std::atomic<const rocksdb::FilterPolicy*> current_;
};

// Returns the merge operator of `versioned` families. Operands and values are
// entries of cell_versions.h.
std::shared_ptr<rocksdb::MergeOperator> NewVersionMergeOperator(
    std::shared_ptr<const SharedRules> rules);

// Compaction filters that reclaim the space of versions that no read can see:
// expired ones and, in `versioned` families, those that a delete of the row or
// of its family took. Merging, or RocksDB itself, removes versions that a put
// or another delete replaced.
struct ReclaimParts {
  CellFormat format;
  std::shared_ptr<SharedRules> rules;
  KeyLayout key_layout;
  std::shared_ptr<SharedState> shared;
};
std::shared_ptr<rocksdb::CompactionFilterFactory> NewReclaim(
    ReclaimParts parts);

}  // namespace rowbloom
