#include "bench/filter_bench.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include "bench/allocation_counter.h"
#include "bench/built_filter.h"
#include "bench/memory_floor.h"
#include "lib/kernels/kernel.h"
#include "rocksdb/filter_policy.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom::bench {
namespace {

using rocksdb::Slice;

static_assert(kChunkKeys % kBatchKeys == 0);

using PolicyPtr = std::shared_ptr<const rocksdb::FilterPolicy>;

// The rate at which slower kernels are measured, too.
constexpr double kRateOfAllKernels = 0.01;

// A filter that can be asked for, at any size.
struct Family {
  std::string name;
  bool has_kernels = false;
  // Makes a policy with the rate that a Bloom filter of so many bits per key
  // has.
  std::function<PolicyPtr(double bits_per_key)> make_policy;
};

// One line for each filter kind of rowbloom. The first sets what is equal.
constexpr std::array kKinds = {FilterKind::kBloom, FilterKind::kRibbon};
constexpr std::string_view kStock = "RocksDB Bloom";

std::vector<Family> Families(KeyShape shape) {
  std::vector<Family> families;
  for (const FilterKind kind : kKinds) {
    families.push_back(
        {"rowbloom " + std::string(ToString(kind)), true,
         [shape, kind](double bits_per_key) {
           FilterPolicyOptions options;
           options.bloom_type =
               shape == KeyShape::kRow ? BloomType::kRow : BloomType::kRowCol;
           options.key_layout = KeyLayout::FixedRow(RowBytes(shape));
           options.kind = kind;
           options.false_positive_rate = FalsePositiveRate(bits_per_key);
           PolicyPtr policy;
           const rocksdb::Status status = NewFilterPolicy(options, &policy);
           if (!status.ok()) throw std::runtime_error(status.ToString());
           return policy;
         }});
  }
  families.push_back({std::string(kStock), false, [](double bits_per_key) {
                        return PolicyPtr(
                            rocksdb::NewBloomFilterPolicy(bits_per_key));
                      }});
  families.push_back({"RocksDB Ribbon", false, [](double bits_per_key) {
                        return PolicyPtr(rocksdb::NewRibbonFilterPolicy(
                            bits_per_key, /*bloom_before_level=*/-1));
                      }});
  return families;
}

// A family at one setting and with one kernel.
struct Subject {
  const Family* family = nullptr;
  const Kernel* kernel = nullptr;  // nullptr without kernels
  Equal equal{};
  double setting = 0;
  PolicyPtr policy;
};

// Puts the kernel in use back when measuring ends.
class KernelGuard {
 public:
  KernelGuard() = default;
  ~KernelGuard() { UseKernel(before_); }
  KernelGuard(const KernelGuard&) = delete;
  KernelGuard& operator=(const KernelGuard&) = delete;

