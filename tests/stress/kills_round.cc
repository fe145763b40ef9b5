#include "tests/stress/common_rounds.h"
#include "tests/stress/operations.h"
#include "tests/stress/rounds.h"
#include "tests/stress/session.h"

namespace rowbloom::stress {

namespace {
constexpr uint32_t kRowsPerShare = 96;
constexpr KillsPlan kPlan = {
    .lives = 6, .longest_life_ms = 400, .openings = 1, .steps = 100'000};
}  // namespace

void RunKilledWorker(const Round& round, uint64_t life, Report* report) {
  const Database database = DrawDatabase(kRowsPerShare, round);
  RunWorker<Session>(round, life, kPlan, Rarity(), {.database = &database},
                     report);
}

void RunKillsRound(const Round& round, Report* report) {
  const Database database = DrawDatabase(kRowsPerShare, round);
  RunKills<Session>(round, kPlan, {.database = &database}, report);
}

}  // namespace rowbloom::stress
