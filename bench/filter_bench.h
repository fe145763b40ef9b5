// Measures filters alone, without a database: every filter kind and kernel of
// rowbloom against RocksDB's Bloom and Ribbon, all of them through RocksDB's
// builder and reader interfaces, in one process, on the same keys.
//
//   Group group = MeasureGroup(keys, 0.01, options);
//
// A group is one number of keys and one target rate. Its filters are timed
// interleaved, so that noise of the machine meets all of them alike; times of
// one group may be compared, times of different runs only with care.
//
// Functions throw std::runtime_error when a filter gives a wrong answer or
// cannot be made. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/false_positives.h"
#include "bench/filter_bench_keys.h"
#include "bench/timing.h"

namespace rowbloom::bench {

inline constexpr size_t kBatchKeys = 32;  // as RocksDB's MultiGet at most

// Asked for in an iteration of a timed lookup.
inline constexpr size_t kChunkKeys = 1024;

// Fewer keys than this build in well under a second.
inline constexpr uint64_t kFewKeys = 5'000'000;

struct BenchOptions {
  // The repetitions of each timing.
  int repetitions = 9;
  // The repetitions of each timing of a build, from kFewKeys keys on.
  int build_repetitions = 3;
  // The least CPU time of each repetition, in seconds; at least one pass.
  double min_time_s = 0.01;
  // Distinct absent keys asked for each false positive rate.
  uint64_t absent_keys = 4'000'000;
  // From the start of a cache line to that of each filter, see PlacedAt.
  size_t offset_bytes = 0;

  Repetitions OfLookups() const { return {repetitions, min_time_s}; }
  Repetitions OfBuilds(uint64_t keys) const {
    return {keys < kFewKeys ? repetitions : build_repetitions, min_time_s};
  }
};

// The operation that was timed. The operations of one shape, in order:
// AllOperations.
enum class Mode : uint8_t {
  kBuild,      // AddKey of all keys in order, and Finish
  kLookup,     // MayMatch(key); the next one does not wait for the answer
  kBatch,      // MayMatch(kBatchKeys, keys, answers)
  kDependent,  // MayMatch(key), the address of each key from the last answer
};
// The keys that were asked for.
enum class Asked : uint8_t {
  kNothing,       // by a build
  kAbsentRow,     // 0 % present
  kAbsentColumn,  // 0 % present, but their rows are
  kHalf,          // 50 % present, the others with absent rows
  kPresent,       // 100 % present
};
struct Operation {
  Mode mode{};
  Asked asked{};
};
std::vector<Operation> AllOperations(KeyShape shape);
std::string_view ToString(Mode mode);
std::string_view ToString(Asked asked);

// The setting that makes a filter comparable with the first kind of rowbloom.
enum class Equal : uint8_t {
  kRate,         // the same setting, for the same rate; other bits per key
  kBits,         // a setting that costs the same bits per key; another rate
  kRateAndBits,  // one setting for both
};
std::string_view ToString(Equal equal);

// One filter, built.
struct FilterResult {
  std::string filter;  // "rowbloom bloom", "RocksDB Bloom", ...
  std::string kernel;  // of rowbloom; RocksDB's: ""
  Equal equal{};
  // Bits per key of a Bloom filter of the rate that was asked for.
  double setting = 0;
  // Keys and, for KeyShape::kRowCol, distinct rows.
  uint64_t entries = 0;
  uint64_t filter_bytes = 0;
  uint64_t build_peak_bytes = 0;  // builder and filter
  FalsePositives absent_row;
  FalsePositives absent_column;  // KeyShape::kRowCol alone
  std::vector<Timing> timings;   // by AllOperations

  double BitsPerEntry() const {
    return 8.0 * static_cast<double>(filter_bytes) /
           static_cast<double>(entries);
  }
  // The questions that one section answers alone, and so the rate of both.
  const FalsePositives& OneSection() const {
    return absent_column.asked > 0 ? absent_column : absent_row;
  }
  // The percentage of bits above what any filter of this rate needs, log2(1 /
  // rate) for each entry. Infinite without a false positive.
  double OverBoundPercent() const;
};

struct Group {
  KeyShape shape{};
  uint64_t keys = 0;
  double target_rate = 0;
  std::vector<FilterResult> filters;
  // The timings of a MemoryFloor in the first filter, by AllOperations; a
  // build's is empty.
  std::vector<Timing> floor;
};

// All keys of a KeySpace, and those to ask for, made once for several groups.
struct Workload {
  explicit Workload(const KeySpace& space);

  const KeyArray& Of(Asked kind) const {
    return asked[static_cast<size_t>(kind)];
  }

  KeySpace space;
  KeyArray present;
  // In random order, one for each Asked. At least 2^16, so that no branch
  // predictor learns them; enough to touch all of a filter of 10^7 keys.
  std::vector<KeyArray> asked;
};

// Measures all filters at this rate.
Group MeasureGroup(const Workload& workload, double target_rate,
                   const BenchOptions& options);

// Bits and rates alone: each filter at settings from 4 to 20 bits per key.
std::vector<FilterResult> MeasureFrontier(const KeySpace& space,
                                          const BenchOptions& options);

// Names of the kernels that MeasureGroup measures, fastest first.
std::vector<std::string> KernelNames();

}  // namespace rowbloom::bench