 private:
  const Kernel& before_ = ActiveKernel();
};

FalsePositives CountFalsePositives(
    rocksdb::FilterBitsReader* reader, uint64_t asked,
    const std::function<void(uint64_t, char*)>& absent_key) {
  FalsePositives counts{.asked = asked};
  std::array<char, kKeyBytes> key;
  for (uint64_t i = 0; i < asked; ++i) {
    absent_key(i, key.data());
    counts.passed += reader->MayMatch(Slice(key.data(), kKeyBytes)) ? 1 : 0;
  }
  return counts;
}

// Builds the filter of a subject, checks it, and measures all but times.
FilterResult MeasureFilter(const Subject& subject, const KeySpace& space,
                           const KeyArray& present, const BenchOptions& options,
                           BuiltFilter* filter,
                           std::unique_ptr<rocksdb::FilterBitsReader>* reader) {
  FilterResult result{.filter = subject.family->name,
                      .equal = subject.equal,
                      .setting = subject.setting};
  if (subject.kernel != nullptr) {
    result.kernel = subject.kernel->name;
    UseKernel(*subject.kernel);
  }
  {
    const AllocationCounter counter;
    *filter = BuildFilter(*subject.policy, space.shape(), present);
    result.build_peak_bytes = counter.peak_bytes();
  }
  *filter = PlacedAt(options.offset_bytes, *filter);
  *reader = OpenFilter(*subject.policy, *filter);
  result.filter_bytes = filter->bytes.size();
  result.entries = space.keys();
  if (space.shape() == KeyShape::kRowCol) result.entries += space.rows();
  for (size_t i = 0; i < present.size(); ++i) {
    if (!(*reader)->MayMatch(present[i])) {
      throw std::runtime_error(result.filter + " " + result.kernel +
                               " has lost key 0x" +
                               present[i].ToString(/*hex=*/true));
    }
  }
  result.absent_row = CountFalsePositives(
      reader->get(), options.absent_keys,
      [&space](uint64_t i, char* key) { space.AbsentRow(i, key); });
  if (space.shape() == KeyShape::kRowCol) {
    result.absent_column = CountFalsePositives(
        reader->get(), options.absent_keys,
        [&space](uint64_t i, char* key) { space.AbsentColumn(i, key); });
  }
  return result;
}

// The setting at which filters of `family` are as large as `bytes`.
double SettingOfBytes(const Family& family, KeyShape shape,
                      const KeyArray& keys, size_t bytes) {
  double low = kMinBitsPerKey;
  double high = kMaxBitsPerKey;
  for (int i = 0; i < 14; ++i) {
    const double middle = (low + high) / 2;
    const BuiltFilter filter =
        BuildFilter(*family.make_policy(middle), shape, keys);
    (filter.bytes.size() <= bytes ? low : high) = middle;
  }
  return low;
}

// All filters at one rate, and those of RocksDB whose size then differs a
// second time at equal bits. Sizes are compared on `sample`.
std::vector<Subject> Subjects(const std::vector<Family>& families,
                              KeyShape shape, const KeyArray& sample,
                              double target_rate) {
  constexpr double kSameBytes = 0.01;
  const double setting = BitsPerKey(target_rate);
  size_t bytes = 0;
  std::vector<Subject> subjects;
  const auto add = [&](const Family& family, Equal equal, double bits) {
    const PolicyPtr policy = family.make_policy(bits);
    if (!family.has_kernels) {
      subjects.push_back({&family, nullptr, equal, bits, policy});
      return;
    }
    for (const Kernel& kernel : UsableKernels()) {
      subjects.push_back({&family, &kernel, equal, bits, policy});
      // The kernels compare alike at every rate.
      if (target_rate != kRateOfAllKernels) break;
    }
  };
  for (const Family& family : families) {
    const size_t own =
        BuildFilter(*family.make_policy(setting), shape, sample).bytes.size();
    if (bytes == 0) bytes = own;
    const double difference =
        static_cast<double>(own) / static_cast<double>(bytes) - 1;
    if (std::abs(difference) <= kSameBytes) {
      add(family, Equal::kRateAndBits, setting);
    } else {
      add(family, Equal::kRate, setting);
      if (family.has_kernels) continue;
      add(family, Equal::kBits, SettingOfBytes(family, shape, sample, bytes));
    }
  }
  return subjects;
}

void TimeBuild(benchmark::State& state, const Subject& subject, KeyShape shape,
               const KeyArray& keys) {
  for (auto _ : state) {
    const BuiltFilter filter = BuildFilter(*subject.policy, shape, keys);
    benchmark::DoNotOptimize(filter.bytes.data());
  }
}

// Each goes on where the last repetition stopped, so that together they ask for
// all keys. REQUIRES keys.size() to be a multiple of kChunkKeys.
void TimeLookups(benchmark::State& state, rocksdb::FilterBitsReader* reader,
                 const KeyArray& keys, size_t* at) {
  uint64_t passed = 0;
  for (auto _ : state) {
    for (size_t i = *at; i < *at + kChunkKeys; ++i) {
      passed += reader->MayMatch(keys[i]) ? 1 : 0;
    }
    *at = (*at + kChunkKeys) % keys.size();
  }
  benchmark::DoNotOptimize(passed);
}

void TimeDependentLookups(benchmark::State& state,
                          rocksdb::FilterBitsReader* reader,
                          const KeyArray& keys, size_t* at) {
  // Zero, but the compiler must not know: the address of a key then needs the
  // answer to the one before.
  size_t zero = 0;
  benchmark::DoNotOptimize(zero);
  size_t answer = 0;
  for (auto _ : state) {
    for (size_t i = *at; i < *at + kChunkKeys; ++i) {
      answer = reader->MayMatch(keys[i + (answer & zero)]) ? 1 : 0;
    }
    *at = (*at + kChunkKeys) % keys.size();
  }
  benchmark::DoNotOptimize(answer);
}

void TimeBatches(benchmark::State& state, rocksdb::FilterBitsReader* reader,
                 const KeyArray& keys, size_t* at) {
  std::array<Slice, kBatchKeys> slices;
  std::array<Slice*, kBatchKeys> pointers;
  std::array<bool, kBatchKeys> answers;
  for (size_t i = 0; i < kBatchKeys; ++i) pointers[i] = &slices[i];
  for (auto _ : state) {
    for (size_t i = *at; i < *at + kChunkKeys; i += kBatchKeys) {
      for (size_t k = 0; k < kBatchKeys; ++k) slices[k] = keys[i + k];
      reader->MayMatch(static_cast<int>(kBatchKeys), pointers.data(),
                       answers.data());
      benchmark::DoNotOptimize(answers);
    }
    *at = (*at + kChunkKeys) % keys.size();
  }
}

// REQUIRES another mode than kBuild.
std::function<void(benchmark::State&)> LookupTimer(
    Mode mode, rocksdb::FilterBitsReader* reader, const KeyArray* keys,
    size_t* at) {
  return [=](benchmark::State& state) {
    if (mode == Mode::kLookup) return TimeLookups(state, reader, *keys, at);
    if (mode == Mode::kBatch) return TimeBatches(state, reader, *keys, at);
    TimeDependentLookups(state, reader, *keys, at);
  };
}

}  // namespace

