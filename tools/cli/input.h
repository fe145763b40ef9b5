// Input, and its interruption: a file, or standard input, is a stream, and a
// long job ends well when it gets SIGINT or SIGTERM, also while it reads.
//
//   Interruption interruption;
//   while (...) interruption.Check(streams.out);
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <streambuf>
#include <string>
#include <vector>

#include "rowbloom/result.h"

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

// Reads a descriptor, which it does not own, by InterruptibleRead. A read that
// fails throws std::system_error, upon which a stream goes bad.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int fd);

 protected:
  int_type underflow() override;

 private:
  const int fd_;
  std::vector<char> buffer_;
};

// The bytes from the descriptor's place to the end of its file; nullopt: it is
// no file.
std::optional<uint64_t> RemainingBytes(int fd);

// A file that is open for reading.
class InputFile {
 public:
  // Error: "PATH: why".
  static Result<std::unique_ptr<InputFile>> Open(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::istream& stream() { return stream_; }
  std::optional<uint64_t> size_bytes() const { return RemainingBytes(fd_); }

 private:
  explicit InputFile(int fd);

  const int fd_;
  DescriptorBuffer buffer_;
  std::istream stream_;
};

}  // namespace rowbloom::cli
