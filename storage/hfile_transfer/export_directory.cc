#include "storage/hfile_transfer/export_directory.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <random>
#include <system_error>

#include "rocksdb/env.h"
#include "rowbloom/printable.h"

namespace rowbloom::hfile_transfer {
namespace {

namespace fs = std::filesystem;
using rocksdb::Status;

constexpr char kStagingPrefix[] = ".export-";

Status Failed(const fs::path& path, const std::string& what,
              const std::error_code& error) {
  return Status::IOError(path.string() + ": cannot " + what + ": " +
                         error.message());
}

// Makes names in a directory outlive the machine.
Status SyncDirectory(const fs::path& path) {
  std::unique_ptr<rocksdb::Directory> directory;
  Status s = rocksdb::Env::Default()->NewDirectory(path.string(), &directory);
  return s.ok() ? directory->Fsync() : s;
}

Status CheckEmpty(const std::string& path) {
  std::error_code error;
  const fs::directory_iterator entries(path, error);
  if (error) return Failed(path, "read the directory", error);
  if (entries == fs::directory_iterator()) return Status::OK();
  return Status::InvalidArgument(
      path + ": expected a new or empty directory, found \"" +
      ToPrintable(entries->path().filename().string()) + "\" in it");
}

}  // namespace

Status ExportDirectory::Create(const std::string& path,
                               std::unique_ptr<ExportDirectory>* directory) {
  std::error_code error;
  const bool created = fs::create_directory(path, error);
  if (error) return Failed(path, "create the directory", error);
  if (Status s = CheckEmpty(path); !s.ok()) return s;
  const std::string staging =
      (fs::path(path) / (kStagingPrefix + NewFileName())).string();
  directory->reset(new ExportDirectory(path, staging, created));
  fs::create_directory(staging, error);
  return error ? Failed(staging, "create the directory", error) : Status::OK();
}

ExportDirectory::~ExportDirectory() {
  if (committed_) return;
  std::error_code ignored;
  fs::remove_all(staging_, ignored);
  // Fails when it is not empty.
  if (created_) fs::remove(path_, ignored);
}

Status ExportDirectory::StagedPath(const std::string& family,
                                   const std::string& name, std::string* path) {
  const fs::path directory = fs::path(staging_) / family;
  if (staged_.insert(family).second) {
    std::error_code error;
    fs::create_directory(directory, error);
    if (error) return Failed(directory, "create the directory", error);
  }
  *path = (directory / name).string();
  return Status::OK();
}

std::string ExportDirectory::FinalPath(const std::string& family,
                                       const std::string& name) const {
  return (fs::path(path_) / family / name).string();
}

Status ExportDirectory::Commit() {
  for (const std::string& family : staged_) {
    const fs::path target = fs::path(path_) / family;
    std::error_code error;
    fs::rename(fs::path(staging_) / family, target, error);
    if (error) return Failed(target, "put the files in place", error);
    in_place_.insert(family);
  }
  std::error_code error;
  fs::remove(staging_, error);
  if (error) return Failed(staging_, "remove the directory", error);
  Status s = SyncDirectory(path_);
  if (s.ok() && created_) s = SyncDirectory(fs::path(path_) / "..");
  committed_ = s.ok();
  return s;
}

std::string NewFileName() {
  constexpr char kDigits[] = "0123456789abcdef";
  constexpr size_t kNameDigits = 32;
  constexpr int kDigitsPerNumber = 8;
  std::random_device random;
  std::string name;
  while (name.size() < kNameDigits) {
    uint32_t number = random();
    for (int i = 0; i < kDigitsPerNumber; ++i, number >>= 4) {
      name.push_back(kDigits[number & 0xf]);
    }
  }
  return name;
}

}  // namespace rowbloom::hfile_transfer
