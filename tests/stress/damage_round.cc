#include <string>
#include <utility>

#include "tests/stress/common_rounds.h"
#include "tests/stress/operations.h"
#include "tests/stress/rounds.h"
#include "tests/stress/session.h"
#include "tests/support/fault_file_system.h"

namespace rowbloom::stress {
namespace {

constexpr uint64_t kSteps = 1000;  // each thread's
constexpr int kOpenings = 6;

}  // namespace

void RunDamageRound(const Round& round, Report* report) {
  constexpr uint32_t kRowsPerShare = 96;
  Random random(round.SeedOf(0));
  const Database database = DrawDatabase(kRowsPerShare, round);
  Shares shares = NewShares<Session::Share>(round.threads);
  Session::Setting setting{.database = &database,
                           .path = round.dir + "/db",
                           .shares = &shares,
                           .report = report};
  const SoundFiles files;
  // Files with sound filters. RocksDB notices damage where it has a checksum;
  // where it has none, the damage reaches rowbloom's reader.
  for (const bool without_checksums : {false, true}) {
    Opening opening = DrawOpening(database,
                                  {.filters_for_sure = true,
                                   .without_checksums = without_checksums,
                                   .env = files.env.get()},
                                  &random);
    report->SetContext(round.Describe() + " writing " + opening.description);
    Session session(setting);
    if (!session.Open(std::move(opening))) return;
    RunOperators(&session, {}, kSteps, random.Next());
    session.ProveThatFiltersAreAsked(&random);
    if (without_checksums && round.sabotage == Sabotage::kDelete) {
      session.DeleteBehindTheModel();
    }
  }

  // Nothing is written now: RocksDB would give up writing at such errors.
  setting.read_only = true;
  setting.errors = Errors::kIoErrorOrCorruption;
  const uint64_t damages_before = report->counters.damages;
  const uint64_t unusable_before = report->counters.unusable;
  for (int i = 0; i < kOpenings && !report->failed(); ++i) {
    test::FaultPlan plan(random.Next());
    const auto env = test::NewFaultEnv(&plan);
    Opening opening = DrawOpening(
        database, {.filters_for_sure = true, .env = env.get()}, &random);
    const bool reads_fail = i >= kOpenings / 2;
    // RocksDB does not open a file whose filter it finds damaged then, and an
    // iterator that meets such a file loses cells or crashes (7.8.3). With -1
    // all files are opened before the first iterator.
    setting.iterators = !reads_fail && opening.options.max_open_files == -1;
    setting.verify_checksums = i % 2 == 1;
    report->SetContext(
        round.Describe() + " reading " + std::to_string(i) +
        " verify_checksums=" + std::to_string(setting.verify_checksums) + " " +
        opening.description);
    Session session(setting);
    plan.DamageFiltersOneIn(2);
    if (session.Open(std::move(opening))) {
      if (reads_fail) plan.FailReadsOneIn(20);
      const uint64_t seed = random.Next();
      InThreads(session, [&session, seed](uint32_t thread) {
        Random its(test::Mix64(seed + thread));
        session.CheckEverything(&its);
      });
      session.Close();
    }
    report->counters.damages += plan.damages();
    report->counters.faults += plan.faults();
  }
  report->ExpectMore(report->counters.damages, damages_before,
                     "no filter was damaged");
  report->ExpectMore(report->counters.unusable, unusable_before,
                     "no damaged filter was read");
}

}  // namespace rowbloom::stress
