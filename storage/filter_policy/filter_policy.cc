#include "rowbloom/filter_policy.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/block/memory_fit.h"
#include "lib/kernels/kernel.h"
#include "lib/plan/kind_bits.h"
#include "lib/plan/level_plan.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rowbloom/bloom_math.h"
#include "storage/filter_policy/cache_charge.h"
#include "storage/filter_policy/filter_bits.h"
#include "storage/filter_policy/ids.h"
#include "storage/filter_policy/usable_bytes.h"
#include "storage/format/rocksdb_version.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

// A shorter block may be the rest of a truncated block of rowbloom.
constexpr size_t kShortestForeignBlock = 8;

// The bloom_before_level that covers every level.
constexpr int kEveryLevel = std::numeric_limits<int>::max();

// Tells whether a policy of this type builds the filters of such a table.
bool BuildsFilters(BloomType type,
                   const rocksdb::BlockBasedTableOptions& table) {
  if (type == BloomType::kNone) return false;
  // If RocksDB adds prefixes alone, versions before 9.5 add wrong ones at the
  // edges of partitions, and SeekForPrev misses rows under any policy.
  return table.whole_key_filtering || !table.partition_filters ||
         ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 905;
}

class Policy final : public rocksdb::FilterPolicy {
 public:
  explicit Policy(const FilterPolicyOptions& options)
      : options_(options),
        id_(PolicyId(options)),
        builtin_(rocksdb::NewBloomFilterPolicy(10)),
        counters_(std::make_shared<FilterCounters>()) {
    ClassName();  // made here: RocksDB calls IsInstanceOf, which must not throw
  }

  // Returns `policy` if this copy of rowbloom made it, else null. A process may
  // have another copy, in a plugin. There is no dynamic_cast: RocksDB's release
  // builds have no type information.
  static const Policy* From(const rocksdb::FilterPolicy* policy) {
    return policy != nullptr && policy->IsInstanceOf(ClassName())
               ? static_cast<const Policy*>(policy)
               : nullptr;
  }

  bool IsInstanceOf(const std::string& name) const override {
    return name == ClassName() || FilterPolicy::IsInstanceOf(name);
  }

  // The name has all parameters: OPTIONS files and table properties show it.
  const char* Name() const override { return id_.c_str(); }

