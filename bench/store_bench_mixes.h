// The store beside what users might pick instead of it, under YCSB's core
// workloads (Cooper, Silberstein, Tam, Ramakrishnan, Sears: Benchmarking Cloud
// Serving Systems with YCSB, 2010) and two with reads of absent rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/comparison.h"
#include "bench/random.h"
#include "bench/store_bench.h"
#include "rocksdb/status.h"

namespace rowbloom::bench {

// Numbers below `count`, number k drawn with a chance that falls with
// 1 / (k + 1)^0.99: the generator of YCSB, which is that of Gray, Sundaresan,
// Englert, Baclawski, Weinberger: Quickly Generating Billion-Record Synthetic
// Databases, 1994.
class Zipfian {
 public:
  // REQUIRES count > 1.
  explicit Zipfian(uint64_t count);
  uint64_t Next(Random* random) const;

 private:
  uint64_t count_;
  double zeta_;
  double eta_;
};

// The bytes of an engine's files after loading.
struct EngineSize {
  std::string engine;
  uint64_t cell_bytes = 0;  // rows, qualifiers and values
  uint64_t file_bytes = 0;
};

// Rows of ten columns of 100 bytes. Every engine's answers are checked before
// it is timed, and compared with the store's in each turn. Errors are
// BenchStore's.
rocksdb::Status MeasureMixes(const StoreBenchOptions& options, Bench* bench,
                             std::vector<EngineSize>* sizes);

}  // namespace rowbloom::bench
