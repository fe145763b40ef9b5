#include "tests/stress/report.h"

#include <cstdio>

#include "tests/support/hex.h"

namespace rowbloom::stress {

namespace {
constexpr uint64_t kPrinted = 10;  // one fault can have many consequences
}

void Report::Divergence(const std::string& what, std::string_view key) {
  const std::scoped_lock lock(mutex_);
  if (++counters.divergences > kPrinted) return;
  std::printf("DIVERGENCE %s\n  key (hex) %s\n  %s\n", what.c_str(),
              test::ToHex(key).c_str(), context_.c_str());
  std::fflush(stdout);
}

void Report::AddFilterStats(const FilterStats& stats) {
  counters.questions += stats.asked;
  counters.skips += stats.asked - stats.may_match;
  counters.unusable +=
      stats.blocks_unusable + stats.row.unusable + stats.row_col.unusable;
}

void Report::AddFrontFilterStats(const FrontFilterStats& stats) {
  counters.front_questions += stats.asked;
  counters.front_absent += stats.answered;
}

void Report::PrintSummary() const {
  const auto print = [](const char* name, uint64_t count) {
    std::printf("%-27s %llu\n", name, static_cast<unsigned long long>(count));
  };
  print("rounds", counters.rounds);
  print("operations", counters.operations);
  print("reads checked", counters.reads_checked);
  print("reopenings", counters.reopenings);
  print("crashes survived", counters.kills);
  print("power cuts survived", counters.cuts);
  print("changes of families", counters.family_changes);
  print("faults injected", counters.faults);
  print("filter blocks damaged", counters.damages);
  print("reads with an error", counters.errors);
  print("filter questions", counters.questions);
  print("filter skips", counters.skips);
  print("front filter questions", counters.front_questions);
  print("front filter absent answers", counters.front_absent);
  print("unusable filters met", counters.unusable);
  print("divergences", counters.divergences);
}

}  // namespace rowbloom::stress
