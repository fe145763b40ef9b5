#include "bench/filter_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bench/built_filter.h"
#include "bench/memory_floor.h"
#include "lib/block/filter_block_builder.h"
#include "rocksdb/filter_policy.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/classic_bloom_filter.h"
#include "rowbloom/counting_bloom_filter.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/filter_block.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/scalable_bloom_filter.h"
#include "storage/filter_policy/filter_bits.h"

namespace rowbloom::bench {
namespace {

using PolicyPtr = std::shared_ptr<const rocksdb::FilterPolicy>;

// The rate at which slower kernels are measured, too: they compare alike at
// every rate.
constexpr double kRateOfAllKernels = 0.01;
constexpr uint64_t kSampleKeys = 100'000;

// A reader, and the bytes that it reads.
class FilledByReader final : public Filled {
 public:
  FilledByReader(BuiltFilter filter,
                 std::unique_ptr<rocksdb::FilterBitsReader> reader)
      : filter_(std::move(filter)), reader_(std::move(reader)) {}

  uint64_t bytes() const override { return filter_.bytes.size(); }
  uint64_t Count(const KeyArray& keys, size_t begin,
                 size_t end) const override {
    uint64_t passed = 0;
    for (size_t i = begin; i < end; ++i) {
      passed += reader_->MayMatch(keys[i]) ? 1 : 0;
    }
    return passed;
  }
  rocksdb::FilterBitsReader* reader() const override { return reader_.get(); }

 private:
  const BuiltFilter filter_;
  const std::unique_ptr<rocksdb::FilterBitsReader> reader_;
};

Kind KindOfPolicy(std::string name, const PolicyPtr& policy, KeyShape shape,
                  double setting_bits, size_t offset = 0) {
  Kind kind{.name = std::move(name), .setting_bits = setting_bits};
  kind.build = [policy, shape](const KeyArray& keys) -> uint64_t {
    return BuildFilter(*policy, shape, keys).bytes.size();
  };
  kind.fill = [policy, shape, offset](const KeyArray& keys) {
    BuiltFilter filter = PlacedAt(offset, BuildFilter(*policy, shape, keys));
    auto reader = OpenFilter(*policy, filter);
    return std::make_unique<FilledByReader>(std::move(filter),
                                            std::move(reader));
  };
  return kind;
}

FilterSpec RowbloomSpec(FilterKind kind, KeyShape shape, double bits_per_key) {
  return {.bloom_type =
              shape == KeyShape::kRow ? BloomType::kRow : BloomType::kRowCol,
          .key_layout = KeyLayout::FixedRow(RowBytes(shape)),
          .kind = kind,
          .false_positive_rate = FalsePositiveRate(bits_per_key)};
}

PolicyPtr RowbloomPolicy(const FilterSpec& spec) {
  PolicyPtr policy;
  const rocksdb::Status status = NewFilterPolicy(spec, &policy);
  if (!status.ok()) throw std::runtime_error(status.ToString());
  return policy;
}

Kind RocksdbBloom(KeyShape shape, double bits, size_t offset = 0) {
  return KindOfPolicy("RocksDB Bloom",
                      PolicyPtr(rocksdb::NewBloomFilterPolicy(bits)), shape,
                      bits, offset);
}

Kind RocksdbRibbon(KeyShape shape, double bits, size_t offset = 0) {
  return KindOfPolicy("RocksDB Ribbon",
                      PolicyPtr(rocksdb::NewRibbonFilterPolicy(
                          bits, /*bloom_before_level=*/-1)),
                      shape, bits, offset);
}

Kind Rowbloom(FilterKind kind, KeyShape shape, double bits, size_t offset = 0) {
  const FilterSpec spec = RowbloomSpec(kind, shape, bits);
  Kind made = KindOfPolicy("rowbloom " + std::string(ToString(kind)),
                           RowbloomPolicy(spec), shape, bits, offset);
  made.spec = spec;
  return made;
}

// The setting at which RocksDB's Ribbon is as large as `bytes`.
double RibbonBitsOf(KeyShape shape, const KeyArray& sample, uint64_t bytes) {
  double low = kMinBitsPerKey;
  double high = kMaxBitsPerKey;
  for (int i = 0; i < 14; ++i) {
    const double middle = (low + high) / 2;
    (RocksdbRibbon(shape, middle).build(sample) <= bytes ? low : high) = middle;
  }
  return low;
}

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

void Add(ClassicBloomFilter* filter, std::string_view key) { filter->Put(key); }
void Add(CountingBloomFilter* filter, std::string_view key) {
  filter->Add(key);
}
void Add(ScalableBloomFilter* filter, std::string_view key) {
  filter->Add(key);
}
void Add(CuckooFilter* filter, std::string_view key) {
  if (filter->Add(key) == CuckooFilter::AddOutcome::kFull) {
    throw std::runtime_error("a cuckoo filter is full before its capacity");
  }
}
bool Contains(const ClassicBloomFilter& filter, std::string_view key) {
  return filter.MightContain(key);
}
template <typename Filter>
bool Contains(const Filter& filter, std::string_view key) {
  return filter.Contains(key);
}
uint64_t Bytes(const ScalableBloomFilter& filter) {
  return filter.Info().size_bytes;
}
template <typename Filter>
uint64_t Bytes(const Filter& filter) {
  return filter.size_bytes();
}

template <typename Filter>
class FilledStandalone final : public Filled {
 public:
  FilledStandalone(Filter filter, const KeyArray& keys)
      : filter_(std::move(filter)) {
    for (size_t i = 0; i < keys.size(); ++i) {
      Add(&filter_, keys[i].ToStringView());
    }
  }

