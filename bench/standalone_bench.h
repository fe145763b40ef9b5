// Measures the filters that an application uses by itself, without a database:
// classic, counting, scalable and cuckoo, beside RocksDB's Bloom filter, which
// comes last.
#pragma once

#include "bench/kinds_bench.h"

namespace rowbloom::bench {

// As MeasureKinds, all made for the keys of the workload and this rate.
KindGroup MeasureStandalone(const Workload& workload, double target_rate,
                            const BenchOptions& options);

}  // namespace rowbloom::bench
