// The verbs of the command line that only read. Each opens the store for
// reading, creates nothing, and returns the exit code.
#pragma once

#include <iosfwd>
#include <string>

#include "rowbloom/key_layout.h"
#include "tools/rowbloom/report.h"

namespace rowbloom::cli {

struct StoreLocation {
  std::string db;
  KeyLayout key_layout = KeyLayout::Escaped();
};

// `rowbloom get`: the value of one cell, as it is, and a LF. `column` is
// family:qualifier. In `row` and `column`, \xHH stands for a byte.
ExitCode GetVerb(const StoreLocation& location, const std::string& row,
                 const std::string& column, std::ostream& out,
                 std::ostream& err);

// `rowbloom row`: a line for each cell, family:qualifier<TAB>timestamp<TAB>
// value, with bytes that do not print as \xHH.
ExitCode RowVerb(const StoreLocation& location, const std::string& row,
                 std::ostream& out, std::ostream& err);

// `rowbloom stats`: a table with a line for each family.
ExitCode StatsVerb(const StoreLocation& location, std::ostream& out,
                   std::ostream& err);

}  // namespace rowbloom::cli
