// Memory on huge pages. Its first use causes one page fault for 2 MiB, not one
// for each 4 KiB, and a read at a random place waits for fewer walks of the
// page tables.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace rowbloom {

inline constexpr size_t kHugePageBytes = size_t{2} << 20;

// Allocates uninitialised bytes from the start of a huge page on. Whole pages
// are huge if the system has some for madvise; the rest is on small pages.
// Null: there is no memory. Thread-safe.
inline void* NewOnHugePages(size_t byte_count) noexcept {
  void* const bytes = ::operator new (
      byte_count, std::align_val_t{kHugePageBytes}, std::nothrow);
  if (bytes != nullptr) {
    // If there are no huge pages, small ones serve.
    static_cast<void>(madvise(
        bytes, byte_count / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE));
  }
  return bytes;
}

inline void DeleteOnHugePages(void* bytes) noexcept {
  ::operator delete (bytes, std::align_val_t{kHugePageBytes});
}

}  // namespace rowbloom
