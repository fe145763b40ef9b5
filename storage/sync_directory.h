// The last step of what makes or renames a file for good: the name is on the
// disk once its directory is synced.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace rowbloom {

inline rocksdb::Status SyncDirectory(rocksdb::Env* env,
                                     const std::string& directory) {
  std::unique_ptr<rocksdb::Directory> opened;
  const rocksdb::Status s = env->NewDirectory(directory, &opened);
  return s.ok() ? opened->Fsync() : s;
}

// The directory that has the name of a file or a directory.
inline std::string ParentOf(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace rowbloom
