#include "tools/cli/input.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <ostream>
#include <system_error>

namespace rowbloom::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM};

// Handlers are the process's, and so is this.
std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free);
// The handler writes, so that poll wakes whichever thread has the signal.
int wake_pipe[2] = {-1, -1};
struct sigaction previous[kSignals.size()];

void Note(int signal) {
  const int kept_errno = errno;
  noted = signal;
  // When it is full, poll has been told.
  [[maybe_unused]] const ssize_t ignored = write(wake_pipe[1], "", 1);
  errno = kept_errno;
}

constexpr size_t kBufferBytes = size_t{256} << 10;

}  // namespace

Interruption::Interruption() {
  if (pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  noted = 0;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action = {};
    action.sa_handler = Note;
    action.sa_flags = SA_RESETHAND;
    sigaction(kSignals[i], nullptr, &previous[i]);
    if (previous[i].sa_handler != SIG_IGN) {
      sigaction(kSignals[i], &action, nullptr);
    }
  }
}

Interruption::~Interruption() {
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &previous[i], nullptr);
  }
  for (int& fd : wake_pipe) {
    close(fd);
    fd = -1;
  }
}

int Interruption::signal() const { return noted; }

void Interruption::Check(const std::ostream& out) const {
  if (noted != 0 || !out) throw Interrupted{noted};
}

ssize_t InterruptibleRead(int fd, void* buffer, size_t bytes) {
  while (true) {
    // poll passes over a negative descriptor.
    pollfd waiting[] = {{fd, POLLIN, 0}, {wake_pipe[0], POLLIN, 0}};
    const int ready = poll(waiting, std::size(waiting), /*timeout=*/-1);
    if (ready < 0 && errno != EINTR) return -1;
    if (ready < 0) continue;
    if (waiting[1].revents != 0) {
      errno = EINTR;
      return -1;
    }
    const ssize_t count = read(fd, buffer, bytes);
    if (count >= 0 || errno != EINTR) return count;
  }
}

DescriptorBuffer::DescriptorBuffer(int fd) : fd_(fd), buffer_(kBufferBytes) {}

DescriptorBuffer::int_type DescriptorBuffer::underflow() {
  const ssize_t count = InterruptibleRead(fd_, buffer_.data(), buffer_.size());
  if (count < 0) throw std::system_error(errno, std::generic_category());
  setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
  return count == 0 ? traits_type::eof() : traits_type::to_int_type(*gptr());
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
  if (fd < 0) {
    return Error{path + ": " + std::generic_category().message(errno)};
  }
  return std::unique_ptr<InputFile>(new InputFile(fd));
}

}  // namespace rowbloom::cli
