// The live counters of one policy, shared by its builders and readers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/kernels/matcher.h"
#include "rowbloom/filter_block.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom {

// How often questions ended, by the section that had the last word.
struct LastWords {
  uint16_t row_no = 0;
  uint16_t row_may = 0;
  uint16_t row_col_no = 0;
  uint16_t row_col_may = 0;
};

// What the sections of a block said to one question, as a number.
inline constexpr size_t kVerdicts = 4;
inline constexpr size_t kOutcomes = kVerdicts * kVerdicts;
constexpr uint8_t OutcomeIndex(const MatchResult& result) {
  return static_cast<uint8_t>(static_cast<size_t>(result.row) * kVerdicts +
                              static_cast<size_t>(result.row_col));
}

// Counters of the blocks of one origin. Thread-safe and exact.
class OriginCounters {
 public:
  OriginCounters() = default;
  ~OriginCounters() { delete others_.load(std::memory_order_acquire); }
  OriginCounters(const OriginCounters&) = delete;
  OriginCounters& operator=(const OriginCounters&) = delete;

  // What a thread's last question was answered, until NewFilterStatistics'
  // object learns what RocksDB made of it.
  struct LastAnswer {
    // May be the counters of a policy that is gone: they are used again, never
    // freed.
    OriginCounters* counters = nullptr;
    LastWords words;
    bool row_col_block = false;  // the block has a ROWCOL section
  };

  // What RocksDB found where a section had the last word.
  struct Observation {
    uint64_t opened = 0;          // files opened on its "may match"
    uint64_t true_positives = 0;  // of these, that had it
    uint64_t true_negatives = 0;
  };

  void CountAnswer(const MatchResult& result, bool row_col_block);
  void CountAnswer(Answer answer, bool row_col_block);

  // The same for the answers of one batch.
  void CountAnswers(const BatchAnswers& answers, size_t keys,
                    bool row_col_block);
  void CountAnswers(const MatchResult* results, size_t count,
                    bool row_col_block);

  void CountRow(const Observation& seen) { CountObservation(0, seen); }
  void CountRowCol(const Observation& seen) { CountObservation(1, seen); }

  void CountBuilt(size_t block_bytes, uint64_t nanos) {
    Add(&blocks_built_, 1);
    Add(&bytes_built_, block_bytes);
    Add(&build_nanos_, nanos);
  }
  void CountFailed() { Add(&blocks_failed_, 1); }
  void CountOpened(bool usable, size_t block_bytes) {
    Add(&blocks_opened_, 1);
    if (!usable) Add(&blocks_unusable_, 1);
    Add(&bytes_loaded_, block_bytes);
  }
  void CountClosed(size_t block_bytes) { Add(&bytes_loaded_, -block_bytes); }
  void CountBuiltinOpened() { Add(&builtin_blocks_opened_, 1); }

  FilterStats Read() const;

  // REQUIRES that no policy uses them.
  void Reset();

  // Where a kernel counts by itself, by Answer, what nobody observes.
  StripedCounters* answers() { return &answers_; }

  // Of this thread. Kept up by CountAnswer and CountAnswers.
  static LastAnswer& ThreadLastAnswer() { return last_; }

  // While one lives, somebody wants to know each thread's last answer.
  class Observer {
   public:
    Observer() { observers_.fetch_add(1, std::memory_order_relaxed); }
    ~Observer() { observers_.fetch_sub(1, std::memory_order_relaxed); }
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
  };
  static bool Observed() {
    return observers_.load(std::memory_order_relaxed) > 0;
  }

 private:
  using Counter = std::atomic<uint64_t>;

  // Slots of others_: by OutcomeIndex, of blocks that have no kernel; by
  // section, ROW first, opened, true positives, true negatives.
  static constexpr size_t kObservedAt = kOutcomes;
  static constexpr size_t kObservedOfSection = 3;
  static constexpr size_t kOthers = kObservedAt + 2 * kObservedOfSection;
  struct Others {
    static constexpr size_t kSlots = StripedCounters::kSlots;
    std::array<StripedCounters, (kOthers + kSlots - 1) / kSlots> counters;
  };

  static void Add(Counter* counter, uint64_t value) {
    counter->fetch_add(value, std::memory_order_relaxed);
  }
  // Field by field: a copy of the whole would wait for its parts.
  void Remember(const LastWords& words, bool row_col_block) {
    if (!Observed()) return;
    last_.counters = this;
    last_.words = words;
    last_.row_col_block = row_col_block;
  }
  void CountObservation(size_t section, const Observation& seen);
  // Of a slot of others_. Without memory for them nothing is counted.
  void AddOther(size_t slot, uint64_t times);
  uint64_t SumOfOther(size_t slot) const;

  static constinit thread_local LastAnswer last_;
  static constinit std::atomic<int> observers_;

  StripedCounters answers_;               // by Answer, of kernels
  std::atomic<Others*> others_{nullptr};  // made when first needed
  Counter blocks_built_{0};
  Counter blocks_failed_{0};
  Counter bytes_built_{0};
  Counter build_nanos_{0};
  Counter blocks_opened_{0};
  Counter blocks_unusable_{0};
  Counter bytes_loaded_{0};
  Counter builtin_blocks_opened_{0};
};

// All counters of one policy. Thread-safe.
class FilterCounters {
 public:
  // Those of one origin, which live as long as this. Origins beyond
  // kMaxOrigins, which blocks of unknown source may name, share those of the
  // unknown one. May throw std::bad_alloc.
  OriginCounters* Of(const FileOrigin& origin);

  // By column family, then level. May throw std::bad_alloc.
  std::vector<LevelFilterStats> Read() const;

 private:
  static constexpr size_t kMaxOrigins = size_t{1} << 13;

  struct GiveBack {
    void operator()(OriginCounters* counters) const;
  };
  using Owned = std::unique_ptr<OriginCounters, GiveBack>;

  mutable std::mutex mutex_;
  std::map<FileOrigin, Owned> origins_;
};

}  // namespace rowbloom
