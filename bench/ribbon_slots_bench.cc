#include "bench/ribbon_slots_bench.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "lib/block/filter_block_builder.h"
#include "rocksdb/filter_policy.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/filter_block.h"
#include "storage/filter_policy/filter_bits.h"

namespace rowbloom::bench {
namespace {

// Builds blocks that no option of the filter policy asks for.
class BlockPolicy final : public rocksdb::FilterPolicy {
 public:
  explicit BlockPolicy(FilterBlockOptions options)
      : options_(std::move(options)) {}

  const char* Name() const override { return "rowbloom.BlockPolicy"; }
  const char* CompatibilityName() const override { return Name(); }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& /*context*/) const override {
    return NewFilterBitsBuilder(options_, counters_).release();
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(
      const rocksdb::Slice& contents) const override {
    return NewFilterBitsReader(contents, counters_).release();
  }

 private:
  const FilterBlockOptions options_;
  const std::shared_ptr<FilterCounters> counters_ =
      std::make_shared<FilterCounters>();
};

}  // namespace

KindGroup MeasureRibbonSlots(const Workload& workload, double target_rate,
                             const BenchOptions& options) {
  const double bits_per_key = BitsPerKey(target_rate);
  std::vector<Kind> kinds;
  for (const double slots : {kRibbonSlotsPerKey, 1.0, 1.02, 1.05, 1.1, 1.2}) {
    kinds.push_back(KindOfPolicy(
        fmt::format("ribbon, {:.2f}", slots),
        std::make_shared<BlockPolicy>(FilterBlockOptions{
            .bloom_type = BloomType::kRow,
            .key_layout = KeyLayout::FixedRow(RowBytes(KeyShape::kRow)),
            .kind = FilterKind::kRibbon,
            .bits_per_key = bits_per_key,
            .ribbon_slots_per_key = slots})));
  }
  kinds.push_back(KindOfPolicy(
      "RocksDB Ribbon",
      std::shared_ptr<const rocksdb::FilterPolicy>(
          rocksdb::NewRibbonFilterPolicy(bits_per_key,
                                         /*bloom_before_level=*/-1))));
  return MeasureKinds(kinds, workload, target_rate, options);
}

}  // namespace rowbloom::bench
