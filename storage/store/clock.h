// The store's clock: milliseconds that never go back, also across restarts and
// when the machine's clock is set back.
//
// Keeping every timestamp on disk would cost a record per write. Instead the
// store keeps a bound that no timestamp has passed, some way ahead of the
// clock. A write whose timestamp passes the bound carries a new one in the same
// RocksDB batch, so that the bound holds whatever of the log survives a crash.
// A store that is opened starts at the bound.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace rowbloom {

// Milliseconds since 1970-01-01 UTC, as the machine has them.
using WallClock = std::function<uint64_t()>;
uint64_t SystemWallClock();

// Largest timestamp, as in HBase, whose timestamps are signed.
inline constexpr uint64_t kMaxTimestampMs = (uint64_t{1} << 63) - 1;

// Not thread-safe: the store draws a timestamp and writes under one lock, so
// that of two writes the later one in RocksDB never has the smaller timestamp.
class LeasedClock {
 public:
  // How far ahead of its timestamp a write sets the bound.
  static constexpr uint64_t kLeaseMs = 1000;

  // `bound_ms`: the bound kept in the store; 0 for a new one.
  LeasedClock(WallClock wall_clock, uint64_t bound_ms);

  // The timestamp of the next write: the wall clock's, or the last one when
  // that is ahead.
  uint64_t Next();

  // The bound to keep with a write of this timestamp. Nothing: the kept one
  // covers it.
  std::optional<uint64_t> BoundToKeep(uint64_t timestamp_ms) const;

  // REQUIRES: the write that carried BoundToKeep succeeded.
  void Kept(uint64_t bound_ms) { bound_ms_ = bound_ms; }

 private:
  WallClock wall_clock_;
  uint64_t last_ms_;
  uint64_t bound_ms_;
};

}  // namespace rowbloom
