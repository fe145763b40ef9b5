#include "tests/stress/common_rounds.h"
#include "tests/stress/operations.h"
#include "tests/stress/rounds.h"
#include "tests/stress/session.h"

namespace rowbloom::stress {

void RunThreadsRound(const Round& round, Report* report) {
  constexpr uint32_t kRowsPerShare = 192;
  const Database database = DrawDatabase(kRowsPerShare, round);
  RunThreads<Session>(
      round, {.openings = 5, .steps = 1500}, Rarity(),
      {.database = &database,
       .rules = {.forgetful = round.sabotage == Sabotage::kFilter,
                 .forgetful_memtables = round.sabotage == Sabotage::kFront}},
      report);
}

}  // namespace rowbloom::stress
