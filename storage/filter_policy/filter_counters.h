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

// Counters of the blocks of one origin. Thread-safe and exact. The first
// kOwnedStripes threads have a stripe of counters each, which nobody else
// writes: counting is a load, an addition and a store. All further threads
// share one, with atomic additions. A stripe is made when its thread first
// counts.
class OriginCounters {
 public:
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

  void CountAnswer(const MatchResult& result, bool row_col_block) {
    CountOutcome(OutcomeIndex(result), row_col_block);
  }
  void CountAnswer(Answer answer, bool row_col_block) {
    CountOutcome(kOutcomeOfAnswer[static_cast<size_t>(answer)], row_col_block);
  }

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

  // Of this thread.
  static LastAnswer& ThreadLastAnswer() { return thread_.last; }

 private:
  static constexpr size_t kOwnedStripes = 63;
  static constexpr size_t kSharedStripe = kOwnedStripes;
  static constexpr size_t kNoStripe = ~size_t{0};

  using Counter = std::atomic<uint64_t>;

  struct alignas(64) Stripe {
    std::array<Counter, kOutcomes> outcomes{};
    // By section, ROW first: opened, true positives, true negatives.
    std::array<Counter, 6> observed{};
  };

  struct ThreadState {
    size_t stripe = kNoStripe;
    LastAnswer last;
  };

  static constexpr std::array<uint8_t, kAnswers> kOutcomeOfAnswer = {
      OutcomeIndex({}), OutcomeIndex({.row = Verdict::kMayMatch}),
      OutcomeIndex({.row = Verdict::kNoMatch}),
      OutcomeIndex({.row = Verdict::kMayMatch, .row_col = Verdict::kMayMatch}),
      OutcomeIndex({.row = Verdict::kMayMatch, .row_col = Verdict::kNoMatch})};
  static constexpr std::array<LastWords, kOutcomes> MakeLastWords();
  static const std::array<LastWords, kOutcomes> kLastWords;

  static void Add(Counter* counter, uint64_t value) {
    counter->fetch_add(value, std::memory_order_relaxed);
  }

  template <size_t kSize>
  void Count(std::array<Counter, kSize> Stripe::*counters, size_t index,
             uint64_t times) {
    const size_t number =
        thread_.stripe != kNoStripe ? thread_.stripe : TakeStripe();
    Stripe* stripe = stripes_[number].load(std::memory_order_acquire);
    if (stripe == nullptr && (stripe = MakeStripe(number)) == nullptr) return;
    Counter& counter = (stripe->*counters)[index];
    if (number != kSharedStripe) {
      counter.store(counter.load(std::memory_order_relaxed) + times,
                    std::memory_order_relaxed);
    } else {
      Add(&counter, times);
    }
  }
  void CountOutcome(size_t index, bool row_col_block) {
    // Field by field: a copy of the whole would wait for its parts.
    LastAnswer& last = thread_.last;
    last.counters = this;
    last.words = kLastWords[index];
    last.row_col_block = row_col_block;
    Count(&Stripe::outcomes, index, 1);
  }
  void CountObservation(size_t section, const Observation& seen);

  static size_t TakeStripe() noexcept;
  // nullptr when out of memory.
  Stripe* MakeStripe(size_t number) noexcept;

  static constinit thread_local ThreadState thread_;

  std::array<std::atomic<Stripe*>, kOwnedStripes + 1> stripes_{};
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
  static constexpr size_t kMaxOrigins = size_t{1} << 14;

  struct GiveBack {
    void operator()(OriginCounters* counters) const;
  };
  using Owned = std::unique_ptr<OriginCounters, GiveBack>;

  mutable std::mutex mutex_;
  std::map<FileOrigin, Owned> origins_;
};

}  // namespace rowbloom
