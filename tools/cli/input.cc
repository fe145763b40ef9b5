#include "tools/cli/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "tools/cli/interruption.h"

namespace rowbloom::cli {
namespace {

constexpr size_t kBufferBytes = size_t{256} << 10;

}  // namespace

DescriptorBuffer::DescriptorBuffer(int fd) : fd_(fd), buffer_(kBufferBytes) {}

DescriptorBuffer::int_type DescriptorBuffer::underflow() {
  const ssize_t count = InterruptibleRead(fd_, buffer_.data(), buffer_.size());
  if (count < 0) {
    error_ = errno;
    throw std::system_error(error_, std::generic_category());
  }
  setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
  return count == 0 ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

std::string ReadProblem(const std::istream& in) {
  const auto* const buffer = dynamic_cast<const DescriptorBuffer*>(in.rdbuf());
  return buffer == nullptr || buffer->error() == 0
             ? "cannot be read"
             : "cannot be read: " +
                   std::generic_category().message(buffer->error());
}

std::optional<uint64_t> RemainingBytes(int fd) {
  struct stat status = {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const off_t offset = lseek(fd, 0, SEEK_CUR);
  if (offset < 0) return std::nullopt;
  return static_cast<uint64_t>(std::max<off_t>(0, status.st_size - offset));
}

InputFile::InputFile(int fd) : fd_(fd), buffer_(fd), stream_(&buffer_) {}

InputFile::~InputFile() { close(fd_); }

Result<std::unique_ptr<InputFile>> InputFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::unique_ptr<InputFile> file(new InputFile(fd));
  // A directory can be opened, but even a read of nothing fails.
  if (fd < 0 || read(fd, nullptr, 0) < 0) {
    return Error{path + ": " + std::generic_category().message(errno)};
  }
  return file;
}

}  // namespace rowbloom::cli
