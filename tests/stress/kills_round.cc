#include <memory>
#include <string>
#include <utility>

#include "tests/stress/operations.h"
#include "tests/stress/rounds.h"
#include "tests/stress/session.h"
#include "tests/stress/worker.h"
#include "tests/support/fault_file_system.h"

namespace rowbloom::stress {
namespace {

constexpr uint32_t kRowsPerShare = 96;
constexpr uint64_t kSteps = 100'000;  // more than a life's worth
constexpr uint64_t kLives = 6;
constexpr uint64_t kLongestLifeMs = 400;

// Parts of the round, for their seeds.
constexpr uint64_t kWhole = 0;
constexpr uint64_t kWorker = 1000;

Database DrawRoundsDatabase(const Round& round) {
  Random random(round.SeedOf(kWhole));
  return DrawDatabase(kRowsPerShare, &random);
}

std::string JournalPath(const Round& round, uint32_t share) {
  return round.dir + "/journal" + std::to_string(share);
}

// The shares as their journals have them.
Shares ReplayShares(const Round& round) {
  Shares shares = NewShares(round.threads);
  for (uint32_t i = 0; i < round.threads; ++i) {
    const std::string path = JournalPath(round, i);
    const Journal::Contents replayed = Journal::Replay(path);
    Share* const share = shares[i].get();
    for (const std::string& changes : replayed.acknowledged) {
      Apply(Decode(changes), &share->cells);
    }
    if (replayed.pending) {
      share->otherwise = share->cells;
      Apply(Decode(*replayed.pending), &*share->otherwise);
    }
    share->journal = std::make_unique<Journal>(path);
  }
  return shares;
}

}  // namespace

void RunKilledWorker(const Round& round, uint64_t life, Report* report) {
  Random random(round.SeedOf(kWorker + life));
  const Database database = DrawRoundsDatabase(round);
  Shares shares = ReplayShares(round);
  test::FaultPlan no_faults;
  const auto env = test::NewFaultEnv(&no_faults);
  Session session({.database = &database,
                   .path = round.dir + "/db",
                   .shares = &shares,
                   .report = report});
  Opening opening = DrawOpening(database, {.env = env.get()}, &random);
  report->SetContext(round.Describe() + " worker's life " +
                     std::to_string(life) + " " + opening.description);
  if (!session.Open(std::move(opening))) return;
  RunOperators(&session, {}, kSteps, random.Next());
}

void RunKillsRound(const Round& round, Report* report) {
  Random random(round.SeedOf(kWhole) + 1);
  const Database database = DrawRoundsDatabase(round);
  test::FaultPlan no_faults;
  const auto env = test::NewFaultEnv(&no_faults);
  for (uint64_t life = 0; life < kLives && !report->failed(); ++life) {
    Opening opening = DrawOpening(database, {.env = env.get()}, &random);
    report->SetContext(round.Describe() + " after life " +
                       std::to_string(life) + " " + opening.description);
    KillWorkerAfter(random.Below(kLongestLifeMs), round, life, report);
    Shares shares = ReplayShares(round);
    Session session({.database = &database,
                     .path = round.dir + "/db",
                     .shares = &shares,
                     .report = report});
    if (!session.Open(std::move(opening))) return;
    if (round.sabotage == Sabotage::kDelete) session.DeleteBehindTheModel();
    session.Resolve();
    session.CheckEverything(&random);
    session.ProveThatFiltersAreAsked(&random);
  }
}

}  // namespace rowbloom::stress
