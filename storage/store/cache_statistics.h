// Counts lookups in RocksDB's block cache, which has no counters of its own.
#pragma once

#include <memory>

#include "rocksdb/statistics.h"
#include "rowbloom/store_stats.h"

namespace rowbloom {

// For DBOptions::statistics: counts these lookups and nothing else, and reads
// no clock. Thread-safe.
std::shared_ptr<rocksdb::Statistics> NewCacheStatistics();

// What they were, also if others are around those of NewCacheStatistics.
CacheStats CacheStatsOf(const rocksdb::Statistics& statistics);

}  // namespace rowbloom
