// FalsePositiveRate and its inverse, quick enough to search with: bloom_math
// takes some 10 us for a rate and 1 ms for bits per key.
#pragma once

#include <vector>

namespace rowbloom {

// A table by bits per key in steps of 1/8, between which the logarithm of the
// rate is taken as linear; within 0.5 % of bloom_math. Thread-safe.
class RateTable {
 public:
  // The table of the process, made at the first call (some 7 ms).
  static const RateTable& Get();

  // FalsePositiveRate, BitsPerKey and BestProbes of bloom_math.h, clamped to
  // the same limits.
  double Rate(double bits_per_key) const;
  double Bits(double rate) const;
  int Probes(double bits_per_key) const;

 private:
  RateTable();

  std::vector<double> log_rates_;  // strictly decreasing
  std::vector<int> probes_;
};

}  // namespace rowbloom
