// State that an open store shares with RocksDB's background threads, which may
// run on for a short time after it is closed.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "storage/store/cell_versions.h"
#include "storage/store/clock.h"

namespace rowbloom {

struct SharedState {
  explicit SharedState(WallClock wall_clock) : clock(std::move(wall_clock)) {}

  LeasedClock clock;
  // RocksDB snapshots of the store. Counted up before one is taken, down after
  // it is released, so that 0 means that there is none.
  std::atomic<uint64_t> snapshots{0};
  // The count of all snapshots that were ever taken.
  std::atomic<uint64_t> snapshots_taken{0};
  // As the store record has them (metadata.h).
  std::atomic<RareKinds> rare_kinds{kRowDeletes};
  bool MayHave(RareKinds kinds) const { return (rare_kinds & kinds) != 0; }
};

}  // namespace rowbloom
