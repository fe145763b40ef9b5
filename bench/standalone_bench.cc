#include "bench/standalone_bench.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "rowbloom/bloom_math.h"
#include "rowbloom/classic_bloom_filter.h"
#include "rowbloom/counting_bloom_filter.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/result.h"
#include "rowbloom/scalable_bloom_filter.h"

namespace rowbloom::bench {
namespace {

// The final keys of the scalable filter that has to grow, as a multiple of the
// keys that it is made for.
constexpr uint64_t kGrowth = 100;

void Add(ClassicBloomFilter* filter, std::string_view key) { filter->Put(key); }
bool Contains(const ClassicBloomFilter& filter, std::string_view key) {
  return filter.MightContain(key);
}
uint64_t Bytes(const ClassicBloomFilter& filter) { return filter.size_bytes(); }

void Add(CountingBloomFilter* filter, std::string_view key) {
  filter->Add(key);
}
bool Contains(const CountingBloomFilter& filter, std::string_view key) {
  return filter.Contains(key);
}
uint64_t Bytes(const CountingBloomFilter& filter) {
  return filter.size_bytes();
}

void Add(ScalableBloomFilter* filter, std::string_view key) {
  filter->Add(key);
}
bool Contains(const ScalableBloomFilter& filter, std::string_view key) {
  return filter.Contains(key);
}
uint64_t Bytes(const ScalableBloomFilter& filter) {
  return filter.Info().size_bytes;
}

void Add(CuckooFilter* filter, std::string_view key) {
  if (filter->Add(key) == CuckooFilter::AddOutcome::kFull) {
    throw std::runtime_error("a cuckoo filter is full before its capacity");
  }
}
bool Contains(const CuckooFilter& filter, std::string_view key) {
  return filter.Contains(key);
}
uint64_t Bytes(const CuckooFilter& filter) { return filter.size_bytes(); }

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
Kind StandaloneKind(std::string name, Make make) {
  return {std::move(name), [make](const KeyArray& keys) {
            auto filter = make();
            if (!filter) throw std::runtime_error(filter.error());
            using Filter = std::decay_t<decltype(*filter)>;
            return std::make_unique<FilledStandalone<Filter>>(
                *std::move(filter), keys);
          }};
}

std::vector<Kind> Kinds(uint64_t keys, double rate) {
  const auto classic = [=](ClassicStrategy strategy) {
    return [=] { return ClassicBloomFilter::Create(keys, rate, strategy); };
  };
  const auto scalable = [=](uint64_t capacity) {
    return [=] { return ScalableBloomFilter::Reserve(capacity, rate); };
  };
  std::vector<Kind> kinds;
  kinds.push_back(StandaloneKind("classic, mitz64",
                                 classic(ClassicStrategy::kMurmur128Mitz64)));
  kinds.push_back(StandaloneKind("classic, mitz32",
                                 classic(ClassicStrategy::kMurmur128Mitz32)));
  kinds.push_back(StandaloneKind("scalable, reserved", scalable(keys)));
  kinds.push_back(
      StandaloneKind("scalable, grown " + std::to_string(kGrowth) + " times",
                     scalable(std::max<uint64_t>(keys / kGrowth, 1))));
  kinds.push_back(StandaloneKind(
      "counting", [=] { return CountingBloomFilter::Create(keys, rate); }));
  kinds.push_back(StandaloneKind(
      "cuckoo", [=] { return CuckooFilter::Create(keys, rate); }));
  kinds.push_back(KindOfPolicy(
      "RocksDB Bloom", std::shared_ptr<const rocksdb::FilterPolicy>(
                           rocksdb::NewBloomFilterPolicy(BitsPerKey(rate)))));
  return kinds;
}

}  // namespace

KindGroup MeasureStandalone(const Workload& workload, double target_rate,
                            const BenchOptions& options) {
  return MeasureKinds(Kinds(workload.space.keys(), target_rate), workload,
                      target_rate, options);
}

}  // namespace rowbloom::bench
