// The counts of a run, and the divergences that it finds.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "rowbloom/filter_policy.h"
#include "rowbloom/front_filter.h"

namespace rowbloom::stress {

struct Counters {
  std::atomic<uint64_t> rounds{0};
  std::atomic<uint64_t> operations{0};
  std::atomic<uint64_t> reads_checked{0};
  std::atomic<uint64_t> reopenings{0};
  std::atomic<uint64_t> kills{0};
  std::atomic<uint64_t> cuts{0};  // power cuts
  std::atomic<uint64_t> family_changes{0};
  std::atomic<uint64_t> faults{0};   // calls of the file system that failed
  std::atomic<uint64_t> damages{0};  // filter blocks read with wrong bytes
  std::atomic<uint64_t> errors{0};   // reads that answered with an error
  std::atomic<uint64_t> questions{0};
  std::atomic<uint64_t> skips{0};
  std::atomic<uint64_t> front_questions{0};
  std::atomic<uint64_t> front_absent{0};
  std::atomic<uint64_t> unusable{0};
  std::atomic<uint64_t> divergences{0};
};

// The errors that a call may answer beside the right answer.
enum class Errors { kNone, kIoErrorOrCorruption };

// Thread-safe, but for SetContext.
class Report {
 public:
  // Sets the text that a divergence is printed with: seed, round, options. Not
  // while other threads use the report.
  void SetContext(std::string context) { context_ = std::move(context); }
  const std::string& context() const { return context_; }

  // Prints a wrong answer; `key` may be empty.
  void Divergence(const std::string& what, std::string_view key = {});
  bool failed() const { return counters.divergences != 0; }
  // Reports a counter that is what it was before, unless something diverged.
  void ExpectMore(uint64_t now, uint64_t before, const char* otherwise) {
    if (!failed() && now == before) Divergence(otherwise);
  }

  void AddFilterStats(const FilterStats& stats);
  void AddFrontFilterStats(const FrontFilterStats& stats);
  void PrintSummary() const;

  Counters counters;

 private:
  std::string context_;
  std::mutex mutex_;
};

}  // namespace rowbloom::stress
