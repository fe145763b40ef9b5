// What the FILE arguments name.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tools/sst_inspect/report.h"

namespace rowbloom::sst_inspect {

// Appends to *files each path, and for a directory its entries *.sst by name.
// Reports to `err` a directory that cannot be listed or has none, and goes on
// with the rest.
ExitCode ExpandInputs(const std::vector<std::string>& paths, std::ostream& err,
                      std::vector<std::string>* files);

}  // namespace rowbloom::sst_inspect
