#include "tests/stress/rounds.h"

#include "tests/stress/common_rounds.h"
#include "tests/stress/operations.h"
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

namespace {
constexpr uint32_t kKilledRowsPerShare = 96;
constexpr KillsPlan kKillsPlan = {
    .lives = 6, .longest_life_ms = 400, .openings = 1, .steps = 100'000};
}  // namespace

void RunKilledWorker(const Round& round, uint64_t life, Report* report) {
  const Database database = DrawDatabase(kKilledRowsPerShare, round);
  RunWorker<Session>(round, life, kKillsPlan, Rarity(), {.database = &database},
                     report);
}

void RunKillsRound(const Round& round, Report* report) {
  const Database database = DrawDatabase(kKilledRowsPerShare, round);
  RunKills<Session>(round, kKillsPlan, {.database = &database}, report);
}

void RunFaultsRound(const Round& round, Report* report) {
  constexpr uint32_t kRowsPerShare = 16;
  // RocksDB ignores an error while it looks for the first and last key of a
  // file to ingest (seen with 7.8.3), and then has the file in the wrong place.
  constexpr Rarity kRarity = {.flush = 5, .compaction = 12, .ingestion = 0};
  const Database database = DrawDatabase(kRowsPerShare, round);
  RunFaults<Session>(round,
                     {.openings = 2,
                      .steps = 16,
                      .stride = 1,
                      .kinds = {test::FaultPlan::Kind::kIoError},
                      .may_begin_full = false},
                     kRarity, {.database = &database}, report);
}

}  // namespace rowbloom::stress
