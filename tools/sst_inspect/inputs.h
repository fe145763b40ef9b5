// The files that the FILE arguments name.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tools/sst_inspect/report.h"

namespace rowbloom::sst_inspect {

struct InputFile {
  std::string path;
  bool listed = false;  // found in a directory, not named
};

// Appends to *files each path, and for a directory its SSTs and HFiles in the
// order of their names: what is called *.sst or *.hfile, and what has the bytes
// of either. Reports to `err` a directory that cannot be listed or has none,
// and goes on with the rest.
ExitCode ExpandInputs(const std::vector<std::string>& paths, std::ostream& err,
                      std::vector<InputFile>* files);

}  // namespace rowbloom::sst_inspect
