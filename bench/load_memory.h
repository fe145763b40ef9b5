// The memory that a load holds at its peak.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/cells.h"
#include "bench/store_bench.h"
#include "rocksdb/status.h"
#include "rowbloom/store.h"

namespace rowbloom::bench {

// Puts all cells in batches of about so many bytes, then flushes.
rocksdb::Status LoadStore(const std::vector<InputCell>& input,
                          size_t batch_bytes, Store* store);

// Loads the input `times` times, each under other rows, into a store with
// default options below `db_dir`, which then goes, in a process of its own.
// REQUIRES that this process has one thread.
rocksdb::Status MeasureLoadMemory(const std::vector<InputCell>& input,
                                  uint64_t times, size_t batch_bytes,
                                  const std::string& db_dir,
                                  LoadMemory* memory);

}  // namespace rowbloom::bench
