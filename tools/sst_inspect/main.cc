#include <iostream>
#include <string>
#include <vector>

#include "tools/sst_inspect/run.h"

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const int code = rowbloom::sst_inspect::Run(args, std::cout, std::cerr);
  std::cout.flush();
  if (std::cout.good()) return code;
  std::cerr << "sst_inspect: cannot write to standard output\n";
  return 2;
}
