// The process of a round that is killed: this program again, with --life.
#pragma once

#include <cstdint>

#include "tests/stress/report.h"
#include "tests/stress/round.h"

namespace rowbloom::stress {

// Starts the round's worker and kills it with SIGKILL after so long, which is
// counted. That it ended by itself with anything but success is a divergence.
void KillWorkerAfter(uint64_t milliseconds, const Round& round, uint64_t life,
                     Report* report);

// Makes the worker end with its parent, however that ends.
void EndWithParent();

}  // namespace rowbloom::stress
