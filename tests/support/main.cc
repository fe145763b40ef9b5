// The main function of test programs: a test that fails tells its seed.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/support/random.h"

namespace {

class SeedPrinter final : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Failed()) return;
    std::cout << "ROWBLOOM_SEED=" << rowbloom::test::SeedFromEnv() << '\n';
  }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new SeedPrinter);
  return RUN_ALL_TESTS();
}
