// Measures filters of one interface, whatever it is, side by side: to fill, and
// to ask one key at a time.
//
//   KindGroup group = MeasureKinds(kinds, workload, 0.01, options);
//
// The filters of a group are timed interleaved; see timing.h. Throws
// std::runtime_error when a filter cannot be made, is full too early, or has
// lost a key. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/false_positives.h"
#include "bench/filter_bench.h"
#include "bench/timing.h"
#include "rocksdb/filter_policy.h"

namespace rowbloom::bench {

// A filter with keys. Virtual for many keys at a time, so that calls cost
// nothing that an application would not pay.
class Filled {
 public:
  virtual ~Filled() = default;
  virtual uint64_t bytes() const = 0;
  // The number of keys of keys[begin, end) that it takes for present.
  virtual uint64_t Count(const KeyArray& keys, size_t begin,
                         size_t end) const = 0;
};

struct Kind {
  std::string name;
  std::function<std::unique_ptr<Filled>(const KeyArray& keys)> fill;
};

// The kind that a policy makes.
Kind KindOfPolicy(std::string name,
                  std::shared_ptr<const rocksdb::FilterPolicy> policy);

// One filter with all keys added.
struct KindResult {
  std::string filter;  // Kind::name
  uint64_t filter_bytes = 0;
  FalsePositives absent;
  Timing add;             // makes an empty filter and adds all keys
  Timing lookup_absent;   // one key after the other
  Timing lookup_present;  // as above
};

// ratio_to_stock of all timings is to the last kind's.
struct KindGroup {
  uint64_t keys = 0;
  double target_rate = 0;
  std::vector<KindResult> filters;  // by kind
};

// `target_rate` is what the kinds were made for. REQUIRES a workload of
// KeyShape::kRow, and a kind.
KindGroup MeasureKinds(const std::vector<Kind>& kinds, const Workload& workload,
                       double target_rate, const BenchOptions& options);

}  // namespace rowbloom::bench
