// sst_inspect: what is inside RocksDB's table files (SSTs).
//
//   sst_inspect filter FILE...
//   sst_inspect probe FILE... --row R [--qualifier Q]
//
// See doc/inspecting.md.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rowbloom::sst_inspect {

// Runs the command line `args` (without the program's name): data goes to
// `out`, diagnostics to `err`. Returns the exit code, see ExitCode in report.h.
// Throws nothing. Thread-safe as long as the streams are not shared.
int Run(const std::vector<std::string>& args, std::ostream& out,
        std::ostream& err);

}  // namespace rowbloom::sst_inspect
