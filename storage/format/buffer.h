// The memory for blocks that are read.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "rocksdb/status.h"
#include "storage/format/huge_pages.h"
#include "storage/format/status_text.h"

namespace rowbloom {

// Memory that grows and is never filled with zeros. A block may claim to be far
// larger than it is, and pages that are never written cost nothing. Large
// blocks are on huge pages.
class Buffer {
 public:
  // Points `*bytes` to `byte_count` bytes; earlier contents are lost.
  // MemoryLimit: there is no memory for them.
  rocksdb::Status Reserve(size_t byte_count, char** bytes) {
    if (byte_count > capacity_) {
      capacity_ = 0;
      bytes_.reset();
      bytes_ = Allocate(byte_count);
      if (bytes_ == nullptr) {
        return MemoryLimit("no memory for ", byte_count, " bytes");
      }
      capacity_ = byte_count;
    }
    *bytes = bytes_.get();
    return rocksdb::Status::OK();
  }
  const char* data() const { return bytes_.get(); }
  size_t capacity() const { return capacity_; }

 private:
  struct Deleter {
    bool on_huge_pages;
    void operator()(char* bytes) const noexcept {
      on_huge_pages ? DeleteOnHugePages(bytes) : ::operator delete(bytes);
    }
  };
  using Bytes = std::unique_ptr<char[], Deleter>;

  static Bytes Allocate(size_t byte_count) {
    const bool on_huge_pages = byte_count >= kHugePageBytes;
    void* const bytes = on_huge_pages
                            ? NewOnHugePages(byte_count)
                            : ::operator new(byte_count, std::nothrow);
    return Bytes(static_cast<char*>(bytes), {on_huge_pages});
  }

  Bytes bytes_;
  size_t capacity_ = 0;
};

}  // namespace rowbloom
