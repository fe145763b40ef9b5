#include "tools/cli/interruption.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <ostream>
#include <system_error>

namespace rowbloom::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM};

// The last signal that was noted. Signal handlers belong to the process, so
// this is global.
std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free);
// The handler writes to it, so that poll returns whichever thread gets the
// signal.
int wake_pipe[2] = {-1, -1};
struct sigaction previous[kSignals.size()];

void Note(int signal) {
  const int kept_errno = errno;
  noted = signal;
  // If the pipe is full, poll already has a byte to wake it.
  [[maybe_unused]] const ssize_t ignored = write(wake_pipe[1], "", 1);
  errno = kept_errno;
}

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
    // poll ignores a negative descriptor.
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

}  // namespace rowbloom::cli
