// The least time of a filter that reads one cache line for each key.
#pragma once

#include <memory>

#include "rocksdb/slice.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"

namespace rowbloom::bench {

// Not a filter: a reader that multiplies the first eight bytes of a key, takes
// the cache line of `bytes` that the product names, and answers by one byte of
// it. A batch fetches all its lines before it reads the first. Valid while
// `bytes` are. Thread-safe. REQUIRES at least 64 bytes, and keys of 8 bytes or
// more.
std::unique_ptr<rocksdb::FilterBitsReader> NewMemoryFloor(
    const rocksdb::Slice& bytes);

}  // namespace rowbloom::bench
