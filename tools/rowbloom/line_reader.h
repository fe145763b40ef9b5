// LineReader: the lines of a stream, with bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

namespace rowbloom::cli {

// Lines end with LF, which is not part of them; the last one may lack it. Any
// other byte is content, CR and NUL too. Not thread-safe.
class LineReader {
 public:
  enum class Outcome { kLine, kEnd, kTooLong, kReadError };

  // Reads from `in`, which must outlive it.
  LineReader(std::istream& in, size_t max_line_bytes)
      : in_(in), max_line_bytes_(max_line_bytes) {}

  // kLine: *line is the next one, valid until the next call. kReadError: the
  // stream broke, and what it gave of the current line is dropped. After
  // anything but kLine there is nothing more to read.
  Outcome Next(std::string_view* line);

  // The number of the last line, from 1. After a failure it is the number of
  // the line that failed.
  uint64_t line_number() const { return line_number_; }

  // Bytes of all lines so far, line ends included.
  uint64_t bytes_consumed() const { return bytes_consumed_; }

 private:
  std::istream& in_;
  const size_t max_line_bytes_;
  std::string buffer_;  // bytes read; those from begin_ on are pending
  size_t begin_ = 0;
  bool at_end_ = false;
  uint64_t line_number_ = 0;
  uint64_t bytes_consumed_ = 0;
};

}  // namespace rowbloom::cli
