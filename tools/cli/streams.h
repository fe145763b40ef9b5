// The streams that a run reads and writes.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>

#include "tools/cli/report.h"

namespace rowbloom::cli {

// The state that verbs of one shell share; the program with a shell defines it.
struct Session;

struct Streams {
  std::istream& in;   // standard input
  std::ostream& out;  // data
  Diagnostics err;    // diagnostics, and progress on a terminal
  bool in_is_terminal = false;
  bool out_is_terminal = false;
  // The size of `in`; nullopt: unknown, as for a pipe.
  std::optional<uint64_t> in_bytes = std::nullopt;
  const Session* session = nullptr;  // null: no shell
};

// Asks a person who types and did not say --yes; false unless the answer is
// yes.
bool Confirm(const Streams& streams, bool yes, std::string_view question);

}  // namespace rowbloom::cli
