#include "storage/store/clock.h"

#include <algorithm>
#include <chrono>

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

uint64_t LeasedClock::WallNow() const {
  return std::min(wall_clock_(), kMaxTimestampMs);
}

uint64_t LeasedClock::RaiseTo(uint64_t time_ms) {
  return rowbloom::RaiseTo(&last_ms_, std::min(time_ms, kMaxNowMs));
}

void LeasedClock::Note(uint64_t timestamp_ms) {
  rowbloom::RaiseTo(&noted_ms_, timestamp_ms);
}

uint64_t LeasedClock::Step() {
  const uint64_t step_ms = RaiseTo(std::max(Now(), noted_ms_.load()) + 1);
  Note(step_ms);
  RaiseTo(step_ms + 1);
  return step_ms;
}

void LeasedClock::Start(uint64_t bound_ms) {
  noted_ms_ = bound_ms;
  bound_ms_ = bound_ms;
  last_ms_ = bound_ms == 0 ? 0 : std::min(bound_ms + 1, kMaxNowMs);
}

std::optional<uint64_t> LeasedClock::BoundToKeep(uint64_t timestamp_ms) const {
  if (timestamp_ms <= bound_ms_) return std::nullopt;
  return std::min(timestamp_ms, kMaxTimestampMs - kLeaseMs) + kLeaseMs;
}

std::optional<uint64_t> LeasedClock::ExactBound() const {
  if (noted_ms_ == bound_ms_) return std::nullopt;
  return noted_ms_.load();
}

}  // namespace rowbloom
