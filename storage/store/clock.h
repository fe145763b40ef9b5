// The store's clock: milliseconds that never go back, also across restarts and
// when the machine's clock is set back.
//
// Keeping every timestamp on disk would cost a record per write. Instead the
// store keeps a bound that no timestamp has passed, up to a second ahead.
// Before writing a timestamp beyond the bound, the store logs a new bound. Both
// go to the same log, so whatever survives a crash is covered. A store that is
// closed keeps the exact bound. One that is opened starts after its bound.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "rowbloom/cell.h"
#include "storage/store/given_times.h"

namespace rowbloom {

// Milliseconds since 1970-01-01 UTC, as the machine has them. Called from any
// thread.
using WallClock = std::function<uint64_t()>;
uint64_t SystemWallClock();

// Thread-safe.
class LeasedClock {
 public:
  // How far ahead of its timestamp a write sets the bound.
  static constexpr uint64_t kLeaseMs = 1000;

  explicit LeasedClock(WallClock wall_clock)
      : wall_clock_(std::move(wall_clock)) {}

  // The machine's time, by which versions expire.
  uint64_t WallNow() const;

  // The store's time: the machine's, or the latest that was given if that is
  // later. Up to kMaxNowMs, so that a cell can run ahead of it.
  uint64_t Now() { return RaiseTo(WallNow()); }

  // Makes the store's time at least this; returns it.
  uint64_t RaiseTo(uint64_t time_ms);

  // Notes a timestamp that a write gives: those of one cell may run ahead of
  // Now(), each cell for itself.
  void Note(uint64_t timestamp_ms);

  // A time of its own: later than all that were given or noted, and earlier
  // than all that will be.
  uint64_t Step();

  // The bound found in a store that is opened, or that a store is reset to.
  // REQUIRES that no write is under way.
  void Start(uint64_t bound_ms);

  // The bound to keep before a write of this timestamp. Nothing: the kept one
  // covers it.
  std::optional<uint64_t> BoundToKeep(uint64_t timestamp_ms) const;

  // REQUIRES: the bound was written. One thread at a time.
  void Kept(uint64_t bound_ms) { bound_ms_ = bound_ms; }

  // The bound to keep when no more timestamps will be given. Nothing: the kept
  // one is exact.
  std::optional<uint64_t> ExactBound() const;

 private:
  static constexpr uint64_t kMaxNowMs =
      kMaxTimestampMs - GivenTimes::kMaxAheadMs;

  const WallClock wall_clock_;
  std::atomic<uint64_t> last_ms_{0};
  std::atomic<uint64_t> noted_ms_{0};
  std::atomic<uint64_t> bound_ms_{0};
};

}  // namespace rowbloom
