// Compiled for each layout.
#include "tests/storage/filter_policy/published_interface.h"
// After the declaration that it reads.
#include "tests/storage/filter_policy/interface_slots.h"
#include "tests/storage/filter_policy/published_side.h"

namespace rowbloom {

template <>
std::vector<Slot> PublishedSlots<PUBLISHED_INTERFACE>() {
  return DeclaredSlots();
}

}  // namespace rowbloom
