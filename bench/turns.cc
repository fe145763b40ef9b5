#include "bench/turns.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <utility>

namespace rowbloom::bench {
namespace {

using Clock = std::chrono::steady_clock;

double Nanos(Clock::duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

struct Samples {
  std::vector<double> cpu;
  std::vector<double> wall;
  std::vector<double> cpu_ratios;
  std::vector<double> wall_ratios;
};

struct Turn {
  double cpu = 0;
  double wall = 0;
  uint64_t work = 0;
};

}  // namespace

double CpuNanos() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec);
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto rank =
      static_cast<ptrdiff_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<size_t>(rank)];
}

double Median(std::vector<double> values) {
  return Quantile(std::move(values), 0.5);
}

size_t ContenderAt(size_t place, uint64_t round, size_t count) {
  // 0, 1, count - 1, 2, count - 2 and so on: no two steps are of one length.
  if (count % 2 == 1 && round / count % 2 == 1) place = count - 1 - place;
  const size_t first = place % 2 == 1 ? (place + 1) / 2 : count - place / 2;
  return (first + round) % count;
}

rocksdb::Status TakeTurns(const std::vector<Contender>& contenders,
                          const TurnOptions& options,
                          std::vector<Timing>* timings) {
  std::vector<Samples> samples(contenders.size());
  std::vector<Turn> turns(contenders.size());
  const uint64_t turn = std::min(options.turn, options.operations);
  const uint64_t turns_of_all = options.operations / turn;
  const auto start = Clock::now();
  for (uint64_t round = 0; round <= options.min_rounds ||
                           Nanos(Clock::now() - start) < options.seconds * 1e9;
       ++round) {
    const uint64_t begin = round % turns_of_all * turn;
    for (size_t place = 0; place < contenders.size(); ++place) {
      const size_t i = ContenderAt(place, round, contenders.size());
      const auto wall = Clock::now();
      const double cpu = CpuNanos();
      uint64_t work = 0;
      const rocksdb::Status s = contenders[i].run(begin, begin + turn, &work);
      turns[i] = {CpuNanos() - cpu, Nanos(Clock::now() - wall), work};
      if (!s.ok()) return s;
    }
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (turns[i].work == 0 || turns[i].work != turns[0].work) {
        return rocksdb::Status::InvalidArgument(
            contenders[i].name + " did " + std::to_string(turns[i].work) +
            " units of work where " + contenders[0].name + " did " +
            std::to_string(turns[0].work));
      }
      if (round == 0) continue;
      const auto work = static_cast<double>(turns[i].work);
      samples[i].cpu.push_back(turns[i].cpu / work);
      samples[i].wall.push_back(turns[i].wall / work);
      samples[i].cpu_ratios.push_back(turns[i].cpu / turns[0].cpu);
      samples[i].wall_ratios.push_back(turns[i].wall / turns[0].wall);
    }
  }
  timings->clear();
  for (size_t i = 0; i < contenders.size(); ++i) {
    timings->push_back({contenders[i].name, Median(samples[i].cpu),
                        Median(samples[i].wall), Median(samples[i].cpu_ratios),
                        Median(samples[i].wall_ratios)});
  }
  return rocksdb::Status::OK();
}

}  // namespace rowbloom::bench