  // RocksDB looks up filter blocks by this name. It is RocksDB's own, so that
  // old filters stay in use after a switch to rowbloom, and rowbloom's do no
  // harm after a switch back.
  const char* CompatibilityName() const override {
    return builtin_->CompatibilityName();
  }

  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    if (!BuildsFilters(options_.bloom_type, context.table_options)) {
      return nullptr;
    }
    try {
      ReportKernel(context.info_log);
      FilterBlockOptions block{
          .bloom_type = options_.bloom_type,
          .key_layout = *options_.key_layout,
          .kind = KindFor(context),
          .bits_per_key = BitsFor(context),
          .row_spread = options_.row_spread,
          .row_prefix_length = options_.row_prefix_length,
          .origin = {context.column_family_name, context.level_at_creation},
          .verify = context.table_options.detect_filter_construct_corruption};
      // Without whole keys RocksDB adds only rows, and a ROWCOL section would
      // be empty.
      if (!context.table_options.whole_key_filtering &&
          block.bloom_type == BloomType::kRowCol) {
        block.bloom_type = BloomType::kRow;
      }
      if (context.table_options.optimize_filters_for_memory) {
        block.memory_fit = SharedMemoryFit(block.bits_per_key);
      }
      return NewFilterBitsBuilder(block, counters_,
                                  CacheToCharge(context.table_options))
          .release();
    } catch (...) {
      return nullptr;  // out of memory: RocksDB then writes no filter
    }
  }

  rocksdb::FilterBitsReader* GetFilterBitsReader(
      const Slice& contents) const override {
    try {
      if (contents.size() >= kShortestForeignBlock &&
          !FilterBlock::IsFilterBlock(contents.ToStringView())) {
        counters_->At(-1)->CountBuiltinOpened();
        return builtin_->GetFilterBitsReader(contents);
      }
      return NewFilterBitsReader(contents, counters_).release();
    } catch (...) {
      return nullptr;  // out of memory: RocksDB then reads without a filter
    }
  }

  const FilterPolicyOptions& options() const { return options_; }

  std::vector<LevelFilterStats> Stats() const { return counters_->Read(); }

 private:
  // Warns once of a forced kernel that cannot be used, in the log of the
  // database that builds the first filter.
  void ReportKernel(rocksdb::Logger* log) const {
    if (log == nullptr) return;
    std::call_once(kernel_once_, [log] {
      const std::string problem = ForcedKernelProblem();
      if (problem.empty()) return;
      rocksdb::Warn(log, "rowbloom: %s; using %s", problem.c_str(),
                    std::string(ActiveKernel().name).c_str());
    });
  }

  // Returns a name that no other class has, nor another copy of this one.
  static const std::string& ClassName() {
    static const std::string name =
        "rowbloom.Policy@" +
        std::to_string(reinterpret_cast<uintptr_t>(&ClassName));
    return name;
  }

  // A level tells the size of its sorted run under leveled compaction alone.
  // Under universal compaction, level and size have little to do with each
  // other. Under FIFO, all files have one size.
  double BitsFor(const rocksdb::FilterBuildingContext& context) const {
    if (!options_.level_allocation || context.level_at_creation < 0 ||
        context.num_levels < 2 ||
        context.compaction_style != rocksdb::kCompactionStyleLevel) {
      return UniformBits();
    }
    const LevelShape& shape = *options_.level_allocation;
    // The number of a level decides its kind, and so its bits. The files of
    // level 0 count as flushes, though some are compacted within it.
    std::vector<FilterKind> kinds = {KindAt(-1)};
    for (size_t i = 1; i <= shape.levels; ++i) {
      kinds.push_back(KindAt(LevelAt(shape, i, context.num_levels)));
    }
    const std::vector<double> rates = LevelRates(
        shape, options_.bloom_type, kinds, options_.false_positive_rate);
    const size_t level = LevelIndex(shape, context.level_at_creation,
                                    context.num_levels, context.is_bottommost);
    return KindBits(FilterKind::kBloom, rates[level]);
  }

  // Computes the bits when the first filter is built, in half a millisecond.
  // Most policies build no filter: RocksDB makes a policy for each family
  // whenever it reads OPTIONS.
  double UniformBits() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!bits_per_key_) {
      bits_per_key_ = BitsPerKey(options_.false_positive_rate);
    }
    return *bits_per_key_;
  }

  FilterKind KindFor(const rocksdb::FilterBuildingContext& context) const {
    // A level that is not known counts as the last one.
    int level = kEveryLevel - 1;
    if (context.compaction_style == rocksdb::kCompactionStyleLevel ||
        context.compaction_style == rocksdb::kCompactionStyleUniversal) {
      if (context.reason == rocksdb::TableFileCreationReason::kFlush) {
        level = -1;
      } else if (context.level_at_creation >= 0) {
        level = context.level_at_creation;
      }
    }
    return KindAt(level);
  }

  // Flushes are at level -1.
  FilterKind KindAt(int level) const {
    return level < options_.bloom_before_level ? FilterKind::kBloom
                                               : options_.kind;
  }

  // One for all files with the same bits, so that their false positive rates
  // balance out.
  std::shared_ptr<MemoryFit> SharedMemoryFit(double bits_per_key) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<MemoryFit>& fit = memory_fits_[bits_per_key];
    if (fit == nullptr) fit = std::make_shared<MemoryFit>(UsableBlockBytes);
    return fit;
  }

  FilterPolicyOptions options_;
  std::string id_;
  mutable std::once_flag kernel_once_;
  std::unique_ptr<const rocksdb::FilterPolicy> builtin_;
  // Made when needed, under the mutex.
  mutable std::mutex mutex_;
  mutable std::optional<double> bits_per_key_;
  mutable std::map<double, std::shared_ptr<MemoryFit>> memory_fits_;
  std::shared_ptr<FilterCounters> counters_;
};

}  // namespace

Status MakePolicy(const FilterPolicyOptions& options,
                  std::unique_ptr<const rocksdb::FilterPolicy>* policy) {
  if (Status s = CheckRocksDbVersion(); !s.ok()) return s;
  if (!options.key_layout) {
    return Status::InvalidArgument(
        "key_layout is not set: give the layout of the keys, as "
        "KeyLayout::Delimited(':') for user_1001:mail, or "
        "KeyLayout::FixedRow(8)");
  }
  if (const std::string problem = Problem(options); !problem.empty()) {
    return Status::InvalidArgument(problem);
  }
  *policy = std::make_unique<Policy>(options);
  return Status::OK();
}

