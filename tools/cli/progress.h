// A line on a terminal that says how far a job is.
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
  // The name of what is read; fit for a terminal.
  std::string title;
  // nullopt: unknown, so that neither share nor time left is shown.
  std::optional<uint64_t> total_bytes;
  // The unit that is counted, beside bytes: "cells". Empty: none is.
  std::string unit;
};

// The part of a job that is done.
struct JobState {
  uint64_t bytes = 0;
  uint64_t count = 0;  // in Job::unit
  double seconds = 0;  // since it began
  // The count at the end, where the bytes are unknown; 0: unknown too.
  uint64_t total_count = 0;
};

// "cells.tsv: 42 % of 123.4 MiB, 1,234,567 cells, 456,789 cells/s, 0:12 left";
// of a long title the end. Where the total count is known and the bytes are
// not, the share is of that: "orders: 42 % of 2,939,445 cells, 456,789 cells/s,
// ...". Without a unit the rate is that of bytes; the time left is shown once a
// second has passed. Thread-safe.
std::string ProgressText(const Job& job, const JobState& state);

// Rewrites one line of a terminal, at most ten times a second; silent
// elsewhere. The
// cursor stays at its start, so that other output covers it. Not thread-safe.
class Progress {
 public:
  // The time since some fixed point; never goes back.
  using Clock = std::function<std::chrono::duration<double>()>;

  // Prints to `err`, whose stream must outlive it.
  Progress(const Diagnostics& err, Job job, Clock clock = SteadyClock);
  // Finish.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `bytes` and `count` are what is done altogether, `total_count` as in
  // JobState.
  void Update(uint64_t bytes, uint64_t count = 0, uint64_t total_count = 0);

  // Erases the line. A later Update shows it again.
  void Finish();

  // Since it was made.
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
