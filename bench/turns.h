// Times several ways to do the same operations in one run. They take turns of
// milliseconds, so that what else the machine does meets all alike; what counts
// are ratios of turns side by side. Each is first, and comes right after each
// other one, equally often: what a turn leaves in the processor's caches may
// suit the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rocksdb/status.h"

namespace rowbloom::bench {

// Processor time of the calling thread, in nanoseconds: what other programs do
// costs it nothing but what they take out of the processor's caches.
double CpuNanos();

// The value below which a share of `q` lies; 0 without any.
double Quantile(std::vector<double> values, double q);
double Median(std::vector<double> values);

struct Contender {
  std::string name;
  // Does the operations [begin, end), and sets *work to what it did, in the
  // unit that is compared: operations, cells or bytes. Contenders that do
  // different amounts of work in one turn are not comparable: an error.
  std::function<rocksdb::Status(uint64_t begin, uint64_t end, uint64_t* work)>
      run;
};

struct TurnOptions {
  uint64_t operations = 1;  // there are; turns start again at the first
  uint64_t turn = 512;      // operations in one
  uint64_t min_rounds = 4;  // after one that fills the caches
  double seconds = 1;       // of measuring, at least
};

// The times of one contender for a unit of work: medians over its turns.
struct Timing {
  std::string name;
  double cpu_nanos = 0;
  double wall_nanos = 0;
  // Medians of ratios to the first contender's turn of the same round.
  double cpu_ratio = 0;
  double wall_ratio = 0;
};

// The contender, of `count`, that has the turn at `place` of a round: a
// Williams design, balanced after `count` rounds, twice as many for odd counts.
size_t ContenderAt(size_t place, uint64_t round, size_t count);

// InvalidArgument: contenders that did different amounts of work, or none.
// Other errors are the contenders'.
rocksdb::Status TakeTurns(const std::vector<Contender>& contenders,
                          const TurnOptions& options,
                          std::vector<Timing>* timings);

}  // namespace rowbloom::bench
