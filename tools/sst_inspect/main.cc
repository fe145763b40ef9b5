#include "tools/cli/program.h"
#include "tools/sst_inspect/run.h"

int main(int argc, char** argv) {
  return rowbloom::cli::Main(argc, argv, rowbloom::sst_inspect::Run);
}
