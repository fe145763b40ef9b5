#include "bench/allocation_counter.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

// Plain variables: one thread counts, see the class.
bool counting = false;
ptrdiff_t live_bytes = 0;
ptrdiff_t peak_bytes_since = 0;

// `memory` as malloc made it, or std::bad_alloc.
void* Counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  if (counting) {
    live_bytes += static_cast<ptrdiff_t>(malloc_usable_size(memory));
    peak_bytes_since = std::max(peak_bytes_since, live_bytes);
  }
  return memory;
}

void Free(void* memory) noexcept {
  if (counting)
    live_bytes -= static_cast<ptrdiff_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

// The other forms of the standard library call these.
void* operator new(size_t bytes) {
  return Counted(std::malloc(std::max<size_t>(bytes, 1)));
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  const auto align = static_cast<size_t>(alignment);
  return Counted(std::aligned_alloc(align, (bytes + align - 1) & ~(align - 1)));
}
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete(void* memory, size_t) noexcept { Free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  Free(memory);
}

namespace rowbloom::bench {

AllocationCounter::AllocationCounter() {
  live_bytes = 0;
  peak_bytes_since = 0;
  counting = true;
}
AllocationCounter::~AllocationCounter() { counting = false; }

size_t AllocationCounter::peak_bytes() const {
  return static_cast<size_t>(peak_bytes_since);
}

}  // namespace rowbloom::bench
