// The kinds of filters that filter_bench measures: those that a policy of
// RocksDB's interface makes, and those that an application uses by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/filter_bench_keys.h"
#include "lib/kernels/kernel.h"
#include "rowbloom/filter_spec.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"

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
  // The filter by RocksDB's interface, or nullptr.
  virtual rocksdb::FilterBitsReader* reader() const { return nullptr; }
};

struct Kind {
  std::string name;
  // True if its setting makes it as large as rowbloom's first kind, instead of
  // as often wrong.
  bool equal_bits = false;
  // The kernel in use while the filter is filled and built; nullptr without
  // kernels.
  const Kernel* kernel = nullptr;
  // Bits per key of a Bloom filter of the rate that it is asked for.
  double setting_bits = 0;
  // The filter as the model knows it, which predicts its bytes and rates; none
  // for filters that are not rowbloom's.
  std::optional<FilterSpec> spec = {};
  std::function<std::unique_ptr<Filled>(const KeyArray& keys)> fill;
  // Does what is timed of a build, and returns the bytes of the filter. None
  // for what is not a filter.
  std::function<uint64_t(const KeyArray& keys)> build;
};

// All of these throw std::runtime_error where a filter cannot be made.

// Every kind of rowbloom, with every kernel at 0.01 and the fastest at other
// rates; RocksDB's Bloom and Ribbon; the latter at the bytes of rowbloom's
// first kind; and last the memory alone, in the bytes of that kind: no filter.
// Filters start `offset` bytes behind the start of a cache line (PlacedAt).
std::vector<Kind> PolicyKinds(KeyShape shape, double rate, size_t offset);

// Every kind that PolicyKinds has at this setting, with the fastest kernel.
std::vector<Kind> FrontierKinds(double bits_per_key);

// Ribbons of fewer and more slots for each key, which are built the faster the
// more they have; RocksDB's Ribbon.
std::vector<Kind> RibbonSlotKinds(double rate);

// Filters without a database, made for so many keys, and RocksDB's Bloom.
std::vector<Kind> StandaloneKinds(uint64_t keys, double rate);

}  // namespace rowbloom::bench
