// The memory that an allocation really has.
#pragma once

#include <cstddef>

namespace rowbloom {

// The bytes that RocksDB has room for when it loads a filter block of
// `block_bytes`, at least that. Calls the allocator of the process, by an
// allocation that is not touched. Thread-safe.
size_t UsableBlockBytes(size_t block_bytes) noexcept;

}  // namespace rowbloom
