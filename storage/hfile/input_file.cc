#include "storage/hfile/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "lib/bytes/text.h"

namespace rowbloom::hfile {
namespace {

using rocksdb::Status;

std::string SystemMessage(int error) {
  return std::error_code(error, std::generic_category()).message();
}

}  // namespace

Status InputFile::Open(const std::string& path,
                       std::unique_ptr<InputFile>* file) {
  // Not to wait for the other end of a pipe.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return Status::IOError(
        Concat(path, ": cannot open: ", SystemMessage(errno)));
  }
  std::unique_ptr<InputFile> opened(new InputFile(path, descriptor));
  struct stat info {};
  if (fstat(descriptor, &info) != 0) {
    return Status::IOError(
        Concat(path, ": cannot read its size: ", SystemMessage(errno)));
  }
  if (!S_ISREG(info.st_mode)) {
    return Status::IOError(Concat(
        path, ": ",
        S_ISDIR(info.st_mode) ? "a directory" : "a pipe, socket or device",
        ", expected a file"));
  }
  opened->size_bytes_ = static_cast<uint64_t>(info.st_size);
  *file = std::move(opened);
  return Status::OK();
}

InputFile::~InputFile() { close(descriptor_); }

Status InputFile::ReadAt(uint64_t offset, size_t byte_count, char* out) const {
  size_t done = 0;
  while (done < byte_count) {
    const ssize_t count = pread(descriptor_, out + done, byte_count - done,
                                static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return Status::IOError(Concat(path_, ": cannot read at offset ",
                                    offset + done, ": ", SystemMessage(errno)));
    }
    if (count == 0) {
      return Status::IOError(
          Concat(path_, ": became shorter while it was read: ", byte_count,
                 " bytes at offset ", offset, " expected, found ", done));
    }
    done += static_cast<size_t>(count);
  }
  return Status::OK();
}

Status InputFile::Located(std::string_view what, uint64_t offset,
                          const Status& problem) const {
  const char* state = problem.getState();
  const std::string message = Concat(path_, ": ", what, " at offset ", offset,
                                     ": ", state == nullptr ? "" : state);
  if (problem.IsCorruption()) return Status::Corruption(message);
  if (problem.IsNotSupported()) return Status::NotSupported(message);
  if (problem.IsMemoryLimit()) return Status::MemoryLimit(message);
  // Those of the operating system say it themselves.
  return problem;
}

}  // namespace rowbloom::hfile
