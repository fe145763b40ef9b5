#include "tools/rowbloom/line_reader.h"

#include <algorithm>

#include "tools/cli/input.h"

namespace rowbloom::cli {
namespace {

constexpr std::streamsize kMaxChunkBytes = std::streamsize{256} << 10;

}  // namespace

Error LineReader::At(uint64_t line_number, const std::string& problem) const {
  return {name_ + ":" + std::to_string(line_number) + ": " + problem};
}

std::optional<Error> LineReader::Next(std::string_view* line, bool* at_end) {
  *at_end = false;
  ++line_number_;
  size_t searched = begin_;
  while (true) {
    const size_t line_end = buffer_.find('\n', searched);
    const bool found = line_end != std::string::npos;
    const size_t bytes = (found ? line_end : buffer_.size()) - begin_;
    if (bytes > max_line_bytes_) {
      return At(line_number_, "expected a line of at most " +
                                  std::to_string(max_line_bytes_) +
                                  " bytes, found a longer one");
    }
    if (found || (at_end_ && bytes > 0)) {
      *line = std::string_view(buffer_).substr(begin_, bytes);
      begin_ += bytes + (found ? 1 : 0);
      bytes_consumed_ += bytes + (found ? 1 : 0);
      return std::nullopt;
    }
    *at_end = at_end_;
    if (at_end_) return std::nullopt;

    buffer_.erase(0, begin_);
    begin_ = 0;
    searched = buffer_.size();
    // A read that fails halfway would lose the bytes that it got. So peek fills
    // the stream's buffer, and only buffered bytes are read.
    at_end_ = in_.peek() == std::istream::traits_type::eof();
    if (in_.bad() || (in_.fail() && !in_.eof())) {
      return At(line_number_, ReadProblem(in_));
    }
    if (at_end_) continue;
    const auto chunk_bytes =
        std::clamp<std::streamsize>(in_.rdbuf()->in_avail(), 1, kMaxChunkBytes);
    buffer_.resize(searched + static_cast<size_t>(chunk_bytes));
    in_.read(buffer_.data() + searched, chunk_bytes);
  }
}

}  // namespace rowbloom::cli