std::string_view ToString(Mode mode) {
  switch (mode) {
    case Mode::kBuild:
      return "build";
    case Mode::kLookup:
      return "lookup";
    case Mode::kBatch:
      return "batch of 32";
    case Mode::kDependent:
      return "dependent lookup";
  }
  return "unknown";
}

std::string_view ToString(Asked asked) {
  switch (asked) {
    case Asked::kNothing:
      return "";
    case Asked::kAbsentRow:
      return "absent row";
    case Asked::kAbsentColumn:
      return "absent column";
    case Asked::kHalf:
      return "half present";
    case Asked::kPresent:
      return "present";
  }
  return "unknown";
}

std::string_view ToString(Equal equal) {
  switch (equal) {
    case Equal::kRate:
      return "rate";
    case Equal::kBits:
      return "bits";
    case Equal::kRateAndBits:
      return "rate and bits";
  }
  return "unknown";
}

std::vector<Operation> AllOperations(KeyShape shape) {
  std::vector<Operation> operations = {{Mode::kBuild, Asked::kNothing}};
  for (const Mode mode : {Mode::kLookup, Mode::kBatch, Mode::kDependent}) {
    operations.push_back({mode, Asked::kAbsentRow});
    if (shape == KeyShape::kRowCol) {
      operations.push_back({mode, Asked::kAbsentColumn});
    }
    operations.push_back({mode, Asked::kHalf});
    operations.push_back({mode, Asked::kPresent});
  }
  return operations;
}

double FilterResult::OverBoundPercent() const {
  const double rate = OneSection().Rate();
  if (rate <= 0) return std::numeric_limits<double>::infinity();
  return 100 * (BitsPerEntry() / -std::log2(rate) - 1);
}

Workload::Workload(const KeySpace& key_space)
    : space(key_space), present(key_space.Present()), asked(5) {
  constexpr uint64_t kFewest = uint64_t{1} << 16;
  constexpr uint64_t kMost = uint64_t{1} << 22;
  uint64_t count = std::clamp(space.keys(), kFewest, kMost);
  count += (kChunkKeys - count % kChunkKeys) % kChunkKeys;
  Random random(space.keys());
  for (const Asked kind : {Asked::kAbsentRow, Asked::kAbsentColumn,
                           Asked::kHalf, Asked::kPresent}) {
    if (kind == Asked::kAbsentColumn && space.shape() == KeyShape::kRow) {
      continue;
    }
    KeyArray& keys = asked[static_cast<size_t>(kind)];
    keys.Reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      const bool is_present = kind == Asked::kPresent ||
                              (kind == Asked::kHalf && random.Below(2) == 0);
      if (is_present) {
        keys.Append(present[random.Below(present.size())]);
      } else if (kind == Asked::kAbsentColumn) {
        space.AbsentColumn(i, keys.Append());
      } else {
        space.AbsentRow(i, keys.Append());
      }
    }
  }
}

