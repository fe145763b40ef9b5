#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "tools/rowbloom/run.h"

int main(int argc, char** argv) {
  // Without it standard input is read byte by byte.
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> args(argv + 1, argv + argc);
  return rowbloom::cli::Run(args, std::cin, std::cout, std::cerr,
                            isatty(STDERR_FILENO) == 1);
}
