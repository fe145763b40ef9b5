#include "storage/filter_policy/front_filter/memory.h"

#include <limits>

namespace rowbloom::front_filter {

Memory::Memory(uint64_t row_limit_bytes, uint64_t cell_limit_bytes,
               std::shared_ptr<rocksdb::Cache> cache)
    : uses_{{{row_limit_bytes},
             {cell_limit_bytes},
             {std::numeric_limits<uint64_t>::max()}}},
      charge_(std::move(cache)) {}

uint64_t Memory::used_bytes(Purpose purpose) const {
  const std::lock_guard lock(mutex_);
  return uses_[purpose].used_bytes;
}

bool Memory::HasRoomFor(Purpose purpose, uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  const Use& use = uses_[purpose];
  return bytes <= use.limit_bytes - use.used_bytes;
}

bool Memory::Take(Purpose purpose, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  Use& use = uses_[purpose];
  if (bytes > use.limit_bytes - use.used_bytes) return false;
  use.used_bytes += bytes;
  Charge();
  return true;
}

void Memory::GiveBack(Purpose purpose, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  uses_[purpose].used_bytes -= bytes;
  Charge();
}

// REQUIRES mutex_.
void Memory::Charge() {
  uint64_t bytes = 0;
  for (const Use& use : uses_) bytes += use.used_bytes;
  charge_.Set(bytes);
}

}  // namespace rowbloom::front_filter
