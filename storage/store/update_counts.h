// Counts of the writes of `versioned` cells that RocksDB keeps one by one.
//
// Each write is a merge operand, and a get merges those that it finds: a cell
// that is written often would cost more with each write until it is flushed. So
// the writer joins the operands of a cell once there are some. A join rewrites
// all versions of the cell: the next one comes after as many writes as there
// were versions, so that a write costs the same on average.
//
// Counts are those of Misra and Gries (Finding repeated elements, 1982): they
// forget cells that are rarely written, and are too small by at most one for
// each kMaxCells writes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace rowbloom {

// Not thread-safe. Cells are known by hashes: two that share one are joined
// sooner.
class UpdateCounts {
 public:
  // Counts a write. True: the cell is to be joined now.
  bool Add(uint64_t cell) {
    const auto found = counts_.find(cell);
    if (found != counts_.end()) {
      return ++found->second.writes >= found->second.join_at;
    }
    if (counts_.size() < kMaxCells) {
      counts_.emplace(cell, Count{1, kMinWrites});
    } else {
      for (auto& [id, known] : counts_) known.writes -= known.writes > 0;
      std::erase_if(counts_,
                    [](const auto& known) { return known.second.writes == 0; });
    }
    return false;
  }

  // The cell was joined, and has so many versions and deletes.
  void Joined(uint64_t cell, size_t entries) {
    counts_.insert_or_assign(cell, Count{0, std::max(kMinWrites, entries)});
  }

 private:
  static constexpr size_t kMaxCells = 64;
  static constexpr size_t kMinWrites = 8;

  struct Count {
    size_t writes;
    size_t join_at;
  };
  std::unordered_map<uint64_t, Count> counts_;
};

}  // namespace rowbloom
