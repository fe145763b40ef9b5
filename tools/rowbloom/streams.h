// The streams that a run reads and writes.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

namespace rowbloom::cli {

struct Streams {
  std::istream& in;   // standard input
  std::ostream& out;  // data
  std::ostream& err;  // diagnostics, and progress on a terminal
  bool err_is_terminal = false;
  // The size of `in`; nullopt: unknown, as for a pipe.
  std::optional<uint64_t> in_bytes = std::nullopt;
};

}  // namespace rowbloom::cli
