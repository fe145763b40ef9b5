// rowbloom: the command line of the store.
//
//   rowbloom load --db DIR [--family F]... [--bloom TYPE] FILE|-
//   rowbloom get --db DIR ROW FAMILY:QUALIFIER
//   rowbloom row --db DIR ROW
//   rowbloom stats --db DIR
//   rowbloom export-hfile --db DIR [--family F]... [--regions FILE] OUT
//   rowbloom import-hfile --db DIR [--family F] PATH...
//   rowbloom filter size|build|check|info
//
// See tools/rowbloom/README.md.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace rowbloom::cli {

// Runs the command line `args` (without the program's name) with `in` as
// standard input: data goes to `out`, diagnostics to `err`, and a progress line
// too when `err_is_terminal`. Returns the exit code, see ExitCode in report.h.
// Throws nothing. Thread-safe as long as the streams are not shared.
int Run(const std::vector<std::string>& args, std::istream& in,
        std::ostream& out, std::ostream& err, bool err_is_terminal);

}  // namespace rowbloom::cli
