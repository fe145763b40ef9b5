// The streams and the form of a verb's output.
#pragma once

#include <iosfwd>

namespace rowbloom::sst_inspect {

struct Output {
  std::ostream& out;  // data
  std::ostream& err;  // diagnostics
  bool json = false;  // a Record for each thing, instead of tables
};

}  // namespace rowbloom::sst_inspect
