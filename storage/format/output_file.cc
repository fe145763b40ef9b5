#include "storage/format/output_file.h"

#include <filesystem>

#include "storage/format/directory.h"
#include "storage/format/status_text.h"

namespace rowbloom {

using rocksdb::Status;

Status OutputFile::Create(rocksdb::Env* given_env, const std::string& path,
                          std::unique_ptr<OutputFile>* file) {
  rocksdb::Env* const env =
      given_env == nullptr ? rocksdb::Env::Default() : given_env;
  // Loaders of bulk files skip names that start with "_". The unique id keeps
  // the file apart from those of other writers, and from remains of killed
  // ones.
  const std::filesystem::path target(path);
  const std::string name =
      Concat("_", target.filename().string(), ".", env->GenerateUniqueId());
  std::unique_ptr<OutputFile> created(
      new OutputFile(env, path, (target.parent_path() / name).string()));
  const Status s = env->NewWritableFile(created->temporary_path_,
                                        &created->file_, rocksdb::EnvOptions());
  if (!s.ok()) return Cannot("create", path, s);
  *file = std::move(created);
  return s;
}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;  // it is at its path, or was never created
  file_->Close().PermitUncheckedError();
  if (getpid() != process_) return;  // the process that forked writes it
  env_->DeleteFile(temporary_path_).PermitUncheckedError();
}

Status OutputFile::Append(std::string_view bytes) {
  const Status s = file_->Append(rocksdb::Slice(bytes.data(), bytes.size()));
  if (s.ok()) size_bytes_ += bytes.size();
  return Cannot("write", path_, s);
}

Status OutputFile::Commit() {
  Status s = Cannot("sync", path_, file_->Fsync());
  if (s.ok()) s = Cannot("close", path_, file_->Close());
  if (s.ok()) {
    s = Cannot("rename", path_, env_->RenameFile(temporary_path_, path_));
  }
  if (!s.ok()) return s;
  file_.reset();
  return Cannot("sync its directory", path_,
                SyncDirectory(env_, ParentOf(path_)));
}

}  // namespace rowbloom
