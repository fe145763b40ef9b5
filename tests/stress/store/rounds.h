// The rounds of store_stress. They differ in what the store must survive.
#pragma once

#include <cstdint>

#include "tests/stress/report.h"
#include "tests/stress/round.h"

namespace rowbloom::store_stress {

using stress::Report;
using stress::Round;

// Threads read and write; the store is reopened with other options.
void RunThreadsRound(const Round& round, Report* report);

// The same in a process that is killed, again and again.
void RunKillsRound(const Round& round, Report* report);
// The work of that process in its `life`; returns if it is not killed.
void RunKilledWorker(const Round& round, uint64_t life, Report* report);

// A small workload, again and again, each time with another call of the file
// system that fails.
void RunFaultsRound(const Round& round, Report* report);

// Threads read and write, and copy the store, until the power is cut; what the
// disk has then is opened again.
void RunPowerRound(const Round& round, Report* report);

// The key layout of a round's store, which it keeps for its life.
inline KeyLayout DrawLayout(const Round& round) {
  return round.SeedOf(999) % 2 == 0 ? KeyLayout::Escaped()
                                    : KeyLayout::FixedRow(4);
}

}  // namespace rowbloom::store_stress
