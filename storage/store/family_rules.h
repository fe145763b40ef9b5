// The parts of an open store that RocksDB's background threads share, which may
// run on for a short time after it is closed: SharedState, the version rules
// and filter policies of its families, which change meanwhile, and the merge
// operators and compaction filters that apply the rules.
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
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/status.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/key_layout.h"
#include "storage/cells/cell_value.h"
#include "storage/cells/cell_versions.h"
#include "storage/cells/clock.h"
#include "storage/store/oldest_put.h"
#include "storage/store/update_counts.h"

namespace rowbloom {

// The state that is one for all families. Thread-safe.
struct SharedState {
  explicit SharedState(WallClock wall_clock) : clock(std::move(wall_clock)) {}

  LeasedClock clock;
  // The open database, which outlives its compactions; nullptr: it is not open
  // yet.
  std::atomic<rocksdb::DB*> database{nullptr};
  bool HasSnapshots() const {
    rocksdb::DB* const opened = database;
    uint64_t snapshots = 0;
    return opened != nullptr &&
           (!opened->GetIntProperty(rocksdb::DB::Properties::kNumSnapshots,
                                    &snapshots) ||
            snapshots > 0);
  }
  // As the store record has them (metadata.h).
  std::atomic<RareKinds> rare_kinds{kRowDeletes};
  bool MayHave(RareKinds kinds) const { return (rare_kinds & kinds) != 0; }
};

// The rules, and the facts about the family's entries that decide what its
// compactions and loads may do. Thread-safe, but for Set: one at a time.
class SharedRules {
 public:
  // `memtable_bytes` are those of UpdateCounts.
  SharedRules(const VersionRules& rules, uint64_t memtable_bytes)
      : updates(memtable_bytes) {
    Set(rules);
  }

  // A call beside a Set may mix both rules: compactions, which need all of one,
  // do not run then, and merges go by max_versions alone.
  VersionRules Get() const { return {max_versions_, min_versions_, ttl_ms_}; }

  void Set(const VersionRules& rules) {
    max_versions_ = rules.max_versions;
    min_versions_ = rules.min_versions;
    ttl_ms_ = rules.ttl_ms;
  }

  // The rules by which writes are merged. Those that came while more versions
  // were kept are merged by that number, which is in a record of the family: a
  // later delete of one version shows the next. An opening that finds nothing
  // left to merge deletes the record.
  VersionRules Merging() const {
    VersionRules rules = Get();
    rules.max_versions = std::max<uint32_t>(rules.max_versions, merged_);
    return rules;
  }
  // The call comes before a Set that keeps fewer. A smaller number may come
  // only while nobody reads or writes. 0: nothing is left to merge.
  void SetMerged(uint32_t max_versions) { merged_ = max_versions; }

  // The number rises with each kDeleteFamilyVersion, or load with some, under
  // the locks of their rows: after a write can be read, before a load comes in.
  uint64_t FamilyVersionDeletes() const { return family_version_deletes_; }
  void NoteFamilyVersionDelete() { ++family_version_deletes_; }

  OldestPut oldest_put;
  UpdateCounts updates;
  // Files that reads passed over by their times.
  std::atomic<uint64_t> files_passed_over = 0;

 private:
  std::atomic<uint32_t> max_versions_;
  std::atomic<uint32_t> min_versions_;
  std::atomic<uint64_t> ttl_ms_;
  std::atomic<uint32_t> merged_ = 0;
  std::atomic<uint64_t> family_version_deletes_ = 0;
};

// The filter policy of a family. Hands everything on to policies of
// NewFilterPolicy: the current one builds filters, the first one reads those of
// all, as each of them could. Thread-safe.
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

// For families whose cell format is `versioned`: operands and values are
// entries of cell_versions.h.
std::shared_ptr<rocksdb::MergeOperator> NewVersionMergeOperator(
    std::shared_ptr<const SharedRules> rules);

// Compaction filters that give back the space of what no read can see any more:
// versions that expired, and, in families of the format `versioned`, what a
// delete of the row or of its family took. Merging, or RocksDB itself, removes
// what a put or another delete replaced.
struct ReclaimParts {
  CellFormat format;
  std::shared_ptr<SharedRules> rules;
  KeyLayout key_layout;
  std::shared_ptr<SharedState> shared;
};
std::shared_ptr<rocksdb::CompactionFilterFactory> NewReclaim(
    ReclaimParts parts);

}  // namespace rowbloom
