#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "tools/rowbloom/input.h"
#include "tools/rowbloom/run.h"
#include "tools/terminal/progress.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> args(argv + 1, argv + argc);
  rowbloom::cli::DescriptorBuffer input(STDIN_FILENO);
  std::istream in(&input);
  // Results are shown before the program waits for more input.
  in.tie(&std::cout);
  return rowbloom::cli::Run(
      args, {.in = in,
             .out = std::cout,
             .err = std::cerr,
             .in_is_terminal = isatty(STDIN_FILENO) == 1,
             .err_is_terminal = rowbloom::terminal::StandardErrorIsTerminal(),
             .in_bytes = rowbloom::cli::RemainingBytes(STDIN_FILENO)});
}
