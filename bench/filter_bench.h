// Filters alone, without a database, as benchmarks of Google Benchmark, whose
// flags choose, repeat and report them.
//
// A benchmark's name is MODE/SHAPE/KEYS/RATE/FILTER/KERNEL/EQUAL/OPERATION,
// such as "filters/row/100000/0.01/rowbloom bloom/avx512/rate/lookup, absent
// row". Counters: "keys", handled in one iteration; of builds also the bytes,
// and how many absent keys passed the filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowbloom::bench {

inline constexpr size_t kBatchKeys = 32;  // as RocksDB's MultiGet at most

struct FilterBenchOptions {
  std::vector<uint64_t> keys;  // multiples of kColumns
  std::vector<double> rates;
  // Keys of the filters of 4 to 20 bits per key; 0: none.
  uint64_t frontier_keys = 1'000'000;
  // Distinct absent keys looked up for each false positive rate.
  uint64_t absent_keys = 4'000'000;
  // The offset of each filter from the start of a cache line.
  size_t offset_bytes = 0;
  uint64_t seed = 1;
};

// Registers all benchmarks. Keys and filters are made when one of their
// benchmarks first runs, and stay. Throws std::runtime_error when a filter
// cannot be made.
void RegisterFilters(const FilterBenchOptions& options);

// True after a benchmark found that a filter has lost a key, or that kernels
// disagree; it says so as Google Benchmark's error.
bool FilterGaveWrongAnswer();

}  // namespace rowbloom::bench
