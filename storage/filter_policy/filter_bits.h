// rowbloom's filter block behind RocksDB's builder and reader interfaces.
#pragma once

#include <memory>

#include "lib/block/filter_block_builder.h"
#include "rocksdb/cache.h"
#include "storage/filter_policy/filter_counters.h"
#include "storage/filter_policy/filter_properties.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"

namespace rowbloom {

// Makes the builder of one file, and offers its summary to the collector of the
// file's properties. With options.verify, each finished block is checked
// against the keys that were added before it is written. The builder's memory
// is charged to `charged_cache`, which may be null.
std::unique_ptr<rocksdb::FilterBitsBuilder> NewFilterBitsBuilder(
    const FilterBlockOptions& options, std::shared_ptr<FilterCounters> counters,
    std::shared_ptr<rocksdb::Cache> charged_cache = nullptr);

// Makes the reader of one block, whose bytes must outlive it.
std::unique_ptr<rocksdb::FilterBitsReader> NewFilterBitsReader(
    const rocksdb::Slice& contents, std::shared_ptr<FilterCounters> counters);

}  // namespace rowbloom
