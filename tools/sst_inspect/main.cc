#include "tools/sst_inspect/verbs.h"

int main(int argc, char** argv) {
  return rowbloom::cli::Main(argc, argv, rowbloom::sst_inspect::Run);
}
