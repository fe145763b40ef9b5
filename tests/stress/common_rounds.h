// The rounds that both programs make, of databases and of stores.
//
// A Session is one that is open, with the model of what it must hold:
//
//   using Share = ...;  // derived from ShareOf
//   struct Setting;     // path, shares, report, env, errors, iterators
//   explicit Session(const Setting& setting);
//   bool Open(Random* random);  // with random options; may set the context
//   void Close();
//   void Resolve();  // settles interrupted writes
//   void CheckEverything(Random* random);
//   void ProveThatFiltersAreAsked(Random* random);
//   void DeleteBehindTheModel();
//
// The work is that of its namespace's Operator, with the Rarity given:
//
//   // Each share's operator, in a thread of its own.
//   void RunOperators(Session*, const Rarity&, uint64_t steps, uint64_t seed);
//   // The first share's operator, in this thread, also after errors.
//   void RunFirstOperator(Session*, const Rarity&, int steps, uint64_t seed);
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/stress/report.h"
#include "tests/stress/round.h"
#include "tests/stress/share.h"
#include "tests/stress/worker.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/random.h"

namespace rowbloom::stress {

// Runs act(share) in a thread for each of the session's shares.
template <typename Session, typename Act>
void InThreads(const Session& session, Act act) {
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < session.share_count(); ++i) {
    threads.emplace_back([=] { act(i); });
  }
  for (std::thread& thread : threads) thread.join();
}

// Files that do not fail, and do not wait for the disk.
struct SoundFiles {
  test::FaultPlan plan;
  const std::unique_ptr<rocksdb::Env> env = test::NewFaultEnv(&plan);
};

// Opens the session, and does the sabotage that the round asks for. Returns
// whether it is open.
template <typename Session>
bool OpenToCheck(const Round& round, Session* session, test::Random* random) {
  if (!session->Open(random)) return false;
  if (round.sabotage == Sabotage::kDelete) session->DeleteBehindTheModel();
  return true;
}

// Checks that a session has what was acknowledged before, that what was
// interrupted took place as a whole or not at all, and that filters are probed.
template <typename Session>
void CheckWhatIsLeft(Session* session, test::Random* random) {
  session->Resolve();
  session->CheckEverything(random);
  session->ProveThatFiltersAreAsked(random);
}

struct ThreadsPlan {
  int openings;
  uint64_t steps;  // each thread's, between two openings
};

// Threads read and write; the database is reopened with other options.
template <typename Session, typename Rarity>
void RunThreads(const Round& round, const ThreadsPlan& plan,
                const Rarity& rarity, typename Session::Setting setting,
                Report* report) {
  test::Random random(round.SeedOf(0));
  auto shares = NewShares<typename Session::Share>(round.threads);
  const SoundFiles files;
  setting.path = round.dir + "/db";
  setting.shares = &shares;
  setting.report = report;
  setting.env = files.env.get();
  Session session(setting);
  for (int i = 0; i < plan.openings && !report->failed(); ++i) {
    report->SetContext(round.Describe() + " opening " + std::to_string(i));
    if (!session.Open(&random)) return;
    session.Resolve();
    session.CheckEverything(&random);
    RunOperators(&session, rarity, plan.steps, random.Next());
    session.ProveThatFiltersAreAsked(&random);
    if (round.sabotage == Sabotage::kDelete) session.DeleteBehindTheModel();
    session.Close();
  }
}

struct KillsPlan {
  uint64_t lives;
  uint64_t longest_life_ms;
  // A worker could do `openings` times `steps` for longer than a life lasts.
  int openings;
  uint64_t steps;
};

// The shares as their journals have them.
template <typename Share>
SharesOf<Share> ReplayShares(const Round& round) {
  auto shares = NewShares<Share>(round.threads);
  for (uint32_t i = 0; i < round.threads; ++i) {
    shares[i]->Replay(round.dir + "/journal" + std::to_string(i));
  }
  return shares;
}

// The work of the process that is killed, in its `life`; returns if it is not
// killed.
template <typename Session, typename Rarity>
void RunWorker(const Round& round, uint64_t life, const KillsPlan& plan,
               const Rarity& rarity, typename Session::Setting setting,
               Report* report) {
  constexpr uint64_t kWorker = 1000;
  test::Random random(round.SeedOf(kWorker + life));
  auto shares = ReplayShares<typename Session::Share>(round);
  const SoundFiles files;
  setting.path = round.dir + "/db";
  setting.shares = &shares;
  setting.report = report;
  setting.env = files.env.get();
  Session session(setting);
  for (int i = 0; i < plan.openings && !report->failed(); ++i) {
    report->SetContext(round.Describe() + " worker's life " +
                       std::to_string(life) + ", opening " + std::to_string(i));
    if (!session.Open(&random)) return;
    RunOperators(&session, rarity, plan.steps, random.Next());
    session.Close();
  }
}

