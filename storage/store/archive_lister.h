// An Env by which RocksDB notices errors of its archive of logs.
#pragma once

#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace rowbloom {

// RocksDB looks whether the archive is there before it lists it. If it gets an
// error, it stops with an assertion or (7.8.3 without assertions) goes on as if
// there were no logs at all. Here it lists the archive, whose error it reports.
class ArchiveLister : public rocksdb::EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;

  rocksdb::Status FileExists(const std::string& file) override {
    rocksdb::Status s = EnvWrapper::FileExists(file);
    return IsArchive(file) && !s.IsNotFound() ? rocksdb::Status::OK() : s;
  }
  rocksdb::Status GetChildren(const std::string& directory,
                              std::vector<std::string>* children) override {
    rocksdb::Status s = EnvWrapper::GetChildren(directory, children);
    return IsArchive(directory) && s.IsNotFound() ? rocksdb::Status::OK() : s;
  }

 private:
  static bool IsArchive(const std::string& path) {
    return path.ends_with("/archive");
  }
};

}  // namespace rowbloom
