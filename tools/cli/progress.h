// A line on a terminal that shows the progress of a job.
//
//   Progress progress(err, {"cells.tsv", bytes, "cells"});
//   while (...) progress.Update(bytes_read, cells_read);
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tools/cli/report.h"

namespace rowbloom::cli {

struct Job {
  // The name of the input, without control characters.
  std::string title;
  // nullopt: unknown; then neither share nor time left is shown.
  std::optional<uint64_t> total_bytes;
  // The unit that is counted besides bytes: "cells". Empty: none.
  std::string unit;
};

// The part of a job that is done.
struct JobState {
  uint64_t bytes = 0;
  uint64_t count = 0;  // in Job::unit
  double seconds = 0;  // since it began
  // The count at the end, used if Job::total_bytes is unknown; 0: unknown, too.
  uint64_t total_count = 0;
};

// Returns "cells.tsv: 42 % of 123.4 MiB, 1,234,567 cells, 456,789 cells/s, 0:12
// left". A long title is cut to its end. If only the total count is known, the
// share is that of the count: "orders: 42 % of 2,939,445 cells, 456,789
// cells/s, ...". Without a unit the rate is that of bytes. The time left is
// shown after one second. Thread-safe.
std::string ProgressText(const Job& job, const JobState& state);

// Rewrites one line of a terminal at most ten times a second, and prints
// nothing elsewhere. The cursor stays at the start of the line, so that other
// output covers it. Not thread-safe.
class Progress {
 public:
  // Returns the time since a fixed point; it never decreases.
  using Clock = std::function<std::chrono::duration<double>()>;

  // Prints to `err`, whose stream must outlive it.
  Progress(const Diagnostics& err, Job job, Clock clock = SteadyClock);
  // Calls Finish.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows the totals so far, `bytes` and `count`; `total_count` as in JobState.
  void Update(uint64_t bytes, uint64_t count = 0, uint64_t total_count = 0);

  // Erases the line. A later Update shows it again.
  void Finish();

  // Returns the time since construction.
  double seconds() const { return (clock_() - start_).count(); }

 private:
  static std::chrono::duration<double> SteadyClock();

  const Diagnostics err_;
  const Job job_;
  const Clock clock_;
  const std::chrono::duration<double> start_;
  std::optional<std::chrono::duration<double>> printed_;  // nullopt: not shown
};

}  // namespace rowbloom::cli
