// Interruption: a long job ends well when it gets SIGINT or SIGTERM.
//
//   Interruption interruption;
//   while (...) interruption.Check(streams.out);
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <iosfwd>

namespace rowbloom::cli {

// The end of a verb that somebody wanted to end early. RunProgram turns it into
// a line and an exit code.
struct Interrupted {
  int signal = 0;  // 0: nobody reads the output any more
};

// While it lives, the first of each signal is noted instead of ending the
// process, which the next one does. A signal that the process ignores stays
// ignored. One at a time in a process.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // The one that came last; 0: none did.
  int signal() const;

  // Throws Interrupted if a signal came, or nothing can be written to `out`.
  void Check(const std::ostream& out) const;
};

// read(2), but for ever after an interruption was noted, and from a read that
// waits meanwhile, -1 with errno EINTR. Other signals do not end it.
ssize_t InterruptibleRead(int fd, void* buffer, size_t bytes);

}  // namespace rowbloom::cli
