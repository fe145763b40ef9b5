#include "tools/cli/program.h"
#include "tools/rowbloom/verbs.h"

int main(int argc, char** argv) {
  return rowbloom::cli::Main(argc, argv, rowbloom::cli::Run);
}
