// Interruption lets a long job end in an orderly way on SIGINT or SIGTERM.
//
//   Interruption interruption;
//   while (...) interruption.Check(streams.out);
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <iosfwd>

namespace rowbloom::cli {

// Thrown to end an interrupted verb early. RunProgram turns it into a line and
// an exit code.
struct Interrupted {
  int signal = 0;  // 0: no signal; the output cannot be written any more
};

// While an object exists, the first SIGINT and the first SIGTERM are noted; the
// next of the same kind ends the process. A signal that the process ignores
// stays ignored. A process may have one object at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Returns the last signal that was noted; 0: none.
  int signal() const;

  // Throws Interrupted if a signal was noted, or `out` cannot be written.
  void Check(const std::ostream& out) const;
};

// Calls read(2). After an interruption was noted it returns -1 with errno
// EINTR, also from a read that is waiting. Other signals do not end it.
ssize_t InterruptibleRead(int fd, void* buffer, size_t bytes);

}  // namespace rowbloom::cli
