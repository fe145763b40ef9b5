// A file that appears at its path complete, or not at all: written beside it
// under a name of its own, synced, then renamed. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

namespace rowbloom::hfile {

class OutputFile {
 public:
  // IOError: the file cannot be created.
  static rocksdb::Status Create(const std::string& path,
                                std::unique_ptr<OutputFile>* file);
  // Removes the file unless it was committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  rocksdb::Status Append(std::string_view bytes);
  // What was appended is at the path, and on the disk.
  rocksdb::Status Commit();

  uint64_t size_bytes() const { return size_bytes_; }
  const std::string& path() const { return path_; }

 private:
  OutputFile(const std::string& path, const std::string& temporary_path,
             int descriptor)
      : path_(path), temporary_path_(temporary_path), descriptor_(descriptor) {}

  rocksdb::Status SyncDirectory() const;
  rocksdb::Status Failed(std::string_view what, int error) const;

  const std::string path_;
  const std::string temporary_path_;
  int descriptor_;
  uint64_t size_bytes_ = 0;
  bool committed_ = false;
};

}  // namespace rowbloom::hfile
