// The live counters of one policy, shared by its builders and readers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/block/lookup.h"
#include "rowbloom/filter_block.h"
#include "rowbloom/filter_policy.h"
#include "storage/filter_policy/thread_counters.h"

namespace rowbloom {

// Counters of the blocks that were made for one level. Thread-safe and exact.
class LevelCounters {
 public:
  LevelCounters(const LevelCounters&) = delete;
  LevelCounters& operator=(const LevelCounters&) = delete;

  // The answers of a thread's last lookup, of one key or of a batch, until
  // NewFilterStatistics' object takes them at a ticker of RocksDB. Each answer
  // counts for the last section that was probed.
  struct LastAnswer {
    struct OfSection {
      uint16_t may = 0;
      uint16_t no = 0;
    };
    LevelCounters* counters = nullptr;  // its policy may be gone
    OfSection row;
    OfSection row_col;
    uint16_t passed = 0;         // keys that may be in the file
    bool row_col_block = false;  // the block has a ROWCOL section

    void Add(MatchResult result);
  };

  // The outcome of a section's last answers.
  struct Observation {
    uint64_t opened = 0;          // files opened on its "may match"
    uint64_t true_positives = 0;  // those that had the key or row
    uint64_t true_negatives = 0;
  };

  // Counts the answer of a block's `lookup` for one key.
  void CountAnswer(const Lookup& lookup, MatchResult result) {
    counters_.Add(result.code(), 1);
    if (Observed()) Remember(lookup, result);
  }
  // The same for the `count` keys of a batch, or of a part of it.
  void CountAnswers(const Lookup& lookup, const BatchAnswers& answers,
                    int count);

  // Counts the outcome of answers of the ROWCOL or the row section.
  void CountObservation(bool row_col, const Observation& seen);

  void CountBuilt(size_t block_bytes, std::chrono::nanoseconds spent) {
    counters_.Add(kBlocksBuilt, 1);
    counters_.Add(kBytesBuilt, block_bytes);
    counters_.Add(kBuildNanos, static_cast<uint64_t>(spent.count()));
  }
  void CountFailed() { counters_.Add(kBlocksFailed, 1); }
  void CountOpened(bool usable, size_t block_bytes) {
    counters_.Add(kBlocksOpened, 1);
    if (!usable) counters_.Add(kBlocksUnusable, 1);
    counters_.Add(kBytesOpened, block_bytes);
  }
  void CountClosed(size_t block_bytes) {
    counters_.Add(kBytesClosed, block_bytes);
  }
  void CountBuiltinOpened() { counters_.Add(kBuiltinBlocksOpened, 1); }

  FilterStats Read() const;

  // Returns counters at zero for one policy, until its GiveBack. May throw
  // std::bad_alloc.
  static LevelCounters* Take();
  void GiveBack();

  // The last answer of this thread, recorded while an Observer exists.
  static LastAnswer& ThreadLastAnswer() { return last_; }

  // While an Observer exists, each thread's last answer is recorded.
  class Observer {
   public:
    Observer() { observers_.fetch_add(1, std::memory_order_relaxed); }
    ~Observer() { observers_.fetch_sub(1, std::memory_order_relaxed); }
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
  };

 private:
  // Slots of counters_: one for each code of a result, three for the
  // observations of each section, and those of blocks.
  enum Slot : size_t {
    kRow = MatchResult::kCodes,
    kRowCol = kRow + 3,
    kBlocksBuilt = kRowCol + 3,
    kBlocksFailed,
    kBytesBuilt,
    kBuildNanos,
    kBlocksOpened,
    kBlocksUnusable,
    kBytesOpened,
    kBytesClosed,
    kBuiltinBlocksOpened,
    kSlots
  };
  static_assert(kSlots <= ThreadCounters::kSlots);

  static bool Observed() {
    return observers_.load(std::memory_order_relaxed) > 0;
  }
  LevelCounters() = default;
  void Remember(const Lookup& lookup, MatchResult result);
  uint64_t Difference(size_t more, size_t less) const;
  void ReadObservation(size_t slot, SectionStats* section) const;

  static constinit thread_local LastAnswer last_;
  static constinit std::atomic<int> observers_;

  ThreadCounters counters_;
  LevelCounters* next_unused_ = nullptr;
};

// All counters of one policy. Thread-safe.
class FilterCounters {
 public:
  // The counters of one level, -1 to 255, which live as long as this. May throw
  // std::bad_alloc.
  LevelCounters* At(int level);

  // The counters of each level. May throw std::bad_alloc.
  std::vector<LevelFilterStats> Read() const;

 private:
  struct GiveBack {
    void operator()(LevelCounters* counters) const { counters->GiveBack(); }
  };
  using Owned = std::unique_ptr<LevelCounters, GiveBack>;

  mutable std::mutex mutex_;
  std::map<int, Owned> levels_;
};

}  // namespace rowbloom
