// The memory that an allocation really has.
#pragma once

#include <cstddef>

namespace rowbloom {

// Returns the size of the largest filter block that fits where RocksDB loads
// one of `block_bytes`; at least `block_bytes`. Finds it by an allocation of
// the process's allocator, which is not touched. Thread-safe.
size_t UsableBlockBytes(size_t block_bytes) noexcept;

}  // namespace rowbloom
