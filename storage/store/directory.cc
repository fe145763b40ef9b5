#include "storage/store/directory.h"

#include <unistd.h>

namespace rowbloom {

using rocksdb::Env;
using rocksdb::Status;

Status ListDirectory(Env* env, const std::string& directory,
                     std::vector<std::string>* names) {
  Status s = env->GetChildren(directory, names);
  std::erase_if(*names, [](const std::string& name) {
    return name == "." || name == "..";
  });
  return s;
}

Status RemoveDirectory(Env* env, const std::string& directory) {
  std::vector<std::string> files;
  Status s = ListDirectory(env, directory, &files);
  for (const std::string& file : files) {
    if (s.ok()) s = env->DeleteFile(directory + "/" + file);
  }
  return s.ok() ? env->DeleteDir(directory) : s;
}

Status TakeLock(Env* env, const std::string& file, const std::string& busy,
                rocksdb::FileLock** lock) {
  const Status s = env->LockFile(file, lock);
  // RocksDB has no code for it. Opening the file to ask for its lock would give
  // up the lock that this process may have.
  return s.IsIOError() && access(file.c_str(), R_OK | W_OK) == 0
             ? Status::Busy(busy)
             : s;
}

}  // namespace rowbloom
