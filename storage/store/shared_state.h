// What an open store shares with RocksDB's background threads, which may
// outlive it by a moment.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "storage/store/absence_hint.h"
#include "storage/store/clock.h"
#include "storage/store/row_iterators.h"

namespace rowbloom {

struct SharedState {
  explicit SharedState(WallClock wall_clock)
      : clock(std::move(wall_clock), 0) {}

  LeasedClock clock;
  // RocksDB snapshots of the store. Counted up before one is taken, down after
  // it is released, so that 0 means that there is none.
  std::atomic<uint64_t> snapshots{0};
  RowIterators row_iterators;
  AbsenceHint absence_hint;
};

}  // namespace rowbloom
