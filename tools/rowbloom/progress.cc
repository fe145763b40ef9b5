#include "tools/rowbloom/progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace rowbloom::cli {
namespace {

constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

Progress::Progress(std::ostream& err, bool enabled, std::string_view unit)
    : err_(err), enabled_(enabled), unit_(unit) {}

Progress::~Progress() {
  if (!printed_) return;
  Print();
  err_ << "\n" << std::flush;
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::Update(uint64_t bytes, uint64_t count) {
  bytes_ = bytes;
  count_ = count;
  if (!enabled_) return;
  const auto now = Clock::now();
  if (printed_ && now - *printed_ < kInterval) return;
  printed_ = now;
  Print();
}

void Progress::Print() {
  const double rate = static_cast<double>(count_) / std::max(seconds(), 1e-3);
  // Fixed widths, so that a shorter line covers a longer one.
  err_ << fmt::format("\r{:9.1f} MB read {:12} {} {:10.0f} {}/s",
                      static_cast<double>(bytes_) / 1e6, count_, unit_, rate,
                      unit_)
       << std::flush;
}

}  // namespace rowbloom::cli
