// source_interface: compares RocksDB's private filter interface, as rowbloom
// declares it again, with the private header of the RocksDB source that it was
// compiled with, virtual function by virtual function: name, type and place in
// the table. The exit status is 1 if they differ.
#include <algorithm>
#include <iostream>
#include <vector>

#include "rocksdb/version.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"
// This header reads the declaration above, so it comes after it.
#include "tests/storage/filter_policy/interface_slots.h"
#include "tests/storage/filter_policy/published_side.h"

namespace rowbloom {

// Defined by published_slots.cc, compiled with RocksDB's header.
template <>
std::vector<Slot> PublishedSlots<0>();

namespace {

void Print(const char* whose, const std::vector<Slot>& slots, size_t at) {
  std::cout << "  " << whose << ": ";
  if (at < slots.size()) {
    const Slot& slot = slots[at];
    std::cout << slot.position << " " << slot.function << " " << slot.type;
  } else {
    std::cout << "none";
  }
  std::cout << "\n";
}

int CompareSlots() {
  const std::vector<Slot> declared = DeclaredSlots();
  const std::vector<Slot> published = PublishedSlots<0>();
  const size_t count = std::max(declared.size(), published.size());
  size_t same = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i < declared.size() && i < published.size() &&
        declared[i] == published[i]) {
      ++same;
      continue;
    }
    std::cout << "difference " << i << "\n";
    Print("rowbloom", declared, i);
    Print("RocksDB", published, i);
  }
  std::cout << "RocksDB " << ROCKSDB_MAJOR << "." << ROCKSDB_MINOR << "."
            << ROCKSDB_PATCH << ", layout " << ROWBLOOM_FILTER_INTERFACE << ": "
            << same << " of " << count << " slots are the same\n";
  return same == count ? 0 : 1;
}

}  // namespace
}  // namespace rowbloom

int main() { return rowbloom::CompareSlots(); }
