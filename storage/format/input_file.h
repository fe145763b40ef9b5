// A file that is read at any offset. Immutable and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "storage/format/status_text.h"

namespace rowbloom {

class InputFile {
 public:
  // IOError: it cannot be opened, or is a directory, pipe or device.
  static rocksdb::Status Open(const std::string& path,
                              std::unique_ptr<InputFile>* file);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  // The size of the file when it was opened.
  uint64_t size_bytes() const { return size_bytes_; }

  // Reads exactly `byte_count` bytes. IOError: the file cannot be read, or
  // became shorter.
  rocksdb::Status ReadAt(uint64_t offset, size_t byte_count, char* out) const {
    return ReadAhead(offset, byte_count, byte_count, out, &byte_count);
  }
  // Reads at least `least_bytes`, and up to `most_bytes` if a read has them.
  rocksdb::Status ReadAhead(uint64_t offset, size_t least_bytes,
                            size_t most_bytes, char* out,
                            size_t* found_bytes) const;

  // Names this file: see Located in status_text.h.
  rocksdb::Status Located(std::string_view what, uint64_t offset,
                          const rocksdb::Status& problem) const {
    return rowbloom::Located(path_, what, offset, problem);
  }

 private:
  explicit InputFile(const std::string& path) : path_(path) {}

  const std::string path_;
  int descriptor_ = -1;
  uint64_t size_bytes_ = 0;
};

}  // namespace rowbloom
