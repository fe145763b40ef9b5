// filter_stress: see README.md.
#include "tests/stress/driver.h"
#include "tests/stress/rounds.h"

int main(int argc, char** argv) {
  using namespace rowbloom::stress;
  return RunStress(
      {.name = "filter_stress",
       .description =
           "Stresses rowbloom's filter policy and checks every answer",
       .rounds = {{"damage", RunDamageRound},
                  {"faults", RunFaultsRound},
                  {"kills", RunKillsRound},
                  {"threads", RunThreadsRound}},
       .run_worker = RunKilledWorker,
       .sabotages = {{"delete", Sabotage::kDelete},
                     {"filter", Sabotage::kFilter},
                     {"front", Sabotage::kFront}}},
      argc, argv);
}
