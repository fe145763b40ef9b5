// The directory of an export: filled out of sight, in a directory of a name
// that HBase skips, and put in place family by family when it is complete.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace rowbloom::hfile_transfer {

class ExportDirectory {
 public:
  // InvalidArgument: the directory is not empty. IOError: it cannot be created.
  // `env` outlives it.
  static rocksdb::Status Create(rocksdb::Env* env, const std::string& path,
                                std::unique_ptr<ExportDirectory>* directory);
  // Removes what is not in place, if there is memory for it.
  ~ExportDirectory();
  ExportDirectory(const ExportDirectory&) = delete;
  ExportDirectory& operator=(const ExportDirectory&) = delete;

  // A path out of sight for a file of that name, in a directory that exists.
  rocksdb::Status StagedPath(const std::string& family, const std::string& name,
                             std::string* path);
  // The path of that file after Commit.
  std::string FinalPath(const std::string& family,
                        const std::string& name) const;

  // Puts all families in place, on the disk.
  rocksdb::Status Commit();
  // The families that are in place; all after a Commit that succeeded.
  const std::set<std::string>& families_in_place() const { return in_place_; }

 private:
  ExportDirectory(rocksdb::Env* env, std::string path, std::string staging)
      : env_(env), path_(std::move(path)), staging_(std::move(staging)) {}

  rocksdb::Status MakeDirectory(const std::string& path) const;

  rocksdb::Env* const env_;
  const std::string path_;
  const std::string staging_;
  bool created_ = false;  // by us
  bool committed_ = false;
  std::set<std::string> staged_;
  std::set<std::string> in_place_;
};

// 32 hexadecimal digits, as HBase names its files; no two are the same.
std::string NewFileName();

}  // namespace rowbloom::hfile_transfer
