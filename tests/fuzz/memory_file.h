// A file in memory, with a path: what reads files by name can be given any
// bytes without a disk. One serves all inputs of a fuzz target.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "tests/fuzz/check.h"

namespace rowbloom::fuzz {

class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    Check(descriptor_ >= 0, "this system has files in memory");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void Write(std::string_view bytes) const {
    Check(ftruncate(descriptor_, 0) == 0, "the memory file can be emptied");
    Check(pwrite(descriptor_, bytes.data(), bytes.size(), 0) ==
              static_cast<ssize_t>(bytes.size()),
          "the memory file can be written");
  }
  std::string Path() const {
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  const int descriptor_;
};

}  // namespace rowbloom::fuzz
