#include <cstdint>
#include <filesystem>
#include <string>

#include "tests/stress/store/operator.h"
#include "tests/stress/store/rounds.h"
#include "tests/stress/store/session.h"
#include "tests/support/fault_file_system.h"

namespace rowbloom::store_stress {
namespace {

using test::FaultPlan;

constexpr int kOpenings = 2;
constexpr int kSteps = 24;  // of each
// Calls from one that fails to the next, on average.
constexpr uint64_t kStride = 6;
// No loads: where the MANIFEST cannot be written, RocksDB (7.8.3 to 10.9 at
// least) removes the files that it was to take over, though the record of them
// may be there.
constexpr Rarity kRarity = {
    .flush = 8, .compaction = 12, .load = 0, .common = 0, .family = 10};

// Opens the store twice and works on it, as far as the faults let it.
void Work(const Session::Setting& setting, uint64_t seed) {
  const std::string context = setting.report->context();
  Random random(seed);
  for (int i = 0; i < kOpenings; ++i) {
    setting.report->SetContext(context + ", opening " + std::to_string(i));
    Session session(setting);
    const uint64_t steps_seed = random.Next();
    if (!session.Open(&random)) continue;
    Operator its(&session, nullptr, 0, kRarity, steps_seed);
    for (int step = 0; step < kSteps; ++step) its.Step();
  }
  setting.report->SetContext(context);
}

}  // namespace

void RunFaultsRound(const Round& round, Report* report) {
  Random random(round.SeedOf(0));
  FaultPlan no_faults;
  const auto sound_env = test::NewFaultEnv(&no_faults);
  const bool for_good = random.OneIn(2);
  const auto kind =
      random.OneIn(2) ? FaultPlan::Kind::kIoError : FaultPlan::Kind::kNoSpace;
  // In half of the rounds there is a store already.
  const bool begins_empty = random.OneIn(2);
  Shares first = NewShares(1);
  Session::Setting setting{.key_layout = DrawLayout(round),
                           .path = round.dir + "/first",
                           .shares = &first,
                           .report = report,
                           .env = sound_env.get()};
  report->SetContext(round.Describe() + " before faults");
  if (!begins_empty) Work(setting, random.Next());
  setting.path = round.dir + "/db";
  bool met = true;
  for (uint64_t call = 1 + random.Below(kStride); met && !report->failed();
       call += 1 + random.Below(2 * kStride - 1)) {
    const std::string context =
        round.Describe() + " call " + std::to_string(call) +
        (for_good ? " and all later ones fail" : " fails") +
        (kind == FaultPlan::Kind::kNoSpace ? " for lack of space" : "");
    report->SetContext(context);
    std::filesystem::remove_all(setting.path);
    if (!begins_empty) {
      std::filesystem::copy(round.dir + "/first", setting.path,
                            std::filesystem::copy_options::recursive);
    }
    Shares shares = NewShares(1);
    shares.front()->world = first.front()->world;
    setting.shares = &shares;
    {
      FaultPlan plan(round.SeedOf(call));
      plan.FailCall(call, for_good, kind);
      const auto env = test::NewFaultEnv(&plan);
      setting.env = env.get();
      setting.errors = Errors::kInjected;
      // Reads do not fail for lack of space.
      setting.iterators = kind == FaultPlan::Kind::kNoSpace;
      Work(setting, round.SeedOf(1));
      report->counters.faults += plan.faults();
      met = plan.faults() > 0;
    }
    // Without faults all that was acknowledged is there.
    setting.env = sound_env.get();
    setting.errors = Errors::kNone;
    setting.iterators = true;
    report->SetContext(context + ", then without faults");
    Session session(setting);
    if (!session.Open(&random)) return;
    if (round.sabotage == stress::Sabotage::kDelete) {
      session.DeleteBehindTheModel();
    }
    session.Resolve();
    session.CheckEverything(&random);
    session.ProveThatFiltersAreAsked(&random);
  }
}

}  // namespace rowbloom::store_stress
