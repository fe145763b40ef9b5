#include "bench/timing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace rowbloom::bench {
namespace {

// Keeps the times instead of printing them. A benchmark's name is its number.
class Collector final : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(size_t benchmarks) : samples_(benchmarks) {}

  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      samples_.at(std::stoul(run.run_name.function_name))
          .push_back(1e9 * run.cpu_accumulated_time /
                     static_cast<double>(run.iterations));
    }
  }
  // Nanoseconds of an iteration.
  std::vector<double>& samples(size_t benchmark) { return samples_[benchmark]; }

 private:
  std::vector<std::vector<double>> samples_;
};

// Interpolated. REQUIRES sorted and not empty.
double Quantile(const std::vector<double>& sorted, double q) {
  const double rank = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(rank);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] +
         (rank - std::floor(rank)) * (sorted[above] - sorted[below]);
}

Timing Summary(std::vector<double>* samples, double keys_per_iteration) {
  if (samples->empty()) throw std::runtime_error("a benchmark did not run");
  for (double& sample : *samples) sample /= keys_per_iteration;
  std::sort(samples->begin(), samples->end());
  return {.median = Quantile(*samples, 0.5),
          .low_quartile = Quantile(*samples, 0.25),
          .high_quartile = Quantile(*samples, 0.75),
          .repetitions = static_cast<int>(samples->size())};
}

// Google Benchmark has its one setting that matters here as a flag only.
void InterleaveRepetitions() {
  [[maybe_unused]] static const bool done = [] {
    std::string program = "filter_bench";
    std::string interleave = "--benchmark_enable_random_interleaving=true";
    std::array<char*, 3> arguments = {program.data(), interleave.data(),
                                      nullptr};
    int count = 2;
    benchmark::Initialize(&count, arguments.data());
    return true;
  }();
}

}  // namespace

TimedSet::TimedSet() { InterleaveRepetitions(); }

TimedSet::~TimedSet() { benchmark::ClearRegisteredBenchmarks(); }

void TimedSet::Add(std::function<void(benchmark::State&)> body,
                   double keys_per_iteration, const Repetitions& repetitions) {
  const std::string name = std::to_string(keys_per_iteration_.size());
  benchmark::RegisterBenchmark(name.c_str(), std::move(body))
      ->MinTime(repetitions.min_time_s)
      ->Repetitions(repetitions.repetitions);
  keys_per_iteration_.push_back(keys_per_iteration);
}

std::vector<Timing> TimedSet::Run() {
  Collector collector(keys_per_iteration_.size());
  benchmark::RunSpecifiedBenchmarks(&collector);
  std::vector<Timing> timings;
  for (size_t i = 0; i < keys_per_iteration_.size(); ++i) {
    timings.push_back(Summary(&collector.samples(i), keys_per_iteration_[i]));
  }
  return timings;
}

}  // namespace rowbloom::bench
