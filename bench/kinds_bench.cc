#include "bench/kinds_bench.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "bench/built_filter.h"

namespace rowbloom::bench {
namespace {

// One that RocksDB's interface builds and asks.
class FilledByPolicy final : public Filled {
 public:
  FilledByPolicy(const rocksdb::FilterPolicy& policy, const KeyArray& keys)
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

Kind KindOfPolicy(std::string name,
                  std::shared_ptr<const rocksdb::FilterPolicy> policy) {
  return {std::move(name),
          [policy = std::move(policy)](const KeyArray& present) {
            return std::make_unique<FilledByPolicy>(*policy, present);
          }};
}

KindGroup MeasureKinds(const std::vector<Kind>& kinds, const Workload& workload,
                       double target_rate, const BenchOptions& options) {
  const KeyArray& present = workload.present;
  KindGroup group{.keys = workload.space.keys(), .target_rate = target_rate};
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

  constexpr std::array kTimings = {&KindResult::add, &KindResult::lookup_absent,
                                   &KindResult::lookup_present};
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
  const KindResult& stock = group.filters.back();
  for (KindResult& result : group.filters) {
    for (const auto timing : kTimings) {
      (result.*timing).ratio_to_stock =
          (result.*timing).median / (stock.*timing).median;
    }
  }
  return group;
}

}  // namespace rowbloom::bench
