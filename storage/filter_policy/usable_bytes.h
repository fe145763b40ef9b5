// How much memory an allocation really has.
#pragma once

#include <cstddef>

namespace rowbloom {

// What RocksDB has room for when it loads a filter block of `block_bytes`, at
// least that. Asks the allocator of the process, by an allocation that is not
// touched. Thread-safe.
size_t UsableBlockBytes(size_t block_bytes) noexcept;

}  // namespace rowbloom
