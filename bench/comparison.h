// What came out of contenders that took turns at one kind of operation, and
// what is claimed of it.
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
  // Of the second contender: its time, as a share of the first's, that is
  // claimed at most.
  std::optional<double> claimed_ratio;
  // Where several threads work, their wall time is compared.
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