Group MeasureGroup(const Workload& workload, double target_rate,
                   const BenchOptions& options) {
  const KernelGuard guard;
  const KeyShape shape = workload.space.shape();
  Group group{.shape = shape,
              .keys = workload.space.keys(),
              .target_rate = target_rate};
  const std::vector<Family> families = Families(shape);
  std::vector<Subject> subjects;
  if (constexpr uint64_t kSampleKeys = 100'000; group.keys > kSampleKeys) {
    const KeyArray sample = KeySpace(shape, kSampleKeys, 0).Present();
    subjects = Subjects(families, shape, sample, target_rate);
  } else {
    subjects = Subjects(families, shape, workload.present, target_rate);
  }

  std::vector<BuiltFilter> filters(subjects.size());
  std::vector<std::unique_ptr<rocksdb::FilterBitsReader>> readers(
      subjects.size());
  for (size_t i = 0; i < subjects.size(); ++i) {
    group.filters.push_back(MeasureFilter(subjects[i], workload.space,
                                          workload.present, options,
                                          &filters[i], &readers[i]));
    const FilterResult& result = group.filters.back();
    for (const FilterResult& other : group.filters) {
      if (other.filter == result.filter && other.equal == result.equal &&
          (other.filter_bytes != result.filter_bytes ||
           other.absent_row.passed != result.absent_row.passed ||
           other.absent_column.passed != result.absent_column.passed)) {
        throw std::runtime_error(result.filter + ": kernel " + result.kernel +
                                 " disagrees with " + other.kernel);
      }
    }
  }

  const std::vector<Operation> operations = AllOperations(shape);
  std::vector<size_t> cursors(subjects.size() * operations.size());
  TimedSet set;
  for (size_t i = 0; i < cursors.size(); ++i) {
    const Operation operation = operations[i % operations.size()];
    const Subject* subject = &subjects[i / operations.size()];
    rocksdb::FilterBitsReader* reader = readers[i / operations.size()].get();
    const bool is_build = operation.mode == Mode::kBuild;
    const KeyArray* keys =
        is_build ? &workload.present : &workload.Of(operation.asked);
    size_t* at = &cursors[i];
    if (is_build) {
      set.Add(
          [=](benchmark::State& state) {
            if (subject->kernel != nullptr) UseKernel(*subject->kernel);
            TimeBuild(state, *subject, shape, *keys);
          },
          static_cast<double>(group.keys), options.OfBuilds(group.keys));
    } else {
      set.Add(LookupTimer(operation.mode, reader, keys, at),
              static_cast<double>(kChunkKeys), options.OfLookups());
    }
  }
  const auto floor = NewMemoryFloor(filters.front().bytes);
  std::vector<size_t> floor_cursors(operations.size());
  for (size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].mode == Mode::kBuild) continue;
    const KeyArray* keys = &workload.Of(operations[i].asked);
    set.Add(
        LookupTimer(operations[i].mode, floor.get(), keys, &floor_cursors[i]),
        static_cast<double>(kChunkKeys), options.OfLookups());
  }
  const std::vector<Timing> timings = set.Run();
  size_t next = 0;
  for (FilterResult& result : group.filters) {
    for (size_t i = 0; i < operations.size(); ++i) {
      result.timings.push_back(timings[next++]);
    }
  }
  for (const Operation& operation : operations) {
    const bool is_build = operation.mode == Mode::kBuild;
    group.floor.push_back(is_build ? Timing() : timings[next++]);
  }
  const auto stock = std::find_if(
      group.filters.begin(), group.filters.end(),
      [](const FilterResult& result) { return result.filter == kStock; });
  for (size_t i = 0; i < operations.size(); ++i) {
    const double of_stock = stock->timings[i].median;
    for (FilterResult& result : group.filters) {
      result.timings[i].ratio_to_stock = result.timings[i].median / of_stock;
    }
    group.floor[i].ratio_to_stock = group.floor[i].median / of_stock;
  }
  return group;
}

std::vector<FilterResult> MeasureFrontier(const KeySpace& space,
                                          const BenchOptions& options) {
  const KernelGuard guard;
  const KeyArray present = space.Present();
  std::vector<FilterResult> results;
  for (const Family& family : Families(space.shape())) {
    for (int bits = 4; bits <= 20; ++bits) {
      const Subject subject{
          &family, family.has_kernels ? &UsableKernels().front() : nullptr,
          Equal::kRate, static_cast<double>(bits), family.make_policy(bits)};
      BuiltFilter filter;
      std::unique_ptr<rocksdb::FilterBitsReader> reader;
      results.push_back(
          MeasureFilter(subject, space, present, options, &filter, &reader));
    }
  }
  return results;
}

std::vector<std::string> KernelNames() {
  std::vector<std::string> names;
  for (const Kernel& kernel : UsableKernels()) {
    names.emplace_back(kernel.name);
  }
  return names;
}

}  // namespace rowbloom::bench
