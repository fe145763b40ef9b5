#include "storage/store/clock.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace rowbloom {
namespace {

// The larger of the two, which the variable then has.
uint64_t RaiseTo(std::atomic<uint64_t>* variable, uint64_t value) {
  uint64_t current = variable->load();
  while (current < value && !variable->compare_exchange_weak(current, value)) {
  }
  return std::max(current, value);
}

}  // namespace

uint64_t SystemWallClock() {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  using std::chrono::system_clock;
  const auto now =
      duration_cast<milliseconds>(system_clock::now().time_since_epoch());
  return static_cast<uint64_t>(std::max<int64_t>(now.count(), 0));
}

LeasedClock::LeasedClock(WallClock wall_clock, uint64_t bound_ms)
    : wall_clock_(std::move(wall_clock)),
      last_ms_(bound_ms),
      bound_ms_(bound_ms) {}

uint64_t LeasedClock::Now() {
  return RaiseTo(&last_ms_, std::min(wall_clock_(), kMaxTimestampMs));
}

void LeasedClock::Note(uint64_t timestamp_ms) {
  RaiseTo(&noted_ms_, timestamp_ms);
}

uint64_t LeasedClock::Step() {
  const uint64_t latest_ms = std::max(Now(), noted_ms_.load());
  return RaiseTo(&last_ms_, std::min(latest_ms + 1, kMaxTimestampMs));
}

void LeasedClock::Raise(uint64_t bound_ms) {
  RaiseTo(&last_ms_, bound_ms);
  RaiseTo(&bound_ms_, bound_ms);
}

std::optional<uint64_t> LeasedClock::BoundToKeep(uint64_t timestamp_ms) const {
  if (timestamp_ms <= bound_ms_) return std::nullopt;
  return std::min(timestamp_ms, kMaxTimestampMs - kLeaseMs) + kLeaseMs;
}

}  // namespace rowbloom
