// What swap_db cannot accept: main() prints it and exits with 1.
#pragma once

#include <stdexcept>
#include <string>

#include "rocksdb/status.h"

namespace rowbloom::compat {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void Require(bool holds, const std::string& otherwise) {
  if (!holds) throw Failure(otherwise);
}

inline void RequireOk(const rocksdb::Status& status, const std::string& what) {
  if (!status.ok()) throw Failure(what + ": " + status.ToString());
}

// That of `questions` at least nine in ten were answered "no": at 1 % false
// positives, a few keys may lie outside the range of a file.
inline void RequireSkips(uint64_t skips, uint64_t questions,
                         const std::string& of_what) {
  Require(skips * 10 >= questions * 9,
          "filters not used: " + of_what + " skipped " + std::to_string(skips) +
              " files in " + std::to_string(questions) + " questions");
}

}  // namespace rowbloom::compat
