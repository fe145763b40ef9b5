#include "tests/stress/common_rounds.h"
#include "tests/stress/operations.h"
#include "tests/stress/rounds.h"
#include "tests/stress/session.h"

namespace rowbloom::stress {

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
