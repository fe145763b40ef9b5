// `rowbloom filter`: its command line.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tools/rowbloom/report.h"

namespace rowbloom::cli {

// `args` is what follows `filter`; the rest as in Run.
ExitCode FilterCommand(const std::vector<std::string>& args, std::istream& in,
                       std::ostream& out, std::ostream& err,
                       bool err_is_terminal);

}  // namespace rowbloom::cli
