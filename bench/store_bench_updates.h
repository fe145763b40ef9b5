// Writes that depend on what is stored, and large values, beside the calls of
// RocksDB by which an application would do the same.
#pragma once

#include "bench/comparison.h"
#include "bench/store_bench.h"
#include "rocksdb/status.h"

namespace rowbloom::bench {

// Errors are BenchStore's.
rocksdb::Status MeasureUpdates(const StoreBenchOptions& options, Bench* bench);

}  // namespace rowbloom::bench
