#include "bench/comparison.h"

namespace rowbloom::bench {

std::vector<std::string> MissedClaims(
    const std::vector<Comparison>& comparisons) {
  std::vector<std::string> missed;
  for (const Comparison& comparison : comparisons) {
    if (!comparison.claimed_ratio ||
        comparison.Ratio(1) <= *comparison.claimed_ratio) {
      continue;
    }
    missed.push_back(comparison.what + ", " + comparison.where + ": " +
                     comparison.timings[1].name + " takes " +
                     std::to_string(comparison.Ratio(1)) + " of the time of " +
                     comparison.timings[0].name + ", claimed is at most " +
                     std::to_string(*comparison.claimed_ratio));
  }
  return missed;
}

}  // namespace rowbloom::bench
