// store_stress: see ../README.md.
#include "tests/stress/driver.h"
#include "tests/stress/store/rounds.h"

// With ThreadSanitizer: its search for deadlocks ends the program where a
// thread holds more than 64 mutexes. A change of families holds those of all
// rows, in the one order that there is.
extern "C" const char* __tsan_default_options() {  // NOLINT
  return "detect_deadlocks=0";
}

int main(int argc, char** argv) {
  using namespace rowbloom;
  return stress::RunStress(
      {.name = "store_stress",
       .description = "Stresses rowbloom's store and checks every answer",
       .rounds = {{"faults", store_stress::RunFaultsRound},
                  {"kills", store_stress::RunKillsRound},
                  {"power", store_stress::RunPowerRound},
                  {"threads", store_stress::RunThreadsRound}},
       .run_worker = store_stress::RunKilledWorker,
       .sabotages = {{"delete", stress::Sabotage::kDelete},
                     {"sync", stress::Sabotage::kSync}}},
      argc, argv);
}
