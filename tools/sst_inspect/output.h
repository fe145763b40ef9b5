// Where a verb's output goes, and in which form.
#pragma once

#include <iosfwd>

namespace rowbloom::sst_inspect {

struct Output {
  std::ostream& out;  // data
  std::ostream& err;  // diagnostics
  bool json = false;  // a Record for each thing, instead of tables
};

}  // namespace rowbloom::sst_inspect
