#include "bench/filter_bench.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "bench/allocation_counter.h"
#include "bench/filter_bench_keys.h"
#include "bench/filter_kinds.h"
#include "rowbloom/advise.h"

namespace rowbloom::bench {
namespace {

using rocksdb::Slice;

// The keys of an iteration of a timed lookup.
constexpr size_t kChunkKeys = 1024;
static_assert(kChunkKeys % kBatchKeys == 0);

bool wrong_answer = false;

// The lookups, in random order, laid out before the clock runs. There are at
// least 2^16 keys, so that no branch predictor learns them; they are enough to
// touch all of a filter of 10^7 keys.
enum class Asked : uint8_t {
  kAbsentRow,
  kAbsentColumn,  // in a present row
  kHalf,          // half present, the others with absent rows
  kPresent,
};
constexpr std::array<const char*, 4> kAskedNames = {
    "absent row", "absent column", "half present", "present"};

// All keys of a KeySpace, and those to look up, each made when first used.
class Workload {
 public:
  explicit Workload(const KeySpace& key_space) : space(key_space) {}

  const KeyArray& Present() {
    if (present_.size() == 0) present_ = space.Present();
    return present_;
  }

  const KeyArray& Of(Asked asked) {
    KeyArray& keys = asked_[static_cast<size_t>(asked)];
    if (keys.size() > 0) return keys;
    constexpr uint64_t kFewest = uint64_t{1} << 16;
    constexpr uint64_t kMost = uint64_t{1} << 22;
    uint64_t count = std::clamp(space.keys(), kFewest, kMost);
    count += (kChunkKeys - count % kChunkKeys) % kChunkKeys;
    Random random(space.keys() + static_cast<uint64_t>(asked));
    keys.Reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      if (asked == Asked::kPresent ||
          (asked == Asked::kHalf && random.Below(2) == 0)) {
        keys.Append(Present()[random.Below(Present().size())]);
      } else if (asked == Asked::kAbsentColumn) {
        space.AbsentColumn(i, keys.Append());
      } else {
        space.AbsentRow(i, keys.Append());
      }
    }
    return keys;
  }

  const KeySpace space;

 private:
  KeyArray present_;
  std::array<KeyArray, kAskedNames.size()> asked_;
};

struct Counts {
  uint64_t filter_bytes = 0;
  uint64_t peak_bytes = 0;
  uint64_t absent_rows_passed = 0;
  uint64_t absent_columns_passed = 0;
};

// The filters of one kind in a group that have to agree, by name.
using Agreed = std::map<std::string, Counts>;

// A filter of a group, made, checked and counted when first used.
class Subject {
 public:
  Subject(Kind kind, std::shared_ptr<Workload> workload,
          std::shared_ptr<Agreed> agreed, uint64_t absent_keys)
      : kind_(std::move(kind)),
        workload_(std::move(workload)),
        agreed_(std::move(agreed)),
        absent_keys_(absent_keys) {}

  const Kind& kind() const { return kind_; }
  Workload& workload() { return *workload_; }

  const Filled& Get() {
    if (filled_ != nullptr) return *filled_;
    UseOwnKernel();
    const KeyArray& present = workload_->Present();
    filled_ = kind_.fill(present);
    if (!kind_.build) return *filled_;
    if (filled_->Count(present, 0, present.size()) != present.size()) {
      throw std::runtime_error(kind_.name + " has lost a key");
    }
    counts_.filter_bytes = filled_->bytes();
    {
      const AllocationCounter counter;
      kind_.build(present);
      counts_.peak_bytes = counter.peak_bytes();
    }
    const KeySpace& space = workload_->space;
    counts_.absent_rows_passed = CountPassed(
        [&space](uint64_t i, char* key) { space.AbsentRow(i, key); });
    if (space.shape() == KeyShape::kRowCol) {
      counts_.absent_columns_passed = CountPassed(
          [&space](uint64_t i, char* key) { space.AbsentColumn(i, key); });
    }
    const Counts& first =
        agreed_
            ->emplace(kind_.name + (kind_.equal_bits ? ", bits" : ""), counts_)
            .first->second;
    if (first.filter_bytes != counts_.filter_bytes ||
        first.absent_rows_passed != counts_.absent_rows_passed ||
        first.absent_columns_passed != counts_.absent_columns_passed) {
      throw std::runtime_error(kind_.name + ": kernels disagree");
    }
    return *filled_;
  }

  void UseOwnKernel() const {
    if (kind_.kernel != nullptr) UseKernel(*kind_.kernel);
  }

