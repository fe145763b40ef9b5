// State that an open store shares with RocksDB's background threads, which may
// run on for a short time after it is closed.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

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
  // Kinds of entries that there may be, as the store record says (metadata.h).
  std::atomic<bool> has_row_deletes{true};
  std::atomic<bool> has_family_version_deletes{false};
  std::atomic<bool> has_cell_ttls{false};
};

}  // namespace rowbloom
