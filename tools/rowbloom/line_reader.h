// LineReader: the lines of a stream, with bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rowbloom/result.h"

namespace rowbloom::cli {

// Lines end with LF, which is not part of them; the last one may lack it. Any
// other byte is content, CR and NUL too. Not thread-safe.
class LineReader {
 public:
  // Reads from `in`, which must outlive it. `name` is what messages call it.
  LineReader(std::istream& in, std::string name, size_t max_line_bytes)
      : in_(in), name_(std::move(name)), max_line_bytes_(max_line_bytes) {}

  // Sets *line to the next one, valid until the next call; *at_end: there is
  // none. Error, as At has it: the line is too long, or the stream broke, and
  // what it gave of the line is dropped. After either there is nothing more to
  // read.
  std::optional<Error> Next(std::string_view* line, bool* at_end);

  // `NAME:LINE: problem`.
  Error At(uint64_t line_number, const std::string& problem) const;

  // The number of the last line, from 1. After a failure it is the number of
  // the line that failed.
  uint64_t line_number() const { return line_number_; }

  // Bytes of all lines so far, line ends included.
  uint64_t bytes_consumed() const { return bytes_consumed_; }

 private:
  std::istream& in_;
  const std::string name_;
  const size_t max_line_bytes_;
  std::string buffer_;  // bytes read; those from begin_ on are pending
  size_t begin_ = 0;
  bool at_end_ = false;
  uint64_t line_number_ = 0;
  uint64_t bytes_consumed_ = 0;
};

}  // namespace rowbloom::cli
