// A file that appears at its path complete, or not at all: it is written beside
// that path under another name, synced, and then renamed. Not thread-safe.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace rowbloom {

class OutputFile {
 public:
  // IOError: the file cannot be created. `env` outlives the file; nullptr is
  // the default one.
  static rocksdb::Status Create(rocksdb::Env* env, const std::string& path,
                                std::unique_ptr<OutputFile>* file);
  // Removes the file, unless it is at its path, or the process is a child of
  // that which created it.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  rocksdb::Status Append(std::string_view bytes);
  // Syncs the appended bytes to the disk, and renames the file to its path.
  // After an error of the directory's sync it stays there.
  rocksdb::Status Commit();

  uint64_t size_bytes() const { return size_bytes_; }
  const std::string& path() const { return path_; }

 private:
  OutputFile(rocksdb::Env* env, std::string path, std::string temporary_path)
      : env_(env),
        path_(std::move(path)),
        temporary_path_(std::move(temporary_path)) {}

  rocksdb::Env* const env_;
  const std::string path_;
  const std::string temporary_path_;
  const pid_t process_ = getpid();
  std::unique_ptr<rocksdb::WritableFile> file_;  // nullptr once committed
  uint64_t size_bytes_ = 0;
};

}  // namespace rowbloom
