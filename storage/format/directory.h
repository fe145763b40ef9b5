// Directories and locks, as far as rocksdb::Env leaves something to be done.
#pragma once

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
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

// Removes a directory with all that is in it. REQUIRES that no link is in it.
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

// A lock file, which is given up with this object.
class HeldLock {
 public:
  explicit HeldLock(rocksdb::Env* env) : env_(env) {}
  ~HeldLock() {
    if (lock_ != nullptr) env_->UnlockFile(lock_).PermitUncheckedError();
  }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

  // Takes the lock, creating the file if need be. Busy, with `busy` as message:
  // somebody has it, in this process or another one.
  rocksdb::Status Take(const std::string& file, const std::string& busy) {
    const rocksdb::Status s = env_->LockFile(file, &lock_);
    if (!s.IsIOError()) return s;
    // RocksDB has no code for it. It says in words that this process has the
    // lock, and gives the system's words for EAGAIN when another process does.
    const std::string message = s.ToString();
    const bool is_held =
        message.find("lock hold by current process") != message.npos ||
        message.find(std::generic_category().message(EAGAIN)) != message.npos;
    return is_held ? rocksdb::Status::Busy(busy) : s;
  }

  // The lock, which is the caller's from now on; nullptr: it is not held.
  rocksdb::FileLock* Release() { return std::exchange(lock_, nullptr); }

 private:
  rocksdb::Env* const env_;
  rocksdb::FileLock* lock_ = nullptr;
};

// The last step of what makes or renames a file for good: the name is on the
// disk once its directory is synced.
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
