// Counts the memory that a piece of code holds at its peak. A program that
// links allocation_counter.cc has its operator new and delete replaced, for
// RocksDB's library too.
#pragma once

#include <cstddef>

namespace rowbloom::bench {

// Bytes held at the peak since it was made, by what was allocated with
// operator new since then. REQUIRES one counter at a time and no other threads.
// Without one, the replaced operators do nothing but ask for one.
class AllocationCounter {
 public:
  AllocationCounter();
  ~AllocationCounter();
  AllocationCounter(const AllocationCounter&) = delete;
  AllocationCounter& operator=(const AllocationCounter&) = delete;

  size_t peak_bytes() const;
};

}  // namespace rowbloom::bench
