#include "tools/cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "tools/cli/text.h"

namespace rowbloom::cli {
namespace {

constexpr std::chrono::milliseconds kInterval{100};
constexpr const char* kErase = "\x1b[K";

// With this limit most lines fit into 80 columns: a line that wraps cannot be
// rewritten.
constexpr size_t kTitleBytes = 24;

std::string Duration(double seconds) {
  constexpr double kLongestSeconds = 99 * 3600;
  if (seconds > kLongestSeconds) return "days";
  const auto whole = static_cast<uint64_t>(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60,
                     whole % 60);
}

}  // namespace

std::string ProgressText(const Job& job, const JobState& state) {
  // The end of a path tells more than its start.
  std::string text =
      job.title.size() <= kTitleBytes
          ? job.title
          : "..." + job.title.substr(job.title.size() - kTitleBytes + 3);
  const uint64_t total_bytes = job.total_bytes.value_or(0);
  const bool is_counted = total_bytes == 0 && state.total_count > 0;
  const auto done = static_cast<double>(is_counted ? state.count : state.bytes);
  const auto total =
      static_cast<double>(is_counted ? state.total_count : total_bytes);
  // The job may be larger than expected.
  const auto share = std::floor(std::min(100.0, 100 * done / total));
  const double seconds = std::max(state.seconds, 1e-3);
  const auto rate =
      static_cast<uint64_t>(static_cast<double>(state.count) / seconds);
  if (is_counted) {
    text += fmt::format(": {:.0f} % of {} {}, {} {}/s", share,
                        Grouped(state.total_count), job.unit, Grouped(rate),
                        job.unit);
  } else {
    text += total_bytes > 0 ? fmt::format(": {:.0f} % of {}", share,
                                          HumanBytes(total_bytes))
                            : ": " + HumanBytes(state.bytes);
    const auto bytes_per_second = static_cast<uint64_t>(
        std::min(1e19, static_cast<double>(state.bytes) / seconds));
    text += job.unit.empty()
                ? fmt::format(", {}/s", HumanBytes(bytes_per_second))
                : fmt::format(", {} {}, {} {}/s", Grouped(state.count),
                              job.unit, Grouped(rate), job.unit);
  }
  if (total > 0 && done > 0 && state.seconds >= 1) {
    const double left = std::max(0.0, (total - done) / done * seconds);
    text += fmt::format(", {} left", Duration(left));
  }
  return text;
}

Progress::Progress(const Diagnostics& err, Job job, Clock clock)
    : err_(err),
      job_(std::move(job)),
      clock_(std::move(clock)),
      start_(clock_()) {}

Progress::~Progress() { Finish(); }

void Progress::Update(uint64_t bytes, uint64_t count, uint64_t total_count) {
  if (!err_.is_terminal) return;
  const auto now = clock_();
  if (printed_ && now - *printed_ < kInterval) return;
  printed_ = now;
  err_.stream << "\r"
              << ProgressText(
                     job_, {bytes, count, (now - start_).count(), total_count})
              << kErase << "\r" << std::flush;
}

void Progress::Finish() {
  if (!printed_) return;
  printed_.reset();
  err_.stream << "\r" << kErase << std::flush;
}

std::chrono::duration<double> Progress::SteadyClock() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace rowbloom::cli
