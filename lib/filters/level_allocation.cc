#include "rowbloom/level_allocation.h"

#include <algorithm>
#include <cmath>

#include "lib/filters/rate_table.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

// The rates proportional to `entries`, within what a filter can have.
std::vector<double> ProportionalRates(std::span<const double> entries,
                                      double rate_per_entry,
                                      double max_bits_per_key) {
  const RateTable& table = RateTable::Get();
  const double lowest = table.Rate(max_bits_per_key);
  const double highest = table.Rate(kMinBitsPerKey);
  std::vector<double> rates;
  for (const double n : entries) {
    rates.push_back(std::clamp(n * rate_per_entry, lowest, highest));
  }
  return rates;
}

double TotalBits(std::span<const double> entries,
                 std::span<const double> rates) {
  double bits = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    bits += entries[i] * RateTable::Get().Bits(rates[i]);
  }
  return bits;
}

// Entries of each run from level 0 down, with 1 at the last level.
std::vector<double> RunEntries(const LevelShape& shape) {
  std::vector<double> entries;
  for (uint32_t level = 1; level <= shape.levels; ++level) {
    entries.push_back(
        std::pow(shape.size_ratio, static_cast<double>(level) - shape.levels));
  }
  const std::vector<double> level0(shape.level0_files,
                                   entries.front() / shape.level0_files);
  entries.insert(entries.begin(), level0.begin(), level0.end());
  return entries;
}

}  // namespace

std::string Problem(const LevelShape& shape) {
  if (shape.levels < 1 || shape.levels > LevelShape::kMaxLevels) {
    return "levels " + std::to_string(shape.levels) + ": expected 1 to " +
           std::to_string(LevelShape::kMaxLevels);
  }
  if (!(shape.size_ratio >= 1 &&
        shape.size_ratio <= LevelShape::kMaxSizeRatio)) {
    return "size_ratio " + std::to_string(shape.size_ratio) +
           ": expected 1 to " +
           std::to_string(static_cast<int>(LevelShape::kMaxSizeRatio));
  }
  if (shape.level0_files < 1 ||
      shape.level0_files > LevelShape::kMaxLevel0Files) {
    return "level0_files " + std::to_string(shape.level0_files) +
           ": expected 1 to " + std::to_string(LevelShape::kMaxLevel0Files);
  }
  return "";
}

std::vector<double> OptimalRates(std::span<const double> entries,
                                 double uniform_rate, double max_bits_per_key) {
  double total = 0;
  for (const double n : entries) total += n;
  const double budget = total * RateTable::Get().Bits(uniform_rate);
  // On a logarithmic scale, from where every run has the most bits to where
  // every run has the fewest; runs of next to nothing do not count.
  double low = std::log(1e-12 / std::ranges::max(entries));
  double high = std::log(1 / (1e-12 * std::ranges::max(entries)));
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    const double bits = TotalBits(
        entries,
        ProportionalRates(entries, std::exp(middle), max_bits_per_key));
    (bits > budget ? low : high) = middle;
  }
  return ProportionalRates(entries, std::exp(high), max_bits_per_key);
}

LevelPlan::LevelPlan(const LevelShape& shape, double uniform_rate)
    : shape_(shape),
      rates_(
          OptimalRates(RunEntries(shape), uniform_rate,
                       kMaxBitsFactor * RateTable::Get().Bits(uniform_rate))) {
  // The files of level 0 have one rate.
  rates_.erase(rates_.begin() + 1, rates_.begin() + shape.level0_files);
}

size_t LevelPlan::Index(int level, int num_levels, bool is_bottommost) const {
  const auto levels = static_cast<int>(shape_.levels);
  if (is_bottommost) return shape_.levels;
  if (level <= 0) return 0;
  const int last = shape_.dynamic_level_bytes ? num_levels - 1 : levels;
  // Something is below it, whatever the shape says.
  const int below = std::max(1, last - level);
  return static_cast<size_t>(std::max(1, levels - below));
}

}  // namespace rowbloom
