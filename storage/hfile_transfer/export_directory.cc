#include "storage/hfile_transfer/export_directory.h"

#include <vector>

#include "rowbloom/printable.h"
#include "storage/format/directory.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"

namespace rowbloom::hfile_transfer {
namespace {

using rocksdb::Status;

constexpr char kStagingPrefix[] = ".export-";

Status CheckEmpty(rocksdb::Env* env, const std::string& path) {
  bool is_directory = false;
  std::vector<std::string> names;
  Status s = env->IsDirectory(path, &is_directory);
  if (s.ok() && !is_directory) {
    return InvalidArgument(path,
                           ": expected a new or empty directory, found a file");
  }
  if (s.ok()) s = ListDirectory(env, path, &names);
  if (!s.ok()) return Cannot("read the directory", path, s);
  if (names.empty()) return s;
  return InvalidArgument(path, ": expected a new or empty directory, found \"",
                         ToPrintable(names.front()), "\" in it");
}

}  // namespace

Status ExportDirectory::Create(rocksdb::Env* env, const std::string& path,
                               std::unique_ptr<ExportDirectory>* directory) {
  const bool is_new = FileExists(env, path).IsNotFound();
  const std::string staging = path + "/" + kStagingPrefix + NewFileName();
  std::unique_ptr<ExportDirectory> made(
      new ExportDirectory(env, path, staging));
  Status s = is_new ? made->MakeDirectory(path) : CheckEmpty(env, path);
  made->created_ = is_new && s.ok();
  if (s.ok()) s = made->MakeDirectory(staging);
  if (s.ok()) *directory = std::move(made);
  return s;
}

Status ExportDirectory::MakeDirectory(const std::string& path) const {
  return Cannot("create the directory", path, env_->CreateDir(path));
}

ExportDirectory::~ExportDirectory() {
  if (committed_) return;
  CatchExceptions([this] {
    for (const std::string& family : staged_) {
      RemoveTree(env_, staging_ + "/" + family).PermitUncheckedError();
    }
    env_->DeleteDir(staging_).PermitUncheckedError();
    // Fails when it is not empty.
    return created_ ? env_->DeleteDir(path_) : Status::OK();
  }).PermitUncheckedError();
}

Status ExportDirectory::StagedPath(const std::string& family,
                                   const std::string& name, std::string* path) {
  const std::string directory = staging_ + "/" + family;
  *path = directory + "/" + name;
  return staged_.insert(family).second ? MakeDirectory(directory)
                                       : Status::OK();
}

std::string ExportDirectory::FinalPath(const std::string& family,
                                       const std::string& name) const {
  return path_ + "/" + family + "/" + name;
}

Status ExportDirectory::Commit() {
  for (const std::string& family : staged_) {
    const std::string target = path_ + "/" + family;
    Status s = Cannot("put the files in place", target,
                      env_->RenameFile(staging_ + "/" + family, target));
    if (!s.ok()) return s;
    in_place_.insert(family);
  }
  Status s =
      Cannot("remove the directory", staging_, env_->DeleteDir(staging_));
  if (s.ok()) s = SyncDirectory(env_, path_);
  if (s.ok()) s = SyncParent(env_, path_, created_);
  committed_ = s.ok();
  return s;
}

std::string NewFileName() {
  std::string name = rocksdb::Env::Default()->GenerateUniqueId();
  std::erase(name, '-');
  return name;
}

}  // namespace rowbloom::hfile_transfer
