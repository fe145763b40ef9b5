#include "tests/stress/store/rounds.h"

#include <algorithm>

#include "tests/stress/common_rounds.h"
#include "tests/stress/store/operator.h"

namespace rowbloom::store_stress {

void RunThreadsRound(const Round& round, Report* report) {
  constexpr uint64_t kLeastSteps = 250;
  stress::RunThreads<Session>(
      round,
      {.openings = 4, .steps = std::max(test::Scaled(1000), kLeastSteps)},
      Rarity(), {.key_layout = DrawLayout(round)}, report);
}

namespace {
constexpr stress::KillsPlan kKillsPlan = {
    .lives = 10, .longest_life_ms = 150, .openings = 1000, .steps = 300};
}  // namespace

void RunKilledWorker(const Round& round, uint64_t life, Report* report) {
  constexpr Rarity kRarity = {
      .flush = 50, .compaction = 100, .load = 30, .family = 20};
  stress::RunWorker<Session>(round, life, kKillsPlan, kRarity,
                             {.key_layout = DrawLayout(round)}, report);
}

void RunKillsRound(const Round& round, Report* report) {
  stress::RunKills<Session>(round, kKillsPlan,
                            {.key_layout = DrawLayout(round)}, report);
}

void RunFaultsRound(const Round& round, Report* report) {
  using Kind = test::FaultPlan::Kind;
  // No loads: where the MANIFEST cannot be written, RocksDB (7.8.3 to 10.9 at
  // least) removes the files that it was to take over, though the record of
  // them may be there.
  constexpr Rarity kRarity = {
      .flush = 8, .compaction = 12, .load = 0, .common = 0, .family = 10};
  stress::RunFaults<Session>(
      round,
      {.openings = 2,
       .steps = 24,
       .stride = 6,
       .kinds = {Kind::kIoError, Kind::kRetryable, Kind::kNoSpace},
       .may_begin_full = true},
      kRarity, {.key_layout = DrawLayout(round)}, report);
}

}  // namespace rowbloom::store_stress
