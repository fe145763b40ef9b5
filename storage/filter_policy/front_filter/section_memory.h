// Memory for the sections of files. A lookup reads a line of a section at a
// random place: on small pages it waits for a walk of the page tables, too,
// which costs most where there is one file (front_bench).
#pragma once

#include <cstddef>
#include <memory>

namespace rowbloom::front_filter {

struct SectionMemoryDeleter {
  size_t size_bytes = 0;  // as requested

  void operator()(std::byte* bytes) const noexcept;
};
using SectionMemory = std::unique_ptr<std::byte[], SectionMemoryDeleter>;

// Bytes for a section, not initialised, from a cache line on. Large sections
// are on huge pages where the system has them for madvise; those that are no
// larger than one share it with others. Throws std::bad_alloc. Thread-safe, as
// is the deleter.
SectionMemory NewSectionMemory(size_t size_bytes);

}  // namespace rowbloom::front_filter
