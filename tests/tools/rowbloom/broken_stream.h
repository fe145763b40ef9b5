// An input stream that breaks, as a disk does, after the bytes it is given.
#pragma once

#include <istream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <utility>

namespace rowbloom::test {

class BrokenStream : public std::istream {
 public:
  explicit BrokenStream(std::string bytes)
      : std::istream(nullptr), buffer_(std::move(bytes)) {
    rdbuf(&buffer_);
  }

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(std::string bytes) : bytes_(std::move(bytes)) {
      setg(bytes_.data(), bytes_.data(), bytes_.data() + bytes_.size());
    }

   protected:
    // The stream catches it and goes bad.
    int_type underflow() override { throw std::runtime_error("disk error"); }

   private:
    std::string bytes_;
  };

  Buffer buffer_;
};

}  // namespace rowbloom::test
