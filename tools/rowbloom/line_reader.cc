#include "tools/rowbloom/line_reader.h"

namespace rowbloom::cli {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;

}  // namespace

LineReader::Outcome LineReader::Next(std::string_view* line) {
  ++line_number_;
  size_t searched = begin_;
  while (true) {
    const size_t line_end = buffer_.find('\n', searched);
    const bool found = line_end != std::string::npos;
    const size_t bytes = (found ? line_end : buffer_.size()) - begin_;
    if (bytes > max_line_bytes_) return Outcome::kTooLong;
    if (found || (at_end_ && bytes > 0)) {
      *line = std::string_view(buffer_).substr(begin_, bytes);
      begin_ += bytes + (found ? 1 : 0);
      bytes_consumed_ += bytes + (found ? 1 : 0);
      return Outcome::kLine;
    }
    if (at_end_) return Outcome::kEnd;

    buffer_.erase(0, begin_);
    begin_ = 0;
    searched = buffer_.size();
    buffer_.resize(searched + kChunkBytes);
    in_.read(buffer_.data() + searched, kChunkBytes);
    buffer_.resize(searched + static_cast<size_t>(in_.gcount()));
    if (in_.bad() || (in_.fail() && !in_.eof())) return Outcome::kReadError;
    at_end_ = in_.eof();
  }
}

}  // namespace rowbloom::cli
