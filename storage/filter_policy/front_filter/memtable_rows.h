// The rows of one memtable.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "lib/block/hash.h"
#include "storage/filter_policy/front_filter/memory.h"

namespace rowbloom::front_filter {

// A bare row has an entry of its own beside that of its row.
inline uint64_t HashBareRow(uint64_t row_hash) {
  return HashRowCol(row_hash, {});
}

// The number of threads that may add rows at the same time.
enum class Writers : uint8_t { kOne, kMany };

// A blocked Bloom filter with 16 bits a row. It grows by segments, each eight
// times as large as the one before: none without rows, 4 KiB for the first
// 2,048. Any number of threads may add and look up rows at once. A lookup finds
// every row whose Add happens before it.
class MemtableRows {
 public:
  explicit MemtableRows(std::shared_ptr<Memory> memory);
  ~MemtableRows();
  MemtableRows(const MemtableRows&) = delete;
  MemtableRows& operator=(const MemtableRows&) = delete;

  // Adds a row by its hash, or everything if there is no memory. kOne saves a
  // locked instruction for each bit.
  void Add(uint64_t row_hash, Writers writers) noexcept;

  // Makes every row found from now on.
  void AddEverything() noexcept { everything_.store(true); }

  // Tells whether MayHave can find a row.
  bool HasRows() const {
    return segment_count_.load(std::memory_order_acquire) != 0 ||
           everything_.load(std::memory_order_acquire);
  }

  // Starts loading the bytes that MayHave reads.
  void Prefetch(uint64_t row_hash) const;

  // False: the row was not added.
  bool MayHave(uint64_t row_hash) const;

  uint64_t bytes() const;

  // The states of the memtable, in their order.
  enum class State : uint8_t {
    kMutable,
    kSealed,   // it waits for a flush, or is about to
    kFlushed,  // only readers may still use it
    kGone      // it was destroyed: no reader can reach it any more
  };
  void Set(State state) { state_.store(state, std::memory_order_release); }
  State state() const { return state_.load(std::memory_order_acquire); }
  bool gone() const { return state() == State::kGone; }

 private:
  class Segment;
  static constexpr size_t kMostSegments = 7;  // the last has 1 GiB

  void Grow(size_t segments);

  const std::shared_ptr<Memory> memory_;
  std::atomic<bool> everything_{false};
  std::atomic<State> state_{State::kMutable};
  std::atomic<size_t> segment_count_{0};
  std::array<std::unique_ptr<Segment>, kMostSegments> segments_;
  std::mutex grow_mutex_;
};

}  // namespace rowbloom::front_filter
