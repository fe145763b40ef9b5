#include "storage/hfile/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "storage/hfile/message.h"

namespace rowbloom::hfile {

using rocksdb::Status;

Status OutputFile::Failed(std::string_view what, int error) const {
  const std::string message =
      Message(path_, ": cannot ", what, ": ",
              std::error_code(error, std::generic_category()).message());
  return error == ENOSPC ? Status::NoSpace(message) : Status::IOError(message);
}

Status OutputFile::Create(const std::string& path,
                          std::unique_ptr<OutputFile>* file) {
  // Loaders of bulk files skip names that start like this; and no two writers,
  // nor what one left when it was killed, have the same.
  const std::filesystem::path target(path);
  constexpr int kMaxAttempts = 1000;
  for (int attempt = 0;; ++attempt) {
    const std::string name =
        Message("_", target.filename().string(), ".", getpid(), ".", attempt);
    const std::string temporary = (target.parent_path() / name).string();
    const int descriptor =
        open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      file->reset(new OutputFile(path, temporary, descriptor));
      return Status::OK();
    }
    if (errno != EEXIST || attempt == kMaxAttempts) {
      return Status::IOError(
          Message(temporary, ": cannot create: ",
                  std::error_code(errno, std::generic_category()).message()));
    }
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!committed_) unlink(temporary_path_.c_str());
}

Status OutputFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed("write", errno);
    size_bytes_ += static_cast<uint64_t>(count);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return Status::OK();
}

Status OutputFile::SyncDirectory() const {
  std::string directory = std::filesystem::path(path_).parent_path().string();
  if (directory.empty()) directory = ".";
  const int descriptor =
      open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return Failed("open its directory", errno);
  const int failed = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  // Some file systems cannot, and need not.
  if (failed != 0 && failed != EINVAL) {
    return Failed("sync its directory", failed);
  }
  return Status::OK();
}

Status OutputFile::Commit() {
  if (fsync(descriptor_) != 0) return Failed("sync", errno);
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) return Failed("close", errno);
  if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    return Failed("rename", errno);
  }
  committed_ = true;
  return SyncDirectory();
}

}  // namespace rowbloom::hfile
