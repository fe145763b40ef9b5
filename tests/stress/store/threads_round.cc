#include <algorithm>
#include <cstdint>
#include <string>

#include "tests/stress/store/operator.h"
#include "tests/stress/store/rounds.h"
#include "tests/stress/store/session.h"
#include "tests/support/fault_file_system.h"

namespace rowbloom::store_stress {

namespace {
constexpr uint64_t kSteps = 1000;  // of each thread, between two openings
constexpr uint64_t kLeastSteps = 250;
constexpr int kOpenings = 4;
}  // namespace

void RunThreadsRound(const Round& round, Report* report) {
  Random random(round.SeedOf(0));
  Shares shares = NewShares(round.threads);
  test::FaultPlan no_faults;
  const auto env = test::NewFaultEnv(&no_faults);
  Session session({.key_layout = DrawLayout(round),
                   .path = round.dir + "/db",
                   .shares = &shares,
                   .report = report,
                   .env = env.get()});
  for (int i = 0; i < kOpenings && !report->failed(); ++i) {
    report->SetContext(round.Describe() + " opening " + std::to_string(i));
    if (!session.Open(&random)) return;
    session.Resolve();
    session.CheckEverything(&random);
    RunOperators(&session, {}, std::max(test::Scaled(kSteps), kLeastSteps),
                 random.Next());
    session.ProveThatFiltersAreAsked(&random);
    if (round.sabotage == stress::Sabotage::kDelete) {
      session.DeleteBehindTheModel();
    }
    session.Close();
  }
}

}  // namespace rowbloom::store_stress
