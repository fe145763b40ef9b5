#include "tests/stress/common_rounds.h"
#include "tests/stress/store/operator.h"
#include "tests/stress/store/rounds.h"

namespace rowbloom::store_stress {

namespace {
constexpr stress::KillsPlan kPlan = {
    .lives = 10, .longest_life_ms = 150, .openings = 1000, .steps = 300};
}  // namespace

void RunKilledWorker(const Round& round, uint64_t life, Report* report) {
  constexpr Rarity kRarity = {
      .flush = 50, .compaction = 100, .load = 30, .family = 20};
  stress::RunWorker<Session>(round, life, kPlan, kRarity,
                             {.key_layout = DrawLayout(round)}, report);
}

void RunKillsRound(const Round& round, Report* report) {
  stress::RunKills<Session>(round, kPlan, {.key_layout = DrawLayout(round)},
                            report);
}

}  // namespace rowbloom::store_stress