Status NewFilterPolicy(const FilterPolicyOptions& options,
                       std::shared_ptr<const rocksdb::FilterPolicy>* policy) {
  std::unique_ptr<const rocksdb::FilterPolicy> made;
  Status status = MakePolicy(options, &made);
  if (status.ok()) *policy = std::move(made);
  return status;
}

Status ConfigureRowFilters(const FilterPolicyOptions& options,
                           rocksdb::ColumnFamilyOptions* family) {
  if (Status s = CheckRocksDbVersion(); !s.ok()) return s;
  rocksdb::BlockBasedTableOptions table;
  if (family->table_factory != nullptr) {
    const auto* present =
        family->table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    // A factory that wraps a block-based one is refused, too: it would be lost.
    if (present == nullptr ||
        !family->table_factory->IsInstanceOf(
            rocksdb::TableFactory::kBlockBasedTableName())) {
      return Status::InvalidArgument(
          "table_factory " + std::string(family->table_factory->Name()) +
          ": expected a block-based one, no other has filter blocks");
    }
    table = *present;
  }
  std::shared_ptr<rocksdb::TableFactory> factory = family->table_factory;
  const Policy* policy = Policy::From(table.filter_policy.get());
  if (policy == nullptr || policy->options() != options) {
    Status status = NewFilterPolicy(options, &table.filter_policy);
    if (!status.ok()) return status;
    factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  }
  std::shared_ptr<const rocksdb::SliceTransform> extractor =
      NewRowPrefixExtractor(*options.key_layout);
  if (const auto& present = family->prefix_extractor; present != nullptr) {
    if (present->GetId() != extractor->GetId()) {
      return Status::InvalidArgument("prefix_extractor " + present->GetId() +
                                     " is set: expected none, or " +
                                     extractor->GetId());
    }
    extractor = present;
  }
  auto collectors = family->table_properties_collector_factories;
  const auto is_ours = [](const auto& collector) {
    return collector != nullptr &&
           std::string_view(collector->Name()) == kFilterProperty;
  };
  if (std::ranges::none_of(collectors, is_ours)) {
    collectors.push_back(NewFilterPropertiesFactory());
  }
  // Nothing fails from here on.
  family->table_factory = std::move(factory);
  family->prefix_extractor = std::move(extractor);
  family->table_properties_collector_factories = std::move(collectors);
  return Status::OK();
}

bool IsFilterActive(const rocksdb::DB* db,
                    rocksdb::ColumnFamilyHandle* family) {
  const rocksdb::Options options = db->GetOptions(family);
  if (options.table_factory == nullptr) return false;
  const auto* table =
      options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr || table->filter_policy == nullptr) return false;
  // The name has all parameters, whichever copy of rowbloom made the policy.
  const auto policy = ParsePolicyId(table->filter_policy->Name());
  // Without a key or a prefix to add, RocksDB writes no filter.
  return policy && BuildsFilters(policy->bloom_type, *table) &&
         (table->whole_key_filtering || options.prefix_extractor != nullptr);
}

bool IsFilterActive(const rocksdb::DB* db) {
  return IsFilterActive(db, db->DefaultColumnFamily());
}

Status GetFilterStats(const rocksdb::FilterPolicy& policy,
                      std::vector<LevelFilterStats>* stats) {
  const Policy* ours = Policy::From(&policy);
  if (ours == nullptr) {
    return Status::InvalidArgument("filter policy " +
                                   std::string(policy.Name()) +
                                   " was not made by this copy of rowbloom");
  }
  *stats = ours->Stats();
  return Status::OK();
}

Status GetFilterStats(const rocksdb::FilterPolicy& policy, FilterStats* stats) {
  std::vector<LevelFilterStats> levels;
  Status status = GetFilterStats(policy, &levels);
  if (!status.ok()) return status;
  *stats = {};
  for (const LevelFilterStats& level : levels) *stats += level.stats;
  return status;
}

}  // namespace rowbloom
