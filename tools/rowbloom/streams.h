// The streams that a run reads and writes.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

namespace rowbloom {

class Store;

namespace cli {

struct Streams {
  std::istream& in;   // standard input
  std::ostream& out;  // data
  std::ostream& err;  // diagnostics, and progress on a terminal
  bool in_is_terminal = false;
  bool err_is_terminal = false;
  // The size of `in`; nullopt: unknown, as for a pipe.
  std::optional<uint64_t> in_bytes = std::nullopt;
  // In a shell, the store that it has open and the directory of that, which is
  // the default of --db.
  std::shared_ptr<Store> store = nullptr;
  std::string db = {};
};

}  // namespace cli
}  // namespace rowbloom
