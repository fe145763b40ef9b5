// LineReader reads the lines of a stream with bounded memory.
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

// Lines end with LF, which is not part of them; the last one may lack it. All
// other bytes are content, also CR and NUL. Not thread-safe.
class LineReader {
 public:
  // Reads from `in`, which must outlive it. `name` is its name in messages.
  LineReader(std::istream& in, std::string name, size_t max_line_bytes)
      : in_(in), name_(std::move(name)), max_line_bytes_(max_line_bytes) {}

  // Sets *line to the next line, valid until the next call, or sets *at_end if
  // there is none. Error (in the form of At): the line is too long, or the
  // stream failed; a part of the line that was read is dropped. After an
  // error or the end there is nothing more to read.
  std::optional<Error> Next(std::string_view* line, bool* at_end);

  // Returns the error "NAME:LINE: problem".
  Error At(uint64_t line_number, const std::string& problem) const;

  // The number of the last line, from 1. After a failure it is the number of
  // the line that failed.
  uint64_t line_number() const { return line_number_; }

  // The bytes of all lines so far, with their line ends.
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
