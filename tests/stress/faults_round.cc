#include <filesystem>
#include <string>
#include <utility>

#include "tests/stress/operations.h"
#include "tests/stress/rounds.h"
#include "tests/stress/session.h"
#include "tests/support/fault_file_system.h"

namespace rowbloom::stress {
namespace {

constexpr uint32_t kRowsPerShare = 16;
constexpr int kOpenings = 2;
constexpr int kSteps = 16;  // of each
// RocksDB ignores an error while it looks for the first and last key of a file
// to ingest (seen with 7.8.3), and then has the file in the wrong place.
constexpr Rarity kRarity = {.flush = 5, .compaction = 12, .ingestion = 0};

// Opens the database twice and works on it, as far as the faults let it.
void Work(const Round& round, const Session::Setting& setting,
          rocksdb::Env* env) {
  const std::string context = setting.report->context();
  Random random(round.SeedOf(1));
  for (int i = 0; i < kOpenings; ++i) {
    Opening opening = DrawOpening(*setting.database, {.env = env}, &random);
    setting.report->SetContext(context + ", opening " + std::to_string(i) +
                               " " + opening.description);
    const uint64_t seed = random.Next();
    Session session(setting);
    if (!session.Open(std::move(opening))) continue;
    Operator its(&session, 0, kRarity, seed);
    for (int step = 0; step < kSteps; ++step) its.Step();
  }
}

}  // namespace

void RunFaultsRound(const Round& round, Report* report) {
  Random random(round.SeedOf(0));
  const Database database = DrawDatabase(kRowsPerShare, &random);
  const bool for_good = random.OneIn(2);
  bool met = true;
  for (uint64_t call = 1; met && !report->failed(); ++call) {
    report->SetContext(round.Describe() + " call " + std::to_string(call) +
                       (for_good ? " and all later ones fail" : " fails"));
    std::filesystem::remove_all(round.dir + "/db");
    Shares shares = NewShares(1);
    Session::Setting setting{.database = &database,
                             .path = round.dir + "/db",
                             .shares = &shares,
                             .report = report,
                             .errors = Errors::kIoErrorOrCorruption};
    {
      test::FaultPlan plan(round.SeedOf(call));
      plan.FailCall(call, for_good);
      const auto env = test::NewFaultEnv(&plan);
      setting.iterators = false;
      Work(round, setting, env.get());
      report->counters.faults += plan.faults();
      met = plan.faults() > 0;
    }
    // Without faults all that was acknowledged is there.
    setting.errors = Errors::kNone;
    setting.iterators = true;
    test::FaultPlan no_faults;
    const auto env = test::NewFaultEnv(&no_faults);
    Opening opening = DrawOpening(database, {.env = env.get()}, &random);
    report->SetContext(report->context() + ", then without faults " +
                       opening.description);
    Session session(setting);
    if (!session.Open(std::move(opening))) return;
    if (round.sabotage == Sabotage::kDelete) session.DeleteBehindTheModel();
    session.Resolve();
    session.CheckEverything(&random);
  }
}

}  // namespace rowbloom::stress
