#include "lib/plan/level_plan.h"

#include <algorithm>
#include <cmath>

#include "lib/plan/kind_bits.h"
#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

// The number of the last level with data, in a tree of `num_levels`.
int LastLevel(const LevelShape& shape, int num_levels) {
  return shape.dynamic_level_bytes ? num_levels - 1
                                   : static_cast<int>(shape.levels);
}

}  // namespace

std::vector<double> LevelEntries(const LevelShape& shape) {
  std::vector<double> entries(1);
  for (uint32_t level = 1; level <= shape.levels; ++level) {
    entries.push_back(
        std::pow(shape.size_ratio, static_cast<double>(level) - shape.levels));
  }
  entries[0] = entries[1] / shape.level0_files;
  return entries;
}

int LevelAt(const LevelShape& shape, size_t index, int num_levels) {
  if (index == 0) return 0;
  const int above = static_cast<int>(shape.levels) - static_cast<int>(index);
  return std::max(1, LastLevel(shape, num_levels) - above);
}

size_t LevelIndex(const LevelShape& shape, int level, int num_levels,
                  bool is_bottommost) {
  if (is_bottommost) return shape.levels;
  if (level <= 0) return 0;
  // A file that is not bottommost has a level below it.
  const int below = std::max(1, LastLevel(shape, num_levels) - level);
  return static_cast<size_t>(
      std::max(1, static_cast<int>(shape.levels) - below));
}

std::vector<double> LevelRates(const LevelShape& shape, BloomType bloom_type,
                               std::span<const FilterKind> kinds,
                               double uniform_rate) {
  const double uniform_bits = KindBits(FilterKind::kBloom, uniform_rate);
  const double lowest =
      KindRate(FilterKind::kBloom, kMaxBitsFactor * uniform_bits);
  double highest = KindRate(FilterKind::kBloom, kMinBitsPerKey);
  if (bloom_type == BloomType::kRowCol) {
    highest = std::min(
        highest, kMaxRateFactor * KindRate(FilterKind::kBloom, uniform_bits));
  }
  const std::vector<double> run_entries = LevelEntries(shape);
  std::vector<double> level_entries = run_entries;
  level_entries[0] *= shape.level0_files;
  const auto bits_per_key = [&kinds](size_t level, double rate) {
    return KindBits(kinds[std::min(level, kinds.size() - 1)], rate);
  };

  double budget = 0;
  std::vector<double> weights;
  // Away from the limits of the kinds, where half the rate costs no bits.
  const double rate = std::clamp(uniform_rate, 1e-6, 0.4);
  for (size_t i = 0; i < run_entries.size(); ++i) {
    budget += level_entries[i] * bits_per_key(i, uniform_rate);
    weights.push_back(run_entries[i] *
                      (bits_per_key(i, rate / 2) - bits_per_key(i, rate)));
  }
  std::vector<double> rates(weights.size());
  // Sets the rates to the weights times a factor, and returns their bits.
  const auto bits_with = [&](double factor) {
    double bits = 0;
    for (size_t i = 0; i < rates.size(); ++i) {
      rates[i] = std::clamp(weights[i] * factor, lowest, highest);
      bits += level_entries[i] * bits_per_key(i, rates[i]);
    }
    return bits;
  };
  // Bisection of the factor on a logarithmic scale, from the most bits for
  // every run to the fewest; the smallest runs do not count.
  double low = std::log(1e-12 / std::ranges::max(weights));
  double high = std::log(1 / (1e-12 * std::ranges::max(weights)));
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (bits_with(std::exp(middle)) > budget ? low : high) = middle;
  }
  bits_with(std::exp(high));
  return rates;
}

}  // namespace rowbloom
