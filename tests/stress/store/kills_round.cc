#include <memory>
#include <string>

#include "tests/stress/store/operator.h"
#include "tests/stress/store/rounds.h"
#include "tests/stress/store/session.h"
#include "tests/stress/worker.h"
#include "tests/support/fault_file_system.h"

namespace rowbloom::store_stress {
namespace {

constexpr uint64_t kLives = 10;
constexpr uint64_t kLongestLifeMs = 150;
// Until the worker opens its store anew, and how often it does: more than a
// life's worth.
constexpr uint64_t kSteps = 300;
constexpr int kOpenings = 1000;
constexpr Rarity kRarity = {
    .flush = 50, .compaction = 100, .load = 30, .family = 20};

// Parts of the round, for their seeds.
constexpr uint64_t kWhole = 0;
constexpr uint64_t kWorker = 1000;

std::string JournalPath(const Round& round, uint32_t share) {
  return round.dir + "/journal" + std::to_string(share);
}

// The shares as their journals have them.
Shares ReplayShares(const Round& round) {
  Shares shares = NewShares(round.threads);
  for (uint32_t i = 0; i < round.threads; ++i) {
    const std::string path = JournalPath(round, i);
    const auto replayed = stress::Journal::Replay(path);
    Share* const share = shares[i].get();
    for (const std::string& changes : replayed.acknowledged) {
      share->world.Apply(Decode(changes));
    }
    if (replayed.pending) {
      share->interrupted = Decode(*replayed.pending);
      share->otherwise = share->world;
      share->otherwise->Apply(share->interrupted);
    }
    share->journal = std::make_unique<stress::Journal>(path);
  }
  return shares;
}

}  // namespace

void RunKilledWorker(const Round& round, uint64_t life, Report* report) {
  Random random(round.SeedOf(kWorker + life));
  Shares shares = ReplayShares(round);
  test::FaultPlan no_faults;
  const auto env = test::NewFaultEnv(&no_faults);
  Session session({.key_layout = DrawLayout(round),
                   .path = round.dir + "/db",
                   .shares = &shares,
                   .report = report,
                   .env = env.get()});
  for (int i = 0; i < kOpenings && !report->failed(); ++i) {
    report->SetContext(round.Describe() + " worker's life " +
                       std::to_string(life) + ", opening " + std::to_string(i));
    if (!session.Open(&random)) return;
    RunOperators(&session, kRarity, kSteps, random.Next());
    session.Close();
  }
}

void RunKillsRound(const Round& round, Report* report) {
  Random random(round.SeedOf(kWhole));
  test::FaultPlan no_faults;
  const auto env = test::NewFaultEnv(&no_faults);
  for (uint64_t life = 0; life < kLives && !report->failed(); ++life) {
    report->SetContext(round.Describe() + " after life " +
                       std::to_string(life));
    stress::KillWorkerAfter(random.Below(kLongestLifeMs), round, life, report);
    Shares shares = ReplayShares(round);
    Session session({.key_layout = DrawLayout(round),
                     .path = round.dir + "/db",
                     .shares = &shares,
                     .report = report,
                     .env = env.get()});
    if (!session.Open(&random)) return;
    if (round.sabotage == stress::Sabotage::kDelete) {
      session.DeleteBehindTheModel();
    }
    session.Resolve();
    session.CheckEverything(&random);
    CommonRows(&session).Check();
    session.ProveThatFiltersAreAsked(&random);
  }
}

}  // namespace rowbloom::store_stress
