// Times several ways to do the same operations in one run. They take turns of
// milliseconds, so that what else the machine does meets all alike; what counts
// are ratios of turns side by side. Each is first, and comes right after each
// other one, equally often: what a turn leaves in the processor's caches may
// suit the next. Each order of a round comes back reversed, and a ratio's
// sample is the geometric mean of both rounds, so that order cancels out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/status.h"

namespace rowbloom::bench {

// Processor time of the calling thread, and of child processes that have ended,
// in nanoseconds: other programs cost it nothing but what they take out of the
// processor's caches.
double CpuNanos();

double Nanos(std::chrono::steady_clock::duration duration);

// The value below which a share of `q` lies; 0 without any.
double Quantile(std::vector<double> values, double q);

// A value and the interval that has it with 95 % confidence. An interval is
// from 0 to infinity where there are too few samples for one.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

// The median of independent samples and its interval, which are order
// statistics: nothing is assumed of how samples are distributed. It takes six
// samples to have an interval.
Estimate MedianOf(std::vector<double> samples);

// The ratio of the rates of two kinds of rare events that were counted `count`
// and `base` times over the same lookups. The share of one kind in both is
// binomial; its interval is Wilson's.
Estimate RatioOfCounts(uint64_t count, uint64_t base);

struct Contender {
  std::string name;
  // Does the operations [begin, end), and sets *work to what it did, in the
  // unit that is compared: operations, cells or bytes. Contenders that do
  // different amounts of work in one turn are not comparable: an error.
  std::function<rocksdb::Status(uint64_t begin, uint64_t end, uint64_t* work)>
      run;
  // A digest of all that the last turn read, if set; must be the same for all
  // contenders.
  std::function<uint64_t()> answers = nullptr;
  // It takes part in the round that fills the caches, and then in one of so
  // many rounds: slow contenders would take all the time.
  uint64_t every = 1;
};

// A contender that does each(i) for each operation i; work is one for each.
template <typename Each>
Contender Repeat(std::string name, Each each) {
  return {std::move(name),
          [each](uint64_t begin, uint64_t end, uint64_t* work) mutable {
            rocksdb::Status s;
            for (uint64_t i = begin; s.ok() && i < end; ++i) s = each(i);
            *work = end - begin;
            return s;
          }};
}

struct TurnOptions {
  uint64_t operations = 1;  // there are; turns start again at the first
  uint64_t turn = 512;      // operations in one
  uint64_t min_rounds = 6;  // after one that fills the caches
  double seconds = 1;       // least measured time
  // Adds a measurement under the name kControl, Turns::Control: its ratios tell
  // what a ratio is worth. Off for contenders that change what they work on.
  bool control = true;
  double (*cpu_nanos)() = CpuNanos;  // the clock of the processor time
};

inline constexpr char kControl[] = "the same again";

// The times of one contender for a unit of work: medians over its turns.
struct Measurement {
  std::string name;
  uint64_t turns = 0;
  Estimate cpu_nanos;
  Estimate wall_nanos;
  // The medians of ratios to the baseline's turn of the same round: by pairs of
  // rounds in opposite orders if there are six of these, else by rounds.
  Estimate cpu_ratio;
  Estimate wall_ratio;
};

// The contender, of `count`, that has the turn at `place` of a round: a
// Williams design, balanced after `count` rounds, twice as many for odd counts.
size_t ContenderAt(size_t place, uint64_t round, size_t count);

// The turns of some contenders, which may be taken in several parts.
class Turns {
 public:
  // `baseline` is the contender that ratios are to; it takes part in each
  // round.
  explicit Turns(std::vector<Contender> contenders, size_t baseline = 0);

  // Adds to the samples. InvalidArgument: contenders that did different amounts
  // of work, or none, or gave different answers. Other errors are the
  // contenders'. `options.control` is ignored.
  rocksdb::Status Take(const TurnOptions& options);

  // The measurements of all turns so far, in the order of the contenders.
  std::vector<Measurement> Results() const;
  // The baseline's turns beside those of its that came before them. A contender
  // of its own for this would work on what the baseline works on, and keep that
  // in the processor's caches for it.
  Measurement Control() const;

 private:
  struct Samples {
    std::vector<double> cpu, wall, cpu_ratios, wall_ratios;
    std::vector<uint64_t> rounds;  // of the samples
  };

  // The geometric means of ratios of opposite orders, or `ratios`.
  std::vector<double> OfPairs(const std::vector<double>& ratios,
                              const std::vector<uint64_t>& rounds) const;

  std::vector<Contender> contenders_;
  size_t baseline_;
  std::vector<Samples> samples_;
};

// Turns with the first contender as the baseline, and the control.
rocksdb::Status TakeTurns(std::vector<Contender> contenders,
                          const TurnOptions& options,
                          std::vector<Measurement>* measurements);

}  // namespace rowbloom::bench
