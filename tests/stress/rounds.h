// The rounds of a run: each has a database of its own and takes some
// seconds. They differ in what the database must survive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/stress/report.h"

namespace rowbloom::stress {

// What goes wrong on purpose, to prove that a divergence is noticed.
enum class Sabotage {
  kNone,
  kFilter,  // a policy answers "no" for keys that are there
  kDelete,  // a key is deleted behind the model's back
};

struct Round {
  std::string kind;
  uint64_t number = 0;
  uint64_t seed = 0;  // of the run
  uint32_t threads = 1;
  std::string dir;  // empty at first, for all files of the round
  Sabotage sabotage = Sabotage::kNone;

  // Of a part of the round; parts are numbered as the round likes.
  uint64_t SeedOf(uint64_t part) const;
  // What has to be known to run it again.
  std::string Describe() const;
};

// Threads read and write; the database is reopened with other options.
void RunThreadsRound(const Round& round, Report* report);

// The same in a process that is killed, again and again. `program` is this
// program and `arguments` lead it to RunKilledWorker.
void RunKillsRound(const Round& round, const std::string& program,
                   const std::vector<std::string>& arguments, Report* report);
// What that process does in its `life`; returns if it is not killed.
void RunKilledWorker(const Round& round, uint64_t life, Report* report);

// A small workload, again and again; the first time the first call of the file
// system fails, then the second, until the workload ends before the call.
void RunFaultsRound(const Round& round, Report* report);

// Reads with wrong bytes in filter blocks, and with reads that fail.
void RunDamageRound(const Round& round, Report* report);

}  // namespace rowbloom::stress
