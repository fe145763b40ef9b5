// ROWBLOOM_KERNEL: CTest runs these tests as they are, and with the name of
// each kernel and of none. A process chooses its kernel once.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <string>

#include "lib/kernels/kernel.h"

namespace rowbloom {
namespace {

// Exits with 0 if the text is the same after static objects were destroyed.
[[noreturn]] void ReadTheProblemWhileTheProcessEnds() {
  mallopt(M_PERTURB, 0xa5);  // memory that was freed changes
  static std::string& problem = *new std::string;
  // Runs behind the destructors of objects that are made later.
  std::atexit([] { std::_Exit(ForcedKernelProblem() == problem ? 0 : 1); });
  problem = ForcedKernelProblem();
  std::exit(2);
}

TEST(ForcedKernel, ItsProblemStaysWhileTheProcessEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ReadTheProblemWhileTheProcessEnds(), testing::ExitedWithCode(0),
              "");
}

TEST(ForcedKernel, IsTheOneInUse) {
  const char* name = std::getenv("ROWBLOOM_KERNEL");
  const auto chosen = ChooseKernel(name);
  const Kernel& fastest = UsableKernels().front();
  EXPECT_EQ(ActiveKernel().name, chosen ? (*chosen)->name : fastest.name);
  EXPECT_EQ(ForcedKernelProblem(), chosen ? "" : chosen.error());
  if (!chosen) GTEST_SKIP() << chosen.error();
}

}  // namespace
}  // namespace rowbloom
