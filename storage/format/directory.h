// Functions on directories that rocksdb::Env lacks.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace rowbloom {

// Returns what Env::FileExists does, but an error for a path that cannot be
// looked up, as below a directory that may not be searched: RocksDB's own
// returns NotFound, as if nothing was there. At an error that it does not
// expect, such as that of a mount whose server is gone, it (7.8.3 to 11.8.1
// with assertions, as Debian's) ends the process.
inline rocksdb::Status FileExists(rocksdb::Env* env, const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) {
    switch (const int error = errno) {
      case EIO:
      case ENAMETOOLONG:
      case ENOENT:
      case ENOMEM:
      case ENOTDIR:
        break;
      default:
        return rocksdb::Status::IOError(path,
                                        std::generic_category().message(error));
    }
  }
  return env->FileExists(path);
}

// The names in a directory but "." and "..". InvalidArgument: `directory` is
// something else, such as a file.
inline rocksdb::Status ListDirectory(rocksdb::Env* env,
                                     const std::string& directory,
                                     std::vector<std::string>* names) {
  rocksdb::Status s = env->GetChildren(directory, names);
  std::erase_if(*names, [](const std::string& name) {
    return name == "." || name == "..";
  });
  // RocksDB's own returns NotFound, without a text, whatever the reason.
  if (!s.IsNotFound()) return s;
  std::error_code ignored;
  const auto found = std::filesystem::status(directory, ignored);
  if (exists(found) && !is_directory(found)) {
    return rocksdb::Status::InvalidArgument(directory + " is not a directory");
  }
  const int error = access(directory.c_str(), R_OK) == 0 ? EACCES : errno;
  return rocksdb::Status::IOError(directory + ": cannot be listed",
                                  std::generic_category().message(error));
}

// Removes a file, or a directory with its contents. A link is removed, not the
// file or directory that it leads to.
inline rocksdb::Status RemoveTree(rocksdb::Env* env, const std::string& path) {
  std::error_code ignored;
  rocksdb::Status s;
  bool is_directory = false;
  if (!std::filesystem::is_symlink(path, ignored)) {
    s = env->IsDirectory(path, &is_directory);
  }
  if (s.ok() && !is_directory) return env->DeleteFile(path);
  std::vector<std::string> names;
  if (s.ok()) s = ListDirectory(env, path, &names);
  for (const std::string& name : names) {
    if (s.ok()) s = RemoveTree(env, path + "/" + name);
  }
  return s.ok() ? env->DeleteDir(path) : s;
}

// These set and read the permissions of a directory, and those for a copy of
// it, which its owner can write. The paths of an Env with a file system of its
// own have none.
inline void SetPermissions(const std::string& path,
                           std::filesystem::perms mode) {
  std::error_code ignored;
  if (mode != std::filesystem::perms::unknown) {
    std::filesystem::permissions(path, mode, ignored);
  }
}
inline std::filesystem::perms PermissionsOf(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) ? status.permissions()
                                         : std::filesystem::perms::unknown;
}
inline std::filesystem::perms PermissionsForCopyOf(const std::string& path) {
  return PermissionsOf(path) | std::filesystem::perms::owner_all;
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

// Syncs the parent of a directory, which the caller may have created just
// before. The parent of an older one, not `is_new`, may be closed to this user.
inline rocksdb::Status SyncParent(rocksdb::Env* env,
                                  const std::string& directory, bool is_new) {
  std::unique_ptr<rocksdb::Directory> parent;
  const rocksdb::Status s = env->NewDirectory(ParentOf(directory), &parent);
  if (s.ok()) return parent->Fsync();
  return is_new ? s : rocksdb::Status::OK();
}

}  // namespace rowbloom
