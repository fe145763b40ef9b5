#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tests/stress/fault_file_system.h"
#include "tests/stress/operations.h"
#include "tests/stress/rounds.h"
#include "tests/stress/session.h"

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
    UncertainCells replayed = Journal::Replay(path);
    Share* const share = shares[i].get();
    share->cells = std::move(replayed.cells);
    if (replayed.pending) {
      share->otherwise = share->cells;
      Apply(*replayed.pending, &*share->otherwise);
    }
    share->journal = std::make_unique<Journal>(path);
  }
  return shares;
}

pid_t Spawn(const std::string& program,
            const std::vector<std::string>& arguments) {
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, program.c_str(), nullptr, nullptr,
                                 argv.data(), environ);
  if (failed != 0) {
    throw std::system_error(failed, std::generic_category(), program);
  }
  return pid;
}

// Kills the worker after a random time. Whether it was still alive then; that
// it ended with anything but success is a divergence.
bool LetLive(pid_t pid, Random* random, Report* report) {
  std::this_thread::sleep_for(
      std::chrono::milliseconds(random->Below(kLongestLifeMs)));
  kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "waitpid");
    }
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return true;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    report->Divergence("the worker ended by itself, with wait status " +
                       std::to_string(status));
  }
  return false;
}

}  // namespace

void RunKilledWorker(const Round& round, uint64_t life, Report* report) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with its parent, however that ends
  Random random(round.SeedOf(kWorker + life));
  const Database database = DrawRoundsDatabase(round);
  Shares shares = ReplayShares(round);
  FaultPlan no_faults;
  const auto env = NewFaultEnv(&no_faults);
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

void RunKillsRound(const Round& round, const std::string& program,
                   const std::vector<std::string>& arguments, Report* report) {
  Random random(round.SeedOf(kWhole) + 1);
  const Database database = DrawRoundsDatabase(round);
  FaultPlan no_faults;
  const auto env = NewFaultEnv(&no_faults);
  for (uint64_t life = 0; life < kLives && !report->failed(); ++life) {
    Opening opening = DrawOpening(database, {.env = env.get()}, &random);
    report->SetContext(round.Describe() + " after life " +
                       std::to_string(life) + " " + opening.description);
    std::vector<std::string> its_arguments = arguments;
    its_arguments.insert(its_arguments.end(), {"--life", std::to_string(life)});
    if (LetLive(Spawn(program, its_arguments), &random, report)) {
      ++report->counters.kills;
    }
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
