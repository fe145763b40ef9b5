#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

#include "tests/stress/common_rounds.h"
#include "tests/stress/store/copies.h"
#include "tests/stress/store/operator.h"
#include "tests/stress/store/rounds.h"
#include "tests/stress/store/session.h"
#include "tests/support/fault_file_system.h"

namespace rowbloom::store_stress {
namespace {

constexpr uint64_t kCuts = 10;
constexpr uint64_t kSteps = 200;  // each thread's, if the power lasts
constexpr uint64_t kCopies = 40;  // one step in so many is a copy
// Changes of files until the power is cut; opening takes some hundred.
constexpr uint64_t kMostChanges = 1500;
constexpr uint64_t kMostChangesOfAShortLife = 150;
constexpr Rarity kRarity = {
    .flush = 40, .compaction = 80, .load = 30, .common = 0, .family = 15};

// Lets each share's operator work in a thread of its own until a call fails.
void Work(Session* session, Copies* copies, uint64_t seed) {
  stress::InThreads(*session, [=](uint32_t share) {
    Random random(test::Mix64(seed + share));
    Operator its(session, nullptr, share, kRarity, random.Next());
    for (uint64_t step = 0; step < kSteps && !session->met_error(); ++step) {
      its.Step();
      if (!random.OneIn(kCopies)) continue;
      const std::scoped_lock lock(session->share(share)->mutex);
      copies->Make(session, share, &random);
    }
  });
}

}  // namespace

void RunPowerRound(const Round& round, Report* report) {
  Random random(round.SeedOf(0));
  const std::string directory = round.dir + "/disk";
  std::filesystem::create_directory(directory);
  Shares shares = stress::NewShares<Share>(round.threads);
  Copies copies(directory);
  const uint64_t faults_before = report->counters.faults;
  for (uint64_t cut = 0; cut < kCuts && !report->failed(); ++cut) {
    test::Disk disk(directory);
    Session::Setting setting{.key_layout = DrawLayout(round),
                             .path = directory + "/db",
                             .shares = &shares,
                             .report = report};
    uint64_t synced = 0;
    const uint64_t change =
        1 +
        random.Below(random.OneIn(4) ? kMostChangesOfAShortLife : kMostChanges);
    const std::string context = round.Describe() + " cut " +
                                std::to_string(cut) + ", at change " +
                                std::to_string(change);
    report->SetContext(context);
    {
      test::FaultPlan plan;
      plan.CutPowerAt(change);
      const auto env = NewFaultEnv(&plan, &disk);
      setting.env = env.get();
      setting.errors = Errors::kIoErrorOrCorruption;
      setting.remembers_writes = true;
      Session session(setting);
      if (session.Open(&random)) {
        if (round.sabotage == stress::Sabotage::kSync) {
          disk.IgnoreSyncs("*.log");
        }
        Work(&session, &copies, random.Next());
      }
      session.Close();
      synced = session.synced();
      report->counters.faults += plan.faults();
      if (session.met_error() && plan.faults() == 0) {
        report->Divergence("a call failed before the power was cut");
      }
    }
    disk.Restart(random.Next());
    ++report->counters.cuts;
    report->SetContext(context + ", then without faults");
    const stress::SoundFiles files;
    setting.env = files.env.get();
    setting.errors = Errors::kNone;
    setting.remembers_writes = false;
    Session session(setting);
    if (!OpenToCheck(round, &session, &random)) return;
    session.ResolvePowerCut(synced);
    session.CheckEverything(&random);
    session.Close();
    copies.Check(setting, &random);
  }
  report->ExpectMore(report->counters.faults, faults_before,
                     "the power was never cut");
}

}  // namespace rowbloom::store_stress
