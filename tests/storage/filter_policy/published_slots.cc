// Compiled for each layout, and as layout 0 for the private header of RocksDB's
// source.
#if PUBLISHED_INTERFACE == 0
#include "table/block_based/filter_policy_internal.h"
#else
#include "tests/storage/filter_policy/published_interface.h"
#endif
// This header reads the declaration above, so it comes after it.
#include "tests/storage/filter_policy/interface_slots.h"
#include "tests/storage/filter_policy/published_side.h"

namespace rowbloom {

template <>
std::vector<Slot> PublishedSlots<PUBLISHED_INTERFACE>() {
  return DeclaredSlots();
}

}  // namespace rowbloom
