// The store's clock: milliseconds that never go back, also across restarts and
// when the machine's clock is set back.
//
// Keeping every timestamp on disk would cost a record per write. Instead the
// store keeps a bound that no timestamp has passed, some way ahead of the
// clock. Before a timestamp that passes it is written a new bound is, to the
// same log, so that the bound holds whatever of the log survives a crash. A
// store that is opened starts at the bound.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "rowbloom/cell.h"

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

  // `bound_ms`: the bound kept in the store; 0 for a new one.
  LeasedClock(WallClock wall_clock, uint64_t bound_ms);

  // The wall clock's time, or the last one given when that is ahead.
  uint64_t Now();

  // Notes a timestamp ahead of Now() that a writer gave: rows whose deletes and
  // puts follow each other closely run ahead, each for itself.
  void Note(uint64_t timestamp_ms);

  // A time that is later than all that were given or noted, and not later than
  // those that will be given.
  uint64_t Step();

  // Goes on from a bound that was found in the store after all.
  void Raise(uint64_t bound_ms);

  // The bound to keep before a write of this timestamp. Nothing: the kept one
  // covers it.
  std::optional<uint64_t> BoundToKeep(uint64_t timestamp_ms) const;

  // REQUIRES: the bound was written. One thread at a time.
  void Kept(uint64_t bound_ms) { bound_ms_ = bound_ms; }

 private:
  const WallClock wall_clock_;
  std::atomic<uint64_t> last_ms_;
  std::atomic<uint64_t> noted_ms_{0};
  std::atomic<uint64_t> bound_ms_;
};

}  // namespace rowbloom
