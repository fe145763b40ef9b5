// Functions on directories that rocksdb::Env lacks.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace rowbloom {

// The names in a directory but "." and "..".
inline rocksdb::Status ListDirectory(rocksdb::Env* env,
                                     const std::string& directory,
                                     std::vector<std::string>* names) {
  rocksdb::Status s = env->GetChildren(directory, names);
  std::erase_if(*names, [](const std::string& name) {
    return name == "." || name == "..";
  });
  return s;
}

// Removes a directory and its contents. REQUIRES that these have no links.
inline rocksdb::Status RemoveDirectory(rocksdb::Env* env,
                                       const std::string& directory) {
  std::vector<std::string> names;
  rocksdb::Status s = ListDirectory(env, directory, &names);
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    bool is_directory = false;
    if (s.ok()) s = env->IsDirectory(path, &is_directory);
    if (!s.ok()) break;
    s = is_directory ? RemoveDirectory(env, path) : env->DeleteFile(path);
  }
  return s.ok() ? env->DeleteDir(directory) : s;
}

// Syncs a directory, as the last step of creating or renaming a file in it: the
// name is on the disk only then.
inline rocksdb::Status SyncDirectory(rocksdb::Env* env,
                                     const std::string& directory) {
  std::unique_ptr<rocksdb::Directory> opened;
  const rocksdb::Status s = env->NewDirectory(directory, &opened);
  return s.ok() ? opened->Fsync() : s;
}

inline std::string WithoutTrailingSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// Returns the directory that contains a file or a directory.
inline std::string ParentOf(std::string path) {
  path = WithoutTrailingSlashes(std::move(path));
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace rowbloom
