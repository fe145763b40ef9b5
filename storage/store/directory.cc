#include "storage/store/directory.h"

#include <cerrno>
#include <system_error>

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
  if (!s.IsIOError()) return s;
  // RocksDB has no code for it. It says in words that this process has the
  // lock, and gives the system's words for EAGAIN when another process has it.
  const std::string message = s.ToString();
  const bool is_held =
      message.find("lock hold by current process") != message.npos ||
      message.find(std::generic_category().message(EAGAIN)) != message.npos;
  return is_held ? Status::Busy(busy) : s;
}

}  // namespace rowbloom
