// A Failure is a defect that swap_db found. main() prints it and exits with 1.
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

// Throws Failure unless at least nine in ten of `questions` lookups skipped
// their file. At 1 % false positives this allows for a few keys outside the
// range of a file.
inline void RequireSkips(uint64_t skips, uint64_t questions,
                         const std::string& of_what) {
  Require(skips * 10 >= questions * 9,
          "filters not used: " + of_what + " skipped " + std::to_string(skips) +
              " files in " + std::to_string(questions) + " questions");
}

}  // namespace rowbloom::compat
