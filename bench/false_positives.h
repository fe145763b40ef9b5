// The false positives of a filter: absent keys that it took for present ones.
#pragma once

#include <cstdint>

namespace rowbloom::bench {

struct FalsePositives {
  uint64_t asked = 0;  // distinct absent keys
  uint64_t passed = 0;

  double Rate() const {
    return static_cast<double>(passed) / static_cast<double>(asked);
  }
};

struct Interval {
  double low = 0;
  double high = 0;
};
// The interval that has the rate with 99 % confidence (E. B. Wilson, 1927).
Interval Interval99(const FalsePositives& counts);

}  // namespace rowbloom::bench
