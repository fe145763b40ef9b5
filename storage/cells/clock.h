// The store's clock: milliseconds that never go back, even across restarts and
// when the machine's clock is set back.
//
// Keeping every timestamp on disk would cost a record per write. Instead the
// store keeps a bound that no timestamp has passed, up to a second ahead.
// Before writing a timestamp beyond the bound, the store logs a new bound. Both
// go to the same log, so whatever survives a crash is covered. A store that is
// closed keeps the exact bound. One that is opened starts after its bound.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "rowbloom/cell.h"
#include "storage/cells/given_times.h"
#include "storage/format/wall_clock.h"

namespace rowbloom {

// Milliseconds as SystemWallClock gives them. Called from any thread.
using WallClock = std::function<uint64_t()>;

// Thread-safe.
class LeasedClock {
 public:
  // The time by which a write sets the bound ahead of its timestamp.
  static constexpr uint64_t kLeaseMs = 1000;

  explicit LeasedClock(WallClock wall_clock)
      : wall_clock_(std::move(wall_clock)) {}

  // The machine's time, by which versions expire.
  uint64_t WallNow() const { return std::min(wall_clock_(), kMaxTimestampMs); }

  // The store's time: the machine's, or the latest that was returned if that is
  // later. It is at most kMaxNowMs, so that a cell can run ahead of it.
  uint64_t Now() { return RaiseTo(WallNow()); }
  // The time that Now would return. Now() may return earlier times afterwards.
  uint64_t Peek() const {
    return std::max(last_ms_.load(), std::min(WallNow(), kMaxNowMs));
  }

  // Returns the time by which the store's is ahead of the machine's.
  uint64_t AheadMs() const {
    const uint64_t last_ms = last_ms_;
    return last_ms - std::min(last_ms, WallNow());
  }

  // Makes the store's time at least this; returns it.
  uint64_t RaiseTo(uint64_t time_ms) {
    return Raise(&last_ms_, std::min(time_ms, kMaxNowMs));
  }

  // Notes a timestamp that a write assigns. The timestamps of each cell may run
  // ahead of Now().
  void Note(uint64_t timestamp_ms) { Raise(&noted_ms_, timestamp_ms); }

  // Returns a unique time: later than all that Now() returned or that were
  // noted, and earlier than all that Now() will return, up to kMaxNowMs.
  uint64_t Step() {
    uint64_t last_ms = last_ms_;
    uint64_t step_ms = 0;
    do {
      step_ms = std::max({last_ms, WallNow(), noted_ms_.load()}) + 1;
      step_ms = std::min(step_ms, kMaxNowMs);
    } while (!last_ms_.compare_exchange_weak(last_ms,
                                             std::min(step_ms + 1, kMaxNowMs)));
    Note(step_ms);
    return step_ms;
  }

  // Starts from a bound, when a store is opened or its clock is reset. REQUIRES
  // that no write is running.
  void Start(uint64_t bound_ms) {
    noted_ms_ = bound_ms;
    bound_ms_ = bound_ms;
    last_ms_ = bound_ms == 0 ? 0 : std::min(bound_ms + 1, kMaxNowMs);
    ++starts_;
  }
  // Returns the number of calls of Start.
  uint64_t starts() const { return starts_; }

  // Returns the bound to keep before a write of this timestamp. nullopt: the
  // kept bound covers it.
  std::optional<uint64_t> BoundToKeep(uint64_t timestamp_ms) const {
    if (timestamp_ms <= bound_ms_) return std::nullopt;
    return std::min(timestamp_ms, kMaxTimestampMs - kLeaseMs) + kLeaseMs;
  }

  // Notes a bound. REQUIRES that it was written. One thread at a time.
  void Kept(uint64_t bound_ms) { bound_ms_ = bound_ms; }

  // Returns the bound to keep when no more timestamps will be assigned.
  // nullopt: the kept bound is exact.
  std::optional<uint64_t> ExactBound() const {
    if (noted_ms_ == bound_ms_) return std::nullopt;
    return noted_ms_.load();
  }

 private:
  static constexpr uint64_t kMaxNowMs =
      kMaxTimestampMs - GivenTimes::kMaxAheadMs - 1;

  // Raises the variable to `value` if that is larger. Returns the larger one.
  static uint64_t Raise(std::atomic<uint64_t>* variable, uint64_t value) {
    uint64_t current = variable->load();
    while (current < value &&
           !variable->compare_exchange_weak(current, value)) {
    }
    return std::max(current, value);
  }

  const WallClock wall_clock_;
  std::atomic<uint64_t> last_ms_{0};
  std::atomic<uint64_t> noted_ms_{0};
  std::atomic<uint64_t> bound_ms_{0};
  std::atomic<uint64_t> starts_{0};
};

}  // namespace rowbloom
