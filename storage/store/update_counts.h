// UpdateCounts counts the writes of `versioned` cells that are not merged yet.
//
// Each write is a merge operand, and a read merges those that it finds. Reads
// of a cell that is written often would cost more with each write until a
// flush. So the writer joins the operands of a cell once there are some. A join
// rewrites all versions of the cell. The next join follows after as many writes
// as there were versions, or 255, so that a write costs the same on average.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>

namespace rowbloom {

// Counts the writes of a family. Cells are identified by hashes: two that share
// a place are joined sooner. There are so many places that the writes in a
// memtable leave most cells that are written once or twice below kMinWrites.
// After as many writes as there are places, all counts restart. So a memtable
// has at most some kMinWrites operands of a cell that are not joined, whatever
// else is written.
//
// Thread-safe; of two simultaneous writes one may not be counted.
class UpdateCounts {
 public:
  // `memtable_bytes` is the most that RocksDB keeps in one memtable.
  explicit UpdateCounts(uint64_t memtable_bytes)
      : place_count_(std::bit_floor(
            std::max(memtable_bytes / kMinEntryBytes, kMinPlaces))) {}

  // Counts a write. True: the cell is to be joined now.
  bool Add(uint64_t cell) {
    uint8_t* const places = Places();
    if (places == nullptr) return false;  // there is no memory
    const uint64_t added = added_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (added % place_count_ == 0) {
      for (size_t i = 0; i < place_count_; ++i) Set(&places[i], 0);
    }
    uint8_t* const left = &places[cell % place_count_];
    const uint8_t before =
        std::atomic_ref(*left).load(std::memory_order_relaxed);
    Set(left, (before == 0 ? kMinWrites : before) - 1);
    return before == 1;
  }

  // Notes that a cell was joined, and has so many versions and deletes.
  void Joined(uint64_t cell, size_t entries) {
    uint8_t* const places = Places();
    if (places == nullptr) return;
    Set(&places[cell % place_count_],
        std::clamp<size_t>(entries, kMinWrites, UINT8_MAX));
  }

 private:
  static constexpr size_t kMinWrites = 8;
  static constexpr uint64_t kMinPlaces = 4096;
  // The approximate size of a memtable entry with a short row and value.
  static constexpr uint64_t kMinEntryBytes = 64;

  struct Free {
    void operator()(uint8_t* places) const { std::free(places); }
  };

  // Allocates the places at the first write: `latest` families have none.
  uint8_t* Places() {
    std::call_once(made_, [this] {
      left_.reset(static_cast<uint8_t*>(std::calloc(place_count_, 1)));
    });
    return left_.get();
  }
  static void Set(uint8_t* left, size_t writes) {
    std::atomic_ref(*left).store(static_cast<uint8_t>(writes),
                                 std::memory_order_relaxed);
  }

  const size_t place_count_;
  std::atomic<uint64_t> added_ = 0;
  std::once_flag made_;
  // The writes of each place until the next join; 0: none was counted.
  std::unique_ptr<uint8_t[], Free> left_;
};

}  // namespace rowbloom