  uint64_t bytes() const override { return Bytes(filter_); }
  uint64_t Count(const KeyArray& keys, size_t begin,
                 size_t end) const override {
    uint64_t passed = 0;
    for (size_t i = begin; i < end; ++i) {
      passed += Contains(filter_, keys[i].ToStringView()) ? 1 : 0;
    }
    return passed;
  }

 private:
  Filter filter_;
};

// A kind whose empty filters `make` makes.
template <typename Make>
Kind StandaloneKind(std::string name, double setting_bits, Make make) {
  Kind kind{.name = std::move(name), .setting_bits = setting_bits};
  kind.fill = [make](const KeyArray& keys) -> std::unique_ptr<Filled> {
    auto filter = make();
    if (!filter) throw std::runtime_error(filter.error());
    using Filter = std::decay_t<decltype(*filter)>;
    return std::make_unique<FilledStandalone<Filter>>(*std::move(filter), keys);
  };
  kind.build = [fill = kind.fill](const KeyArray& keys) {
    return fill(keys)->bytes();
  };
  return kind;
}

}  // namespace

std::vector<Kind> PolicyKinds(KeyShape shape, double rate, size_t offset) {
  const double bits = BitsPerKey(rate);
  std::vector<Kind> kinds;
  for (const FilterKind filter : {FilterKind::kBloom, FilterKind::kRibbon}) {
    for (const Kernel& kernel : UsableKernels()) {
      kinds.push_back(Rowbloom(filter, shape, bits, offset));
      kinds.back().kernel = &kernel;
      if (rate != kRateOfAllKernels) break;
    }
  }
  kinds.push_back(RocksdbBloom(shape, bits, offset));
  kinds.push_back(RocksdbRibbon(shape, bits, offset));
  const KeyArray sample = KeySpace(shape, kSampleKeys, 0).Present();
  kinds.push_back(RocksdbRibbon(
      shape, RibbonBitsOf(shape, sample, kinds.front().build(sample)), offset));
  kinds.back().equal_bits = true;
  Kind floor{.name = "memory alone", .setting_bits = bits};
  floor.fill = [shape, bits](const KeyArray& keys) {
    BuiltFilter filter = PlacedAt(
        0, BuildFilter(
               *RowbloomPolicy(RowbloomSpec(FilterKind::kBloom, shape, bits)),
               shape, keys));
    auto reader = NewMemoryFloor(filter.bytes);
    return std::make_unique<FilledByReader>(std::move(filter),
                                            std::move(reader));
  };
  kinds.push_back(std::move(floor));
  return kinds;
}

std::vector<Kind> FrontierKinds(double bits) {
  constexpr KeyShape kShape = KeyShape::kRow;
  std::vector<Kind> kinds;
  for (const FilterKind filter : {FilterKind::kBloom, FilterKind::kRibbon}) {
    kinds.push_back(Rowbloom(filter, kShape, bits));
    kinds.back().kernel = &UsableKernels().front();
  }
  kinds.push_back(RocksdbBloom(kShape, bits));
  kinds.push_back(RocksdbRibbon(kShape, bits));
  return kinds;
}

std::vector<Kind> RibbonSlotKinds(double rate) {
  constexpr KeyShape kShape = KeyShape::kRow;
  const double bits = BitsPerKey(rate);
  std::vector<Kind> kinds;
  for (const double slots : {kRibbonSlotsPerKey, 1.0, 1.02, 1.05, 1.1, 1.2}) {
    kinds.push_back(
        KindOfPolicy(fmt::format("ribbon, {:.2f}", slots),
                     std::make_shared<BlockPolicy>(FilterBlockOptions{
                         .bloom_type = BloomType::kRow,
                         .key_layout = KeyLayout::FixedRow(RowBytes(kShape)),
                         .kind = FilterKind::kRibbon,
                         .bits_per_key = bits,
                         .ribbon_slots_per_key = slots}),
                     kShape, bits));
  }
  kinds.push_back(RocksdbRibbon(kShape, bits));
  return kinds;
}

std::vector<Kind> StandaloneKinds(uint64_t keys, double rate) {
  // The final keys of the scalable filter that has to grow, as a multiple of
  // the keys that it is made for.
  constexpr uint64_t kGrowth = 100;
  const double bits = BitsPerKey(rate);
  const auto classic = [=](ClassicStrategy strategy) {
    return [=] { return ClassicBloomFilter::Create(keys, rate, strategy); };
  };
  const auto scalable = [=](uint64_t capacity) {
    return [=] { return ScalableBloomFilter::Reserve(capacity, rate); };
  };
  std::vector<Kind> kinds;
  kinds.push_back(StandaloneKind("classic, mitz64", bits,
                                 classic(ClassicStrategy::kMurmur128Mitz64)));
  kinds.push_back(StandaloneKind("classic, mitz32", bits,
                                 classic(ClassicStrategy::kMurmur128Mitz32)));
  kinds.push_back(StandaloneKind("scalable, reserved", bits, scalable(keys)));
  kinds.push_back(
      StandaloneKind(fmt::format("scalable, grown {} times", kGrowth), bits,
                     scalable(std::max<uint64_t>(keys / kGrowth, 1))));
  kinds.push_back(StandaloneKind("counting", bits, [=] {
    return CountingBloomFilter::Create(keys, rate);
  }));
  kinds.push_back(StandaloneKind(
      "cuckoo", bits, [=] { return CuckooFilter::Create(keys, rate); }));
  kinds.push_back(RocksdbBloom(KeyShape::kRow, bits));
  return kinds;
}

}  // namespace rowbloom::bench
