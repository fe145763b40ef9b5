// A file that is read at any offset. Immutable and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace rowbloom::hfile {

class InputFile {
 public:
  // IOError: it cannot be opened, or is a directory, pipe or device.
  static rocksdb::Status Open(const std::string& path,
                              std::unique_ptr<InputFile>* file);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  // When it was opened.
  uint64_t size_bytes() const { return size_bytes_; }

  // Exactly `byte_count` bytes. IOError: cannot be read, or became shorter.
  rocksdb::Status ReadAt(uint64_t offset, size_t byte_count, char* out) const;

  // The kind of error that `problem` is, with the path, `what` and its offset
  // before its message.
  rocksdb::Status Located(std::string_view what, uint64_t offset,
                          const rocksdb::Status& problem) const;

 private:
  InputFile(const std::string& path, int descriptor)
      : path_(path), descriptor_(descriptor) {}

  const std::string path_;
  const int descriptor_;
  uint64_t size_bytes_ = 0;
};

}  // namespace rowbloom::hfile
