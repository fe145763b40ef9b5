#include "storage/hfile/output_file.h"

#include <filesystem>

#include "lib/bytes/text.h"
#include "storage/format/directory.h"

namespace rowbloom::hfile {

using rocksdb::Status;

Status OutputFile::Named(std::string_view what, const Status& status) const {
  if (status.ok()) return status;
  const std::string message =
      Concat(path_, ": cannot ", what, ": ", status.ToString());
  return status.IsNoSpace() ? Status::NoSpace(message)
                            : Status::IOError(message);
}

Status OutputFile::Create(rocksdb::Env* given_env, const std::string& path,
                          std::unique_ptr<OutputFile>* file) {
  rocksdb::Env* const env =
      given_env == nullptr ? rocksdb::Env::Default() : given_env;
  // Loaders of bulk files skip names that start like this; and no two writers,
  // nor what one left when it was killed, have the same.
  const std::filesystem::path target(path);
  const std::string name =
      Concat("_", target.filename().string(), ".", env->GenerateUniqueId());
  std::unique_ptr<OutputFile> created(
      new OutputFile(env, path, (target.parent_path() / name).string()));
  const Status s = env->NewWritableFile(created->temporary_path_,
                                        &created->file_, rocksdb::EnvOptions());
  if (!s.ok()) return created->Named("create", s);
  *file = std::move(created);
  return s;
}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;  // it is at its path, or was never created
  file_->Close().PermitUncheckedError();
  env_->DeleteFile(temporary_path_).PermitUncheckedError();
}

Status OutputFile::Append(std::string_view bytes) {
  const Status s = file_->Append(rocksdb::Slice(bytes.data(), bytes.size()));
  if (s.ok()) size_bytes_ += bytes.size();
  return Named("write", s);
}

Status OutputFile::Commit() {
  Status s = Named("sync", file_->Fsync());
  if (s.ok()) s = Named("close", file_->Close());
  if (s.ok()) s = Named("rename", env_->RenameFile(temporary_path_, path_));
  if (!s.ok()) return s;
  file_.reset();
  return Named("sync its directory", SyncDirectory(env_, ParentOf(path_)));
}

}  // namespace rowbloom::hfile
