// Runs the command line in this process.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tools/rowbloom/verbs.h"

namespace rowbloom::test {

struct CliResult {
  int code = -1;
  std::string out;
  std::string err;
};

inline CliResult Cli(const std::vector<std::string>& args, std::istream& in,
                     bool err_is_terminal = false) {
  std::ostringstream out;
  std::ostringstream err;
  CliResult result;
  result.code =
      cli::Run(args, {.in = in, .out = out, .err = {err, err_is_terminal}});
  result.out = out.str();
  result.err = err.str();
  return result;
}

inline CliResult Cli(const std::vector<std::string>& args,
                     const std::string& input = "") {
  std::istringstream in(input);
  return Cli(args, in);
}

}  // namespace rowbloom::test
