// The rounds of filter_stress. They differ in what the database must survive.
#pragma once

#include <cstdint>

#include "tests/stress/report.h"
#include "tests/stress/round.h"

namespace rowbloom::stress {

// Threads read and write; the database is reopened with other options.
void RunThreadsRound(const Round& round, Report* report);

// The same in a process that is killed, again and again.
void RunKillsRound(const Round& round, Report* report);
// The work of that process in its `life`; returns if it is not killed.
void RunKilledWorker(const Round& round, uint64_t life, Report* report);

// A small workload, again and again; the first time the first call of the file
// system fails, then the second, until the workload ends before the call.
void RunFaultsRound(const Round& round, Report* report);

// Reads with wrong bytes in filter blocks, and with reads that fail.
void RunDamageRound(const Round& round, Report* report);

}  // namespace rowbloom::stress
