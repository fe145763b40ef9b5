#include "storage/format/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace rowbloom {
namespace {

using rocksdb::Status;

std::string SystemMessage(int error) {
  return std::error_code(error, std::generic_category()).message();
}

}  // namespace

Status InputFile::Open(const std::string& path,
                       std::unique_ptr<InputFile>* file) {
  std::unique_ptr<InputFile> opened(new InputFile(path));
  // O_NONBLOCK keeps open() from waiting for the other end of a pipe.
  opened->descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (opened->descriptor_ < 0) {
    return IOError(path, ": cannot open: ", SystemMessage(errno));
  }
  struct stat info {};
  if (fstat(opened->descriptor_, &info) != 0) {
    return IOError(path, ": cannot read its size: ", SystemMessage(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return IOError(
        path, ": ",
        S_ISDIR(info.st_mode) ? "a directory" : "a pipe, socket or device",
        ", expected a file");
  }
  opened->size_bytes_ = static_cast<uint64_t>(info.st_size);
  *file = std::move(opened);
  return Status::OK();
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

Status InputFile::ReadAhead(uint64_t offset, size_t least_bytes,
                            size_t most_bytes, char* out,
                            size_t* found_bytes) const {
  size_t done = 0;
  while (done < least_bytes) {
    const ssize_t count = pread(descriptor_, out + done, most_bytes - done,
                                static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return IOError(path_, ": cannot read at offset ", offset + done, ": ",
                     SystemMessage(errno));
    }
    if (count == 0) {
      return IOError(path_, ": became shorter while it was read: ", least_bytes,
                     " bytes at offset ", offset, " expected, found ", done);
    }
    done += static_cast<size_t>(count);
  }
  *found_bytes = done;
  return Status::OK();
}

}  // namespace rowbloom
