#include "storage/filter_policy/usable_bytes.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>

namespace rowbloom {

size_t UsableBlockBytes(size_t block_bytes) noexcept {
  // RocksDB loads a block together with its trailer.
  constexpr size_t kTrailerBytes = 5;
  void* const memory = std::malloc(block_bytes + kTrailerBytes);
  if (memory == nullptr) return block_bytes;
  const size_t usable = malloc_usable_size(memory);
  std::free(memory);
  return std::max(usable, block_bytes + kTrailerBytes) - kTrailerBytes;
}

}  // namespace rowbloom
