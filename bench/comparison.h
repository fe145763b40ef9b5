// The results of contenders that took turns at one kind of operation, and what
// is claimed of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/turns.h"

namespace rowbloom::bench {

struct Comparison {
  std::string what;   // such as "get, present cell"
  std::string where;  // such as "16 files"
  std::string unit;   // of work: "get", "cell", ...
  // The longest time that is claimed of the second contender, as a share of the
  // first's.
  std::optional<double> claimed_ratio;
  // True if wall times are compared: where several threads work.
  bool by_wall_time = false;
  std::vector<Timing> timings;

  double Ratio(size_t i) const {
    return by_wall_time ? timings[i].wall_ratio : timings[i].cpu_ratio;
  }
};

// The comparisons that miss their claim, a sentence each.
std::vector<std::string> MissedClaims(
    const std::vector<Comparison>& comparisons);

}  // namespace rowbloom::bench
