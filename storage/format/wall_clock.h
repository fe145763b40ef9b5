// The time of the machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace rowbloom {

// Returns milliseconds since 1970-01-01 UTC, as the machine has them.
// Thread-safe.
inline uint64_t SystemWallClock() {
  using std::chrono::milliseconds;
  using std::chrono::system_clock;
  const auto now = system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<milliseconds>(now).count();
  return static_cast<uint64_t>(std::max<int64_t>(ms, 0));
}

}  // namespace rowbloom
