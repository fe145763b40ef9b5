// Input: a file, or standard input, as a stream whose reads can be interrupted.
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <streambuf>
#include <string>
#include <vector>

#include "rowbloom/result.h"

namespace rowbloom::cli {

// Reads a descriptor by InterruptibleRead, and does not own it. A read that
// fails throws std::system_error, which sets the badbit of a stream.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int fd);

  // The errno of the last read that failed; 0: none did.
  int error() const { return error_; }

 protected:
  int_type underflow() override;

 private:
  const int fd_;
  int error_ = 0;
  std::vector<char> buffer_;
};

// Returns "cannot be read", and why if the stream reads a descriptor.
std::string ReadProblem(const std::istream& in);

// Returns the bytes from the descriptor's offset to the end of its file;
// nullopt: it is no regular file.
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
