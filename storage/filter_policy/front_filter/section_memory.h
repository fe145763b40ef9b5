// Memory for the sections of files. A lookup reads a cache line at a random
// place of a section. On small pages it also waits for a walk of the page
// tables, which costs most with a single file (front_bench).
#pragma once

#include <cstddef>
#include <memory>

namespace rowbloom::front_filter {

struct SectionMemoryDeleter {
  size_t size_bytes = 0;  // as requested

  void operator()(std::byte* bytes) const noexcept;
};
using SectionMemory = std::unique_ptr<std::byte[], SectionMemoryDeleter>;

// Returns uninitialised bytes for a section, aligned to a cache line. Large
// sections are on huge pages if the system has them for madvise; those no
// larger than a huge page share pages. Throws std::bad_alloc. Thread-safe, as
// is the deleter.
SectionMemory NewSectionMemory(size_t size_bytes);

}  // namespace rowbloom::front_filter
