#include <string>
#include <utility>

#include "tests/stress/operations.h"
#include "tests/stress/rounds.h"
#include "tests/stress/session.h"
#include "tests/support/fault_file_system.h"

namespace rowbloom::stress {

namespace {
constexpr uint32_t kRowsPerShare = 192;
constexpr uint64_t kSteps = 1500;  // of each thread, between two openings
constexpr int kOpenings = 5;
}  // namespace

void RunThreadsRound(const Round& round, Report* report) {
  Random random(round.SeedOf(0));
  const Database database = DrawDatabase(kRowsPerShare, &random);
  Shares shares = NewShares(round.threads);
  test::FaultPlan no_faults;
  const auto env = test::NewFaultEnv(&no_faults);
  const OpeningRules rules{.forgetful = round.sabotage == Sabotage::kFilter,
                           .env = env.get()};
  Session session({.database = &database,
                   .path = round.dir + "/db",
                   .shares = &shares,
                   .report = report});
  for (int i = 0; i < kOpenings && !report->failed(); ++i) {
    Opening opening = DrawOpening(database, rules, &random);
    report->SetContext(round.Describe() + " opening " + std::to_string(i) +
                       " " + opening.description);
    if (!session.Open(std::move(opening))) return;
    session.Resolve();
    session.CheckEverything(&random);
    RunOperators(&session, {}, kSteps, random.Next());
    session.ProveThatFiltersAreAsked(&random);
    if (round.sabotage == Sabotage::kDelete) {
      session.DeleteBehindTheModel();
    }
    session.Close();
  }
}

}  // namespace rowbloom::stress
