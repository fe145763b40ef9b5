// The results of contenders that took turns at one kind of operation, and what
// is claimed of them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/turns.h"
#include "rocksdb/status.h"

namespace rowbloom::bench {

// A claim holds if its limit is above the whole interval of 95 % of what was
// measured, is missed if the limit is below all of it, and is undecided in
// between.
enum class Verdict { kHolds, kUndecided, kMissed };
std::string_view ToString(Verdict verdict);
Verdict Judge(const Estimate& measured, double at_most);

struct Claim {
  double at_most = 0;
  // A ratio is to the first contender.
  Estimate Measurement::*of = &Measurement::cpu_ratio;
  size_t contender = 1;
};

// A claim of the second contender's ratio, or none.
std::vector<Claim> AtMost(std::optional<double> ratio,
                          Estimate Measurement::*of = &Measurement::cpu_ratio);

struct Comparison {
  std::string what;   // such as "get, present cell"
  std::string where;  // such as "16 files"
  std::string unit;   // the unit of work: "get", "cell", ...
  std::vector<Claim> claims = {};
  std::vector<Measurement> measurements = {};

  Verdict VerdictOn(const Claim& claim) const {
    return Judge(measurements[claim.contender].*claim.of, claim.at_most);
  }
};

// The claims of this verdict, a sentence each.
std::vector<std::string> ClaimsThatAre(
    Verdict verdict, const std::vector<Comparison>& comparisons);

// The comparisons of a run, which share how they are measured.
class Bench {
 public:
  double seconds = 1;  // measured time of each comparison
  std::string only;    // only operations whose name has this in it
  std::function<void(std::string_view)> on_step;  // if set, is told of each

  bool Wants(std::string_view what) const {
    return what.find(only) != std::string_view::npos;
  }
  void Step(std::string_view text) const {
    if (on_step) on_step(text);
  }

  // Measures, if `comparison` is wanted, and keeps it. `turns.seconds` is
  // replaced, but for 0. Errors are those of Turns::Take.
  rocksdb::Status Compare(Comparison comparison,
                          std::vector<Contender> contenders, TurnOptions turns);

  const std::vector<Comparison>& comparisons() const { return comparisons_; }

 private:
  std::vector<Comparison> comparisons_;
};

}  // namespace rowbloom::bench
