// store_stress: see ../README.md.
#include "tests/stress/driver.h"
#include "tests/stress/store/rounds.h"

int main(int argc, char** argv) {
  using namespace rowbloom;
  return stress::RunStress(
      {.name = "store_stress",
       .description = "Stresses rowbloom's store and checks every answer",
       .rounds = {{"faults", store_stress::RunFaultsRound},
                  {"kills", store_stress::RunKillsRound},
                  {"threads", store_stress::RunThreadsRound}},
       .run_worker = store_stress::RunKilledWorker,
       .sabotages = {{"delete", stress::Sabotage::kDelete}}},
      argc, argv);
}
