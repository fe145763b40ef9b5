#include "bench/turns.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <limits>
#include <optional>
#include <utility>

namespace rowbloom::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The share of a distribution beyond its middle 95 %, on one side.
constexpr double kTail = 0.025;
// This many standard deviations of a normal distribution leave out kTail.
constexpr double kNormal = 1.959963984540054;
// The fewest samples that have an interval.
constexpr size_t kFewestPairs = 6;

double Nanos(const timeval& time) {
  return 1e9 * static_cast<double>(time.tv_sec) +
         1e3 * static_cast<double>(time.tv_usec);
}

// The most samples that may be left out on each side of an interval of the
// median: so many or fewer lie below it with a chance of at most kTail.
// nullopt: there are too few samples.
std::optional<size_t> LeftOut(size_t samples) {
  const auto n = static_cast<double>(samples);
  double below = 0;
  for (size_t k = 0; k < samples; ++k) {
    const auto i = static_cast<double>(k);
    below += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) -
                      std::lgamma(n - i + 1) - n * std::log(2.0));
    if (below > kTail) {
      return k == 0 ? std::nullopt : std::optional<size_t>(k - 1);
    }
  }
  return std::nullopt;
}

struct Turn {
  bool taken = false;
  double cpu = 0;
  double wall = 0;
  uint64_t work = 0;
  std::optional<uint64_t> answers;
};

}  // namespace

double CpuNanos() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  rusage children{};
  getrusage(RUSAGE_CHILDREN, &children);
  return 1e9 * static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) + Nanos(children.ru_utime) +
         Nanos(children.ru_stime);
}

double Nanos(Clock::duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto rank =
      static_cast<ptrdiff_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<size_t>(rank)];
}

Estimate MedianOf(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const double median = Quantile(samples, 0.5);
  const std::optional<size_t> out = LeftOut(samples.size());
  if (!out) return {median, 0, std::numeric_limits<double>::infinity()};
  return {median, samples[*out], samples[samples.size() - 1 - *out]};
}

Estimate RatioOfCounts(uint64_t count, uint64_t base) {
  const auto n = static_cast<double>(count + base);
  const double infinity = std::numeric_limits<double>::infinity();
  if (n == 0) return {0, 0, infinity};
  const double share = static_cast<double>(count) / n;
  const double z2 = kNormal * kNormal / n;
  const double middle = (share + z2 / 2) / (1 + z2);
  const double half =
      kNormal / (1 + z2) * std::sqrt(share * (1 - share) / n + z2 / (4 * n));
  const auto ratio = [infinity](double of_all) {
    return of_all >= 1 ? infinity : std::max(0.0, of_all / (1 - of_all));
  };
  return {ratio(share), ratio(middle - half), ratio(middle + half)};
}

size_t ContenderAt(size_t place, uint64_t round, size_t count) {
  // 0, 1, count - 1, 2, count - 2 and so on: no two steps are of one length.
  if (count % 2 == 1 && round / count % 2 == 1) place = count - 1 - place;
  const size_t first = place % 2 == 1 ? (place + 1) / 2 : count - place / 2;
  return (first + round) % count;
}

Turns::Turns(std::vector<Contender> contenders, size_t baseline)
    : contenders_(std::move(contenders)),
      baseline_(baseline),
      samples_(contenders_.size()) {}

