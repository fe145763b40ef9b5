#include "tests/stress/common_rounds.h"
#include "tests/stress/store/operator.h"
#include "tests/stress/store/rounds.h"

namespace rowbloom::store_stress {

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
