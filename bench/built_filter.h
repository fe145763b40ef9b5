// A filter of RocksDB's interface, built and opened without a database.
#pragma once

#include <memory>

#include "bench/filter_bench_keys.h"
#include "rocksdb/filter_policy.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"

namespace rowbloom::bench {

// A filter reader, and the bytes that it views.
struct BuiltFilter {
  std::shared_ptr<const char[]> owner;
  rocksdb::Slice bytes;
};

// The filter of all keys, added in order. With KeyShape::kRowCol each key is
// added and, when it changes, its prefix, the row, as RocksDB's filter block
// builder does. Throws std::runtime_error if there is no filter.
BuiltFilter BuildFilter(const rocksdb::FilterPolicy& policy, KeyShape shape,
                        const KeyArray& keys);

// A copy that starts `offset` bytes after the start of a cache line: at 0 where
// jemalloc and tcmalloc put a block of many bytes that RocksDB reads, at 16
// where glibc's malloc does.
BuiltFilter PlacedAt(size_t offset, const BuiltFilter& filter);

// Valid while `filter` is. Throws std::runtime_error if there is no reader.
std::unique_ptr<rocksdb::FilterBitsReader> OpenFilter(
    const rocksdb::FilterPolicy& policy, const BuiltFilter& filter);

}  // namespace rowbloom::bench