rocksdb::Status Turns::Take(const TurnOptions& options) {
  std::vector<Turn> turns(contenders_.size());
  const uint64_t turn = std::min(options.turn, options.operations);
  const uint64_t turns_of_all = options.operations / turn;
  const auto start = Clock::now();
  for (uint64_t round = 0; round <= options.min_rounds ||
                           Nanos(Clock::now() - start) < options.seconds * 1e9;
       ++round) {
    const uint64_t begin = round % turns_of_all * turn;
    for (size_t place = 0; place < contenders_.size(); ++place) {
      const size_t i = ContenderAt(place, round, contenders_.size());
      const Contender& contender = contenders_[i];
      turns[i] = {};
      if (round > 0 && round % contender.every != contender.every / 2) continue;
      const auto wall = Clock::now();
      const double cpu = options.cpu_nanos();
      uint64_t work = 0;
      const rocksdb::Status s = contender.run(begin, begin + turn, &work);
      turns[i] = {true,
                  options.cpu_nanos() - cpu,
                  Nanos(Clock::now() - wall),
                  work,
                  {}};
      if (!s.ok()) return s;
      if (contender.answers) turns[i].answers = contender.answers();
    }
    const Turn& base = turns[baseline_];
    for (size_t i = 0; i < contenders_.size(); ++i) {
      if (!turns[i].taken) continue;
      if (turns[i].work == 0 || turns[i].work != base.work) {
        return rocksdb::Status::InvalidArgument(
            contenders_[i].name + " did " + std::to_string(turns[i].work) +
            " units of work where " + contenders_[baseline_].name + " did " +
            std::to_string(base.work));
      }
      if (turns[i].answers != base.answers) {
        return rocksdb::Status::InvalidArgument(
            contenders_[i].name + " read other answers than " +
            contenders_[baseline_].name + " in the operations from " +
            std::to_string(begin) + " on");
      }
      if (round == 0) continue;
      const auto work = static_cast<double>(turns[i].work);
      samples_[i].cpu.push_back(turns[i].cpu / work);
      samples_[i].wall.push_back(turns[i].wall / work);
      samples_[i].cpu_ratios.push_back(turns[i].cpu / base.cpu);
      samples_[i].wall_ratios.push_back(turns[i].wall / base.wall);
      samples_[i].rounds.push_back(round);
    }
  }
  return rocksdb::Status::OK();
}

std::vector<double> Turns::OfPairs(const std::vector<double>& ratios,
                                   const std::vector<uint64_t>& rounds) const {
  // The order of a round is reversed after so many more.
  const size_t mirror =
      contenders_.size() / (contenders_.size() % 2 == 0 ? 2 : 1);
  std::vector<std::vector<double>> alone(2 * mirror);  // by order
  std::vector<double> pairs;
  for (size_t i = 0; i < ratios.size(); ++i) {
    std::vector<double>& others = alone[(rounds[i] + mirror) % alone.size()];
    if (others.empty()) {
      alone[rounds[i] % alone.size()].push_back(ratios[i]);
    } else {
      pairs.push_back(std::sqrt(ratios[i] * others.back()));
      others.pop_back();
    }
  }
  return pairs.size() < kFewestPairs ? ratios : pairs;
}

std::vector<Measurement> Turns::Results() const {
  std::vector<Measurement> results;
  for (size_t i = 0; i < contenders_.size(); ++i) {
    const Samples& own = samples_[i];
    results.push_back({contenders_[i].name, own.cpu.size(), MedianOf(own.cpu),
                       MedianOf(own.wall),
                       MedianOf(OfPairs(own.cpu_ratios, own.rounds)),
                       MedianOf(OfPairs(own.wall_ratios, own.rounds))});
  }
  return results;
}

Measurement Turns::Control() const {
  const Samples& base = samples_[baseline_];
  Samples later;
  // Each contender has the same place again after this many rounds.
  const size_t period = contenders_.size() * (1 + contenders_.size() % 2);
  const size_t lag = base.cpu.size() < 2 * period ? 1 : period;
  for (size_t i = lag; i < base.cpu.size(); ++i) {
    if (i / lag % 2 == 0) continue;
    later.cpu.push_back(base.cpu[i]);
    later.wall.push_back(base.wall[i]);
    later.cpu_ratios.push_back(base.cpu[i] / base.cpu[i - lag]);
    later.wall_ratios.push_back(base.wall[i] / base.wall[i - lag]);
  }
  return {kControl,
          later.cpu.size(),
          MedianOf(later.cpu),
          MedianOf(later.wall),
          MedianOf(later.cpu_ratios),
          MedianOf(later.wall_ratios)};
}

rocksdb::Status TakeTurns(std::vector<Contender> contenders,
                          const TurnOptions& options,
                          std::vector<Measurement>* measurements) {
  Turns turns(std::move(contenders));
  const rocksdb::Status s = turns.Take(options);
  *measurements = turns.Results();
  if (options.control) measurements->push_back(turns.Control());
  return s;
}

}  // namespace rowbloom::bench
