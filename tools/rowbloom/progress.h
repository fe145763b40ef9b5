// A line on a terminal that says how far a job is.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

namespace rowbloom::cli {

// Rewrites one line, at most ten times a second; silent when not enabled. The
// destructor leaves the last state on the screen and ends the line.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  // Prints to `err`, which must outlive it. `unit` is what is counted.
  Progress(std::ostream& err, bool enabled, std::string_view unit = "cells");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(uint64_t bytes, uint64_t count);

  double seconds() const;

 private:
  void Print();

  std::ostream& err_;
  const bool enabled_;
  const Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> printed_;
  uint64_t bytes_ = 0;
  const std::string_view unit_;
  uint64_t count_ = 0;
};

}  // namespace rowbloom::cli
