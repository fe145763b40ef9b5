// Measures what more bytes buy a ribbon filter: it is built faster the more
// slots it has for its keys. Beside RocksDB's Ribbon filter, which comes last.
#pragma once

#include "bench/kinds_bench.h"

namespace rowbloom::bench {

// As MeasureKinds. "add" is what RocksDB does for a file: builder, AddKey of
// all keys and Finish.
KindGroup MeasureRibbonSlots(const Workload& workload, double target_rate,
                             const BenchOptions& options);

}  // namespace rowbloom::bench