// Threads read and write in a process that is killed, again and again.
template <typename Session>
void RunKills(const Round& round, const KillsPlan& plan,
              typename Session::Setting setting, Report* report) {
  test::Random random(round.SeedOf(0));
  const SoundFiles files;
  setting.path = round.dir + "/db";
  setting.report = report;
  setting.env = files.env.get();
  const uint64_t kills_before = report->counters.kills;
  for (uint64_t life = 0; life < plan.lives && !report->failed(); ++life) {
    report->SetContext(round.Describe() + " after life " +
                       std::to_string(life));
    KillWorkerAfter(random.Below(plan.longest_life_ms), round, life, report);
    auto shares = ReplayShares<typename Session::Share>(round);
    setting.shares = &shares;
    Session session(setting);
    if (!OpenToCheck(round, &session, &random)) return;
    CheckWhatIsLeft(&session, &random);
  }
  report->ExpectMore(report->counters.kills, kills_before,
                     "nothing was killed");
}

struct FaultsPlan {
  int openings;
  int steps;        // each opening's
  uint64_t stride;  // calls from one that fails to the next, on average
  // Each round draws one kind of fault.
  std::vector<test::FaultPlan::Kind> kinds;
  bool may_begin_full;  // half of the rounds have a database already
};

// Opens the database some times and works on it, as far as the faults let it.
template <typename Session, typename Rarity>
void WorkDespiteFaults(const FaultsPlan& plan, const Rarity& rarity,
                       const typename Session::Setting& setting,
                       uint64_t seed) {
  const std::string context = setting.report->context();
  test::Random random(seed);
  for (int i = 0; i < plan.openings; ++i) {
    setting.report->SetContext(context + ", opening " + std::to_string(i));
    Session session(setting);
    const uint64_t steps_seed = random.Next();
    if (!session.Open(&random)) continue;
    RunFirstOperator(&session, rarity, plan.steps, steps_seed);
  }
  setting.report->SetContext(context);
}

// A small workload, again and again, each time with another call of the file
// system that fails, until the workload ends before the call.
template <typename Session, typename Rarity>
void RunFaults(const Round& round, const FaultsPlan& plan, const Rarity& rarity,
               typename Session::Setting setting, Report* report) {
  using Share = typename Session::Share;
  test::Random random(round.SeedOf(0));
  const SoundFiles files;
  const bool for_good = random.OneIn(2);
  const auto kind = plan.kinds[random.Below(plan.kinds.size())];
  const bool no_space = kind == test::FaultPlan::Kind::kNoSpace;
  const bool begins_full = plan.may_begin_full && random.OneIn(2);
  const std::string full = round.dir + "/first";
  auto first = NewShares<Share>(1);
  setting.shares = &first;
  setting.report = report;
  setting.env = files.env.get();
  report->SetContext(round.Describe() + " before faults");
  if (begins_full) {
    setting.path = full;
    WorkDespiteFaults<Session>(plan, rarity, setting, random.Next());
  }
  setting.path = round.dir + "/db";
  const uint64_t faults_before = report->counters.faults;
  bool met = true;
  for (uint64_t call = 1 + random.Below(plan.stride); met && !report->failed();
       call += 1 + random.Below(2 * plan.stride - 1)) {
    const std::string context =
        round.Describe() + " call " + std::to_string(call) +
        (for_good ? " and all later ones fail" : " fails") +
        (no_space ? " for lack of space" : "");
    report->SetContext(context);
    std::filesystem::remove_all(setting.path);
    if (begins_full) {
      std::filesystem::copy(full, setting.path,
                            std::filesystem::copy_options::recursive);
    }
    auto shares = NewShares<Share>(1);
    shares.front()->world = first.front()->world;
    setting.shares = &shares;
    {
      test::FaultPlan faults(round.SeedOf(call));
      faults.FailCall(call, for_good, kind);
      const auto env = test::NewFaultEnv(&faults);
      setting.env = env.get();
      setting.errors = Errors::kIoErrorOrCorruption;
      // Reads do not fail for lack of space.
      setting.iterators = no_space;
      WorkDespiteFaults<Session>(plan, rarity, setting, round.SeedOf(1));
      report->counters.faults += faults.faults();
      met = faults.faults() > 0;
    }
    // Without faults all that was acknowledged is there.
    setting.env = files.env.get();
    setting.errors = Errors::kNone;
    setting.iterators = true;
    report->SetContext(context + ", then without faults");
    Session session(setting);
    if (!OpenToCheck(round, &session, &random)) return;
    CheckWhatIsLeft(&session, &random);
  }
  report->ExpectMore(report->counters.faults, faults_before, "no call failed");
}

}  // namespace rowbloom::stress
