// The parts that the stress programs have in common: the command line, the
// rounds one after the other, the summary and the exit code.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "tests/stress/report.h"
#include "tests/stress/round.h"

namespace rowbloom::stress {

struct Program {
  std::string name;
  std::string description;
  // The rounds, by kind. They take turns in the order of their names.
  std::map<std::string, std::function<void(const Round&, Report*)>> rounds;
  // The work of the process that KillWorkerAfter starts, in its `life`.
  std::function<void(const Round&, uint64_t life, Report*)> run_worker;
  std::map<std::string, Sabotage> sabotages;
};

// Returns the exit code of main: 0, 1 after a divergence, and 2 when the run
// failed otherwise.
int RunStress(const Program& program, int argc, char** argv);

}  // namespace rowbloom::stress