  void Report(benchmark::State& state) {
    Get();
    const auto set = [&state](const char* name, double value) {
      state.counters[name] = value;
    };
    const KeySpace& space = workload_->space;
    const bool columns = space.shape() == KeyShape::kRowCol;
    set("entries",
        static_cast<double>(space.keys() + (columns ? space.rows() : 0)));
    set("setting_bits", kind_.setting_bits);
    set("filter_bytes", static_cast<double>(counts_.filter_bytes));
    set("peak_bytes", static_cast<double>(counts_.peak_bytes));
    set("absent_asked", static_cast<double>(absent_keys_));
    set("absent_row_passed", static_cast<double>(counts_.absent_rows_passed));
    if (columns) {
      set("absent_column_passed",
          static_cast<double>(counts_.absent_columns_passed));
    }
    if (kind_.spec) {
      FileProfile profile;
      profile.rows = space.rows();
      profile.cells = columns ? space.keys() : 0;
      const Prediction predicted = Predict(profile, *kind_.spec);
      set("predicted_bytes", static_cast<double>(predicted.bytes()));
      set("predicted_absent_row", predicted.wasted.get_absent_row);
      if (columns) {
        set("predicted_absent_column", predicted.wasted.get_absent_column);
      }
    }
  }

 private:
  template <typename AbsentKey>
  uint64_t CountPassed(AbsentKey absent_key) const {
    uint64_t passed = 0;
    KeyArray chunk;
    for (uint64_t i = 0; i < absent_keys_; i += chunk.size()) {
      chunk.Clear();
      const uint64_t end = std::min(i + kChunkKeys, absent_keys_);
      for (uint64_t k = i; k < end; ++k) absent_key(k, chunk.Append());
      passed += filled_->Count(chunk, 0, chunk.size());
    }
    return passed;
  }

  const Kind kind_;
  const std::shared_ptr<Workload> workload_;
  const std::shared_ptr<Agreed> agreed_;
  const uint64_t absent_keys_;
  Counts counts_;
  std::unique_ptr<Filled> filled_;
};

using SubjectPtr = std::shared_ptr<Subject>;
// Handles keys[at, at + kChunkKeys).
using Ask = void (*)(const Filled& filled, const KeyArray& keys, size_t at);

// The next key does not wait for the answer.
void Lookup(const Filled& filled, const KeyArray& keys, size_t at) {
  benchmark::DoNotOptimize(filled.Count(keys, at, at + kChunkKeys));
}

// The address of each key needs the answer to the one before.
void DependentLookup(const Filled& filled, const KeyArray& keys, size_t at) {
  rocksdb::FilterBitsReader* const reader = filled.reader();
  size_t zero = 0;  // but the compiler must not know
  benchmark::DoNotOptimize(zero);
  size_t answer = 0;
  for (size_t i = at; i < at + kChunkKeys; ++i) {
    answer = reader->MayMatch(keys[i + (answer & zero)]) ? 1 : 0;
  }
  benchmark::DoNotOptimize(answer);
}

void Batches(const Filled& filled, const KeyArray& keys, size_t at) {
  rocksdb::FilterBitsReader* const reader = filled.reader();
  std::array<Slice, kBatchKeys> slices;
  std::array<Slice*, kBatchKeys> pointers;
  std::array<bool, kBatchKeys> answers;
  for (size_t i = 0; i < kBatchKeys; ++i) pointers[i] = &slices[i];
  for (size_t i = at; i < at + kChunkKeys; i += kBatchKeys) {
    for (size_t k = 0; k < kBatchKeys; ++k) slices[k] = keys[i + k];
    reader->MayMatch(static_cast<int>(kBatchKeys), pointers.data(),
                     answers.data());
    benchmark::DoNotOptimize(answers);
  }
}

constexpr size_t kPageBytes = 4096;

// Reads a byte of each page. Keys lie idle while others are timed, and on
// virtual machines the first use of idle memory was seen to take microseconds.
void WakeUp(const KeyArray& keys) {
  for (size_t at = 0; at < keys.size() * kKeyBytes; at += kPageBytes) {
    char byte = keys.data()[at];
    benchmark::DoNotOptimize(byte);
  }
}

template <typename Body>
benchmark::internal::Benchmark* Register(const std::string& name, Body body) {
  return benchmark::RegisterBenchmark(name.c_str(),
                                      [body](benchmark::State& state) mutable {
                                        try {
                                          body(state);
                                        } catch (const std::exception& error) {
                                          wrong_answer = true;
                                          state.SkipWithError(error.what());
                                        }
                                      });
}

void RegisterBuild(const std::string& name, const SubjectPtr& subject) {
  Register(name, [subject](benchmark::State& state) {
    const KeyArray& keys = subject->workload().Present();
    subject->Report(state);
    subject->UseOwnKernel();
    WakeUp(keys);
    for (auto _ : state) {
      benchmark::DoNotOptimize(subject->kind().build(keys));
    }
    state.counters["keys"] = static_cast<double>(keys.size());
  });
}

void RegisterLookup(const std::string& name, const SubjectPtr& subject,
                    Asked asked, Ask ask) {
  // Each repetition goes on where the last one stopped, so that together they
  // ask for all keys.
  Register(name, [subject, asked, ask,
                  at = size_t{0}](benchmark::State& state) mutable {
    const Filled& filled = subject->Get();
    const KeyArray& keys = subject->workload().Of(asked);
    const auto ask_more = [&] {
      ask(filled, keys, at);
      at = (at + kChunkKeys) % keys.size();
    };
    WakeUp(keys);
    // Ten random lookups a page leave out one page of a filter in 20,000.
    const uint64_t lookups = 10 * (filled.bytes() / kPageBytes + 1);
    for (uint64_t i = 0; i < lookups; i += kChunkKeys) ask_more();
    for (auto _ : state) ask_more();
    state.counters["keys"] = static_cast<double>(kChunkKeys);
  });
}

class Registry {
 public:
  explicit Registry(const FilterBenchOptions& options) : options_(options) {}

