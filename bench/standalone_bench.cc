#include "bench/standalone_bench.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "bench/built_filter.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/classic_bloom_filter.h"
#include "rowbloom/counting_bloom_filter.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/result.h"
#include "rowbloom/scalable_bloom_filter.h"

namespace rowbloom::bench {
namespace {

// How many of its final keys the scalable filter that has to grow is made for.
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

// A filter with keys. Virtual for many keys at a time, so that calls cost
// nothing that an application would not pay.
class Filled {
 public:
  virtual ~Filled() = default;
  virtual uint64_t bytes() const = 0;
  // How many of keys[begin, end) it takes for present.
  virtual uint64_t Count(const KeyArray& keys, size_t begin,
                         size_t end) const = 0;
};

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

class FilledStock final : public Filled {
 public:
  FilledStock(const rocksdb::FilterPolicy& policy, const KeyArray& keys)
      : filter_(BuildFilter(policy, KeyShape::kRow, keys)),
        reader_(OpenFilter(policy, filter_)) {}

  uint64_t bytes() const override { return filter_.bytes.size(); }
  uint64_t Count(const KeyArray& keys, size_t begin,
                 size_t end) const override {
    uint64_t passed = 0;
    for (size_t i = begin; i < end; ++i) {
      passed += reader_->MayMatch(keys[i]) ? 1 : 0;
    }
    return passed;
  }

 private:
  BuiltFilter filter_;
  std::unique_ptr<rocksdb::FilterBitsReader> reader_;
};

struct Kind {
  std::string name;
  std::function<std::unique_ptr<Filled>(const KeyArray& keys)> fill;
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
  const std::shared_ptr<const rocksdb::FilterPolicy> stock(
      rocksdb::NewBloomFilterPolicy(BitsPerKey(rate)));
  kinds.push_back({"RocksDB Bloom", [stock](const KeyArray& present) {
                     return std::make_unique<FilledStock>(*stock, present);
                   }});
  return kinds;
}

FalsePositives CountFalsePositives(const Filled& filter, const KeySpace& space,
                                   uint64_t absent_keys) {
  FalsePositives counts{.asked = absent_keys};
  KeyArray chunk;
  for (uint64_t i = 0; i < absent_keys; i += chunk.size()) {
    chunk.Clear();
    const uint64_t end = std::min(i + kChunkKeys, absent_keys);
    for (uint64_t k = i; k < end; ++k) space.AbsentRow(k, chunk.Append());
    counts.passed += filter.Count(chunk, 0, chunk.size());
  }
  return counts;
}

void TimeLookups(benchmark::State& state, const Filled& filter,
                 const KeyArray& keys, size_t* at) {
  uint64_t passed = 0;
  for (auto _ : state) {
    passed += filter.Count(keys, *at, *at + kChunkKeys);
    *at = (*at + kChunkKeys) % keys.size();
  }
  benchmark::DoNotOptimize(passed);
}

}  // namespace

StandaloneGroup MeasureStandalone(const Workload& workload, double target_rate,
                                  const BenchOptions& options) {
  const KeyArray& present = workload.present;
  StandaloneGroup group{.keys = workload.space.keys(),
                        .target_rate = target_rate};
  const std::vector<Kind> kinds = Kinds(group.keys, target_rate);
  std::vector<std::unique_ptr<Filled>> filters;
  for (const Kind& kind : kinds) {
    filters.push_back(kind.fill(present));
    const Filled& filter = *filters.back();
    if (filter.Count(present, 0, present.size()) != present.size()) {
      throw std::runtime_error(kind.name + " has lost a key");
    }
    group.filters.push_back({.filter = kind.name,
                             .filter_bytes = filter.bytes(),
                             .absent = CountFalsePositives(
                                 filter, workload.space, options.absent_keys)});
  }

  constexpr std::array kTimings = {&StandaloneResult::add,
                                   &StandaloneResult::lookup_absent,
                                   &StandaloneResult::lookup_present};
  std::vector<std::array<size_t, 2>> cursors(kinds.size());
  TimedSet set;
  for (size_t i = 0; i < kinds.size(); ++i) {
    set.Add(
        [&, i](benchmark::State& state) {
          for (auto _ : state) {
            benchmark::DoNotOptimize(kinds[i].fill(present)->bytes());
          }
        },
        static_cast<double>(group.keys), options.OfBuilds(group.keys));
    set.Add(
        [&, i](benchmark::State& state) {
          TimeLookups(state, *filters[i], workload.Of(Asked::kAbsentRow),
                      &cursors[i][0]);
        },
        kChunkKeys, options.OfLookups());
    set.Add(
        [&, i](benchmark::State& state) {
          TimeLookups(state, *filters[i], workload.Of(Asked::kPresent),
                      &cursors[i][1]);
        },
        kChunkKeys, options.OfLookups());
  }
  const std::vector<Timing> timings = set.Run();
  for (size_t i = 0; i < timings.size(); ++i) {
    group.filters[i / kTimings.size()].*kTimings[i % kTimings.size()] =
        timings[i];
  }
  const StandaloneResult& stock = group.filters.back();
  for (StandaloneResult& result : group.filters) {
    for (const auto timing : kTimings) {
      (result.*timing).ratio_to_stock =
          (result.*timing).median / (stock.*timing).median;
    }
  }
  return group;
}

}  // namespace rowbloom::bench
