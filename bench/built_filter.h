// A filter of RocksDB's interface, built and opened without a database.
#pragma once

#include <memory>

#include "bench/filter_bench_keys.h"
#include "rocksdb/filter_policy.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"

namespace rowbloom::bench {

// With the bytes that it is a view of.
struct BuiltFilter {
  std::unique_ptr<const char[]> owner;
  rocksdb::Slice bytes;
};

// Of all keys, in order. With KeyShape::kRowCol each key is added and, when it
// changes, its prefix, the row, as RocksDB's filter block builder does. Throws
// std::runtime_error if there is no filter.
BuiltFilter BuildFilter(const rocksdb::FilterPolicy& policy, KeyShape shape,
                        const KeyArray& keys);

// Valid while `filter` is. Throws std::runtime_error if there is no reader.
std::unique_ptr<rocksdb::FilterBitsReader> OpenFilter(
    const rocksdb::FilterPolicy& policy, const BuiltFilter& filter);

}  // namespace rowbloom::bench
