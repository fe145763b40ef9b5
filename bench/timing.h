// Times of small operations, by Google Benchmark, without its output.
//
//   TimedSet set;
//   set.Add(body, kChunkKeys, {.repetitions = 9, .min_time_s = 0.01});
//   std::vector<Timing> timings = set.Run();
//
// Repetitions of all benchmarks of a set are shuffled, so that noise of the
// machine meets all of them alike: times of one set may be compared, those of
// different runs only with care. One thread; one set at a time.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace rowbloom::bench {

// Nanoseconds of CPU time for each key, over the repetitions.
struct Timing {
  double median = 0;
  double low_quartile = 0;
  double high_quartile = 0;
  int repetitions = 0;
  double ratio_to_stock = 0;  // of medians; stock is RocksDB's Bloom filter

  double SpreadPercent() const {
    return 100 * (high_quartile - low_quartile) / median;
  }
};

struct Repetitions {
  int repetitions = 1;
  double min_time_s = 0;  // of each, in CPU time; at least one iteration
};

class TimedSet {
 public:
  TimedSet();
  ~TimedSet();
  TimedSet(const TimedSet&) = delete;
  TimedSet& operator=(const TimedSet&) = delete;

  // `body` has Google Benchmark's loop, an iteration of which handles
  // `keys_per_iteration` keys.
  void Add(std::function<void(benchmark::State&)> body,
           double keys_per_iteration, const Repetitions& repetitions);

  // One for each Add, in order, without ratio_to_stock. Throws
  // std::runtime_error if a benchmark did not run.
  std::vector<Timing> Run();

 private:
  std::vector<double> keys_per_iteration_;
};

}  // namespace rowbloom::bench
