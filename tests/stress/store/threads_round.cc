#include <algorithm>

#include "tests/stress/common_rounds.h"
#include "tests/stress/store/operator.h"
#include "tests/stress/store/rounds.h"

namespace rowbloom::store_stress {

void RunThreadsRound(const Round& round, Report* report) {
  constexpr uint64_t kLeastSteps = 250;
  stress::RunThreads<Session>(
      round,
      {.openings = 4, .steps = std::max(test::Scaled(1000), kLeastSteps)},
      Rarity(), {.key_layout = DrawLayout(round)}, report);
}

}  // namespace rowbloom::store_stress