  // All operations of each kind of a group; of those that have no reader,
  // builds and lookups of absent and present rows.
  void AddGroup(const std::string& mode, KeyShape shape, uint64_t keys,
                double rate, std::vector<Kind> kinds, bool readers) {
    const auto agreed = std::make_shared<Agreed>();
    for (Kind& kind : kinds) {
      const std::string prefix = Name(mode, shape, keys, rate, kind);
      const bool build = kind.build != nullptr;
      const SubjectPtr subject = Make(shape, keys, std::move(kind), agreed);
      if (build) RegisterBuild(prefix + "build", subject);
      for (const auto& [mode_name, ask] : kAsks) {
        if (!readers && ask != &Lookup) continue;
        for (size_t i = 0; i < kAskedNames.size(); ++i) {
          const auto asked = static_cast<Asked>(i);
          if (asked == Asked::kAbsentColumn && shape == KeyShape::kRow) {
            continue;
          }
          if (asked == Asked::kHalf && !readers) continue;
          RegisterLookup(
              fmt::format("{}{}, {}", prefix, mode_name, kAskedNames[i]),
              subject, asked, ask);
        }
      }
    }
  }

  // Bytes and rates alone.
  void AddFrontier(uint64_t keys) {
    for (int bits = 4; bits <= 20; ++bits) {
      const auto agreed = std::make_shared<Agreed>();
      for (Kind& kind : FrontierKinds(bits)) {
        const std::string prefix =
            Name("frontier", KeyShape::kRow, keys, bits, kind);
        const SubjectPtr subject =
            Make(KeyShape::kRow, keys, std::move(kind), agreed);
        Register(prefix + "rates",
                 [subject](benchmark::State& state) {
                   subject->Report(state);
                   for (auto _ : state) {
                   }
                 })
            ->Iterations(1)
            ->Repetitions(1);
      }
    }
  }

 private:
  static constexpr std::array kAsks = {
      std::pair("lookup", Ask{&Lookup}),
      std::pair("batch of 32", Ask{&Batches}),
      std::pair("dependent lookup", Ask{&DependentLookup})};

  static std::string Name(const std::string& mode, KeyShape shape,
                          uint64_t keys, double rate, const Kind& kind) {
    return fmt::format("{}/{}/{}/{}/{}/{}/{}/", mode, ToString(shape), keys,
                       rate, kind.name,
                       kind.kernel == nullptr ? "-" : kind.kernel->name,
                       kind.equal_bits ? "bits" : "rate");
  }

  SubjectPtr Make(KeyShape shape, uint64_t keys, Kind kind,
                  const std::shared_ptr<Agreed>& agreed) {
    std::shared_ptr<Workload>& workload = workloads_[{shape, keys}];
    if (workload == nullptr) {
      workload =
          std::make_shared<Workload>(KeySpace(shape, keys, options_.seed));
    }
    return std::make_shared<Subject>(std::move(kind), workload, agreed,
                                     options_.absent_keys);
  }

  const FilterBenchOptions& options_;
  std::map<std::pair<KeyShape, uint64_t>, std::shared_ptr<Workload>> workloads_;
};

}  // namespace

void RegisterFilters(const FilterBenchOptions& options) {
  Registry registry(options);
  for (const double rate : options.rates) {
    for (const KeyShape shape : {KeyShape::kRow, KeyShape::kRowCol}) {
      const std::vector<Kind> kinds =
          PolicyKinds(shape, rate, options.offset_bytes);
      for (const uint64_t keys : options.keys) {
        registry.AddGroup("filters", shape, keys, rate, kinds, true);
      }
    }
    for (const uint64_t keys : options.keys) {
      registry.AddGroup("standalone", KeyShape::kRow, keys, rate,
                        StandaloneKinds(keys, rate), false);
      registry.AddGroup("ribbon_slots", KeyShape::kRow, keys, rate,
                        RibbonSlotKinds(rate), false);
    }
  }
  if (options.frontier_keys > 0) registry.AddFrontier(options.frontier_keys);
}

bool FilterGaveWrongAnswer() { return wrong_answer; }

}  // namespace rowbloom::bench
