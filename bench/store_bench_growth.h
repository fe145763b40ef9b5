// The store beside itself where there is more: cells in a file, updates of a
// cell. A read or write of one cell should hardly notice.
#pragma once

#include "bench/comparison.h"
#include "bench/store_bench.h"
#include "rocksdb/status.h"

namespace rowbloom::bench {

// Errors are BenchStore's.
rocksdb::Status MeasureGrowth(const StoreBenchOptions& options, Bench* bench);

}  // namespace rowbloom::bench
