// Measures the filters that an application uses by itself, without a database:
// classic, counting, scalable and cuckoo, beside RocksDB's Bloom filter.
//
//   StandaloneGroup group = MeasureStandalone(workload, 0.01, options);
//
// The filters of a group are timed interleaved; see timing.h. Throws
// std::runtime_error when a filter cannot be made, is full too early, or has
// lost a key. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/false_positives.h"
#include "bench/filter_bench.h"
#include "bench/timing.h"

namespace rowbloom::bench {

// One filter with all keys added.
struct StandaloneResult {
  std::string filter;  // "classic, mitz64", ..., "RocksDB Bloom"
  uint64_t filter_bytes = 0;
  FalsePositives absent;
  Timing add;             // makes an empty filter and adds all keys
  Timing lookup_absent;   // one key after the other
  Timing lookup_present;  // as above
};

struct StandaloneGroup {
  uint64_t keys = 0;
  double target_rate = 0;
  std::vector<StandaloneResult> filters;  // RocksDB's is the last
};

// All filters, made for the keys of the workload and this rate. REQUIRES a
// workload of KeyShape::kRow.
StandaloneGroup MeasureStandalone(const Workload& workload, double target_rate,
                                  const BenchOptions& options);

}  // namespace rowbloom::bench
