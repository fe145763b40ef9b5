#include "storage/store/directory.h"

namespace rowbloom {

using rocksdb::Status;

Status ListDirectory(rocksdb::Env* env, const std::string& directory,
                     std::vector<std::string>* names) {
  Status s = env->GetChildren(directory, names);
  std::erase_if(*names, [](const std::string& name) {
    return name == "." || name == "..";
  });
  return s;
}

Status RemoveDirectory(rocksdb::Env* env, const std::string& directory) {
  std::vector<std::string> files;
  Status s = ListDirectory(env, directory, &files);
  for (const std::string& file : files) {
    if (s.ok()) s = env->DeleteFile(directory + "/" + file);
  }
  return s.ok() ? env->DeleteDir(directory) : s;
}

}  // namespace rowbloom
