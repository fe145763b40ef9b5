#include "lib/plan/level_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "lib/plan/kind_bits.h"
#include "rowbloom/bloom_math.h"
#include "tests/support/random.h"
#include "tests/support/stride.h"

namespace rowbloom {
namespace {

using testing::Each;
using testing::Gt;
using testing::IsEmpty;
using testing::Le;
using testing::Lt;
using testing::StartsWith;

double Sum(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

constexpr std::array kKinds = {FilterKind::kBloom, FilterKind::kRibbon};

double Bits(FilterKind kind, double rate) {
  const double bloom = KindBits(FilterKind::kBloom, rate);
  return kind == FilterKind::kBloom ? bloom
                                    : std::min(bloom, RibbonBitsPerKey(rate));
}

double TotalBits(const std::vector<double>& entries,
                 const std::vector<double>& rates,
                 FilterKind kind = FilterKind::kBloom) {
  double bits = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    bits += entries[i] * Bits(kind, rates[i]);
  }
  return bits;
}

// The rates of levels that have one kind.
std::vector<double> RatesOf(const LevelShape& shape, BloomType type,
                            FilterKind kind, double rate) {
  return LevelRates(shape, type, {&kind, 1}, rate);
}

// The runs of each level: as many at level 0 as there are files.
std::vector<double> AllRuns(std::vector<double> by_level,
                            uint32_t level0_files) {
  by_level.insert(by_level.begin(), level0_files - 1, by_level[0]);
  return by_level;
}

// The least sum of rates from `lowest` to `highest` within the budget of
// `uniform_rate`, by trying all ways to give level 0 and the first of two other
// levels rates in small steps; the last level has what is left.
double BruteForceSum(FilterKind kind, const LevelShape& shape,
                     double uniform_rate, double lowest, double highest) {
  constexpr double kStep = 0.05;  // of the logarithm of the rate
  const double files = shape.level0_files;
  std::vector<double> entries = LevelEntries(shape);
  entries[0] *= files;
  std::vector<std::pair<double, double>> choices;  // rate, bits
  for (double rate = std::min(highest, FalsePositiveRate(1)); rate > lowest;
       rate *= std::exp(-kStep)) {
    choices.emplace_back(rate, Bits(kind, rate));
  }
  choices.emplace_back(lowest, Bits(kind, lowest));
  const double budget = Sum(entries) * Bits(kind, uniform_rate);
  double least = files + 2;
  for (const auto& [a, a_bits] : choices) {
    for (const auto& [b, b_bits] : choices) {
      const double left =
          (budget - entries[0] * a_bits - entries[1] * b_bits) / entries[2];
      const auto c = std::ranges::upper_bound(
          choices, left, {}, &std::pair<double, double>::second);
      if (c != choices.begin()) {
        least = std::min(least, files * a + b + c[-1].first);
      }
    }
  }
  return least;
}

TEST(LevelRates, AreAsGoodAsTheBestOfAllTried) {
  uint64_t combination = 0;
  for (const FilterKind kind : kKinds) {
    // Entries of a file at level 0, and of the others: 1, 10 and 100; 1, 1, 1;
    // 1, 4, 16; 3, 50, 60; 0.001, 1, 1.
    for (const LevelShape& shape :
         {LevelShape{.levels = 2, .size_ratio = 10, .level0_files = 10},
          {.levels = 2, .size_ratio = 1, .level0_files = 1},
          {.levels = 2, .size_ratio = 4, .level0_files = 4},
          {.levels = 2, .size_ratio = 1.2, .level0_files = 17},
          {.levels = 2, .size_ratio = 1, .level0_files = 1000}}) {
      for (const double rate : {0.2, 0.05, 0.01, 0.001}) {
        for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
          if (combination++ % test::Stride(9) != 0) continue;
          SCOPED_TRACE(testing::Message()
                       << ToString(kind) << ", ratio " << shape.size_ratio
                       << ", " << shape.level0_files << " files, " << rate
                       << ", " << ToString(type));
          const double lowest =
              FalsePositiveRate(kMaxBitsFactor * BitsPerKey(rate));
          const double highest =
              type == BloomType::kRowCol ? kMaxRateFactor * rate : 1;
          const std::vector<double> rates =
              AllRuns(RatesOf(shape, type, kind, rate), shape.level0_files);
          const std::vector<double> entries =
              AllRuns(LevelEntries(shape), shape.level0_files);
          // The table of rates is within 0.5 %.
          EXPECT_GE(std::ranges::min(rates), 0.99 * lowest);
          EXPECT_LE(std::ranges::max(rates), 1.005 * highest);
          // Both tolerances come from the size of the steps.
          EXPECT_LT(Sum(rates),
                    1.03 * BruteForceSum(kind, shape, rate, lowest, highest));
          EXPECT_NEAR(TotalBits(entries, rates, kind) / Sum(entries),
                      Bits(kind, rate), 0.01 * Bits(kind, rate));
        }
      }
    }
  }
}

TEST(LevelRates, OfRunsOfOneSizeAreUniform) {
  for (const FilterKind kind : kKinds) {
    for (const double rate :
         RatesOf({.levels = 6, .size_ratio = 1, .level0_files = 1},
                 BloomType::kRow, kind, 0.01)) {
      EXPECT_NEAR(rate, 0.01, 0.01 * 0.01);
    }
  }
}

TEST(LevelRates, AreProportionalToTheEntries) {
  const std::vector<double> rates =
      RatesOf({.levels = 2, .size_ratio = 4, .level0_files = 4},
              BloomType::kRow, FilterKind::kBloom, 0.01);
  EXPECT_NEAR(rates[1] / rates[0], 4, 1e-6);
  EXPECT_NEAR(rates[2] / rates[1], 4, 1e-6);
}

// A shape of one file at level 0, so that each rate is that of one run.
constexpr LevelShape kRunOfEachLevel = {
    .levels = 2, .size_ratio = 10, .level0_files = 1};

// The rates that spend the budget of one kind do not spend that of the other.
TEST(LevelRates, CountTheBitsOfTheKind) {
  const std::vector<double> entries = LevelEntries(kRunOfEachLevel);
  for (const FilterKind kind : kKinds) {
    const FilterKind other =
        kind == FilterKind::kBloom ? FilterKind::kRibbon : FilterKind::kBloom;
    const std::vector<double> rates =
        RatesOf(kRunOfEachLevel, BloomType::kRow, kind, 0.001);
    const auto spent = [&](FilterKind in) {
      return TotalBits(entries, rates, in) / (Sum(entries) * Bits(in, 0.001));
    };
    EXPECT_NEAR(spent(kind), 1, 1e-6);
    EXPECT_GT(std::abs(spent(other) - 1), 0.002);
  }
}

// Kinds that differ: no shift of bits between two levels is better.
TEST(LevelRates, OfMixedKindsAreBest) {
  const std::array kinds = {FilterKind::kBloom, FilterKind::kBloom,
                            FilterKind::kRibbon};
  const std::vector<double> entries = LevelEntries(kRunOfEachLevel);
  const auto bits = [&](const std::vector<double>& rates) {
    double sum = 0;
    for (size_t i = 0; i < kinds.size(); ++i) {
      sum += entries[i] * Bits(kinds[i], rates[i]);
    }
    return sum;
  };
  const std::vector<double> rates =
      LevelRates(kRunOfEachLevel, BloomType::kRow, kinds, 0.01);
  const double budget = bits({0.01, 0.01, 0.01});
  EXPECT_NEAR(bits(rates), budget, 1e-3 * budget);
  double least = 3;
  const double step = std::pow(1.02, test::Stride(4));
  for (double a = 0.5; a < 2; a *= step) {
    for (double b = 0.5; b < 2; b *= 1.02) {
      for (double c = 0.5; c < 2; c *= 1.005) {
        const std::vector<double> other = {a * rates[0], b * rates[1],
                                           c * rates[2]};
        if (bits(other) <= budget) least = std::min(least, Sum(other));
      }
    }
  }
  EXPECT_LT(Sum(rates), 1.01 * least);
}

TEST(LevelRates, StayWithinWhatFiltersCanHave) {
  const LevelShape steep = {
      .levels = 3, .size_ratio = 1000, .level0_files = 1000};
  const double weakest = FalsePositiveRate(kMinBitsPerKey);
  const std::vector<double> rates =
      RatesOf(steep, BloomType::kRow, FilterKind::kBloom, 0.6);
  EXPECT_THAT(rates, Each(Le(weakest + 1e-9)));
  EXPECT_NEAR(rates[0], FalsePositiveRate(kMaxBitsFactor * BitsPerKey(0.6)),
              0.005 * rates[0]);
  // A target above the weakest filter's rate is that of the weakest filter.
  EXPECT_THAT(RatesOf({}, BloomType::kRow, FilterKind::kBloom, 0.99),
              Each(testing::DoubleNear(weakest, 1e-9)));
  // No filter has more bits than filters can have.
  EXPECT_EQ(RatesOf(steep, BloomType::kRow, FilterKind::kBloom, 1e-9)[0],
            KindRate(FilterKind::kBloom, kMaxBitsPerKey));
}

TEST(LevelRates, HasTheBitsOfTheUniformRate) {
  test::Random random(test::SeedFromEnv());
  for (int i = 0; i < 200; ++i) {
    const LevelShape shape = {
        .levels = 1 + static_cast<uint32_t>(random.Below(7)),
        .size_ratio = 2 + static_cast<double>(random.Below(20)),
        .level0_files = 1 + static_cast<uint32_t>(random.Below(20))};
    const double rate =
        std::pow(10, -0.5 - static_cast<double>(random.Below(400)) / 100);
    const FilterKind kind = kKinds[random.Below(2)];
    const BloomType type =
        random.OneIn(2) ? BloomType::kRow : BloomType::kRowCol;
    SCOPED_TRACE(testing::Message()
                 << shape.levels << " levels, ratio " << shape.size_ratio
                 << ", " << shape.level0_files << " files, rate " << rate
                 << ", " << ToString(kind) << ", " << ToString(type));
    const std::vector<double> by_level = RatesOf(shape, type, kind, rate);
    ASSERT_EQ(by_level.size(), shape.levels + 1);
    const std::vector<double> rates = AllRuns(by_level, shape.level0_files);
    const std::vector<double> entries =
        AllRuns(LevelEntries(shape), shape.level0_files);
    ASSERT_EQ(entries.size(), rates.size());
    EXPECT_NEAR(TotalBits(entries, rates, kind) / Sum(entries),
                Bits(kind, rate), 0.01 * Bits(kind, rate));
    // Never worse than uniform, and no larger run has the smaller rate.
    const auto runs = static_cast<double>(rates.size());
    EXPECT_LE(Sum(rates), 1.01 * rate * runs);
    EXPECT_TRUE(std::ranges::is_sorted(by_level));
    EXPECT_GE(rates[0], 0.99 * FalsePositiveRate(2 * BitsPerKey(rate)));
    if (type != BloomType::kRowCol) continue;
    // Gets of absent rows, and of absent columns of rows at any one level.
    double both = 0;
    for (const double r : rates) both += r * r;
    EXPECT_LE(both, 1.01 * runs * rate * rate);
    for (const double r : rates) {
      EXPECT_LE(r + both - r * r, 1.06 * (rate + (runs - 1) * rate * rate));
    }
  }
}

// The figures of doc/planning.md.
TEST(LevelRates, OfFiveLevelsOpensWhatTheHeaderSays) {
  const LevelShape shape = {.levels = 4, .size_ratio = 10, .level0_files = 4};
  struct Opens {
    double scan = 0;
    double row = 0;
    double column = 0;  // absent column, row of the last level
    double last = 0;    // the rate there
  };
  const auto opens = [](const std::vector<double>& rates) {
    Opens result;
    for (const double rate : rates) {
      result.scan += rate;
      result.row += rate * rate;
    }
    result.last = rates.back();
    result.column = rates.back() + result.row - rates.back() * rates.back();
    return result;
  };
  const Opens uniform = opens(std::vector<double>(8, 0.01));
  for (const FilterKind kind : kKinds) {
    SCOPED_TRACE(ToString(kind));
    const Opens limited =
        opens(AllRuns(RatesOf(shape, BloomType::kRowCol, kind, 0.01), 4));
    EXPECT_NEAR(limited.scan / uniform.scan, 0.25, 0.015);
    EXPECT_NEAR(limited.row / uniform.row, 0.23, 0.015);
    EXPECT_NEAR(limited.column / uniform.column, 0.99, 0.015);
    const Opens free =
        opens(AllRuns(RatesOf(shape, BloomType::kRow, kind, 0.01), 4));
    EXPECT_NEAR(free.scan / uniform.scan, 0.19, 0.015);
    EXPECT_NEAR(free.row / uniform.row, 0.21, 0.015);
    EXPECT_NEAR(free.column / uniform.column, 1.21, 0.015);
    // ROW without limit, ROWCOL uniform.
    EXPECT_NEAR(0.01 * free.scan / uniform.row, 0.19, 0.015);
    EXPECT_NEAR((0.01 + 0.01 * (free.scan - free.last)) / uniform.column, 0.94,
                0.015);
  }
  // kMaxBitsFactor raises the sum of rates by less than 7 %.
  const double sum = Sum(
      AllRuns(RatesOf(shape, BloomType::kRow, FilterKind::kBloom, 0.01), 4));
  const std::vector<double> entries = AllRuns(LevelEntries(shape), 4);
  std::vector<double> unlimited = entries;  // rates in proportion to them
  while (TotalBits(entries, unlimited) < Sum(entries) * BitsPerKey(0.01)) {
    for (double& rate : unlimited) rate *= 0.999;
  }
  EXPECT_GT(sum, Sum(unlimited));
  EXPECT_LT(sum, 1.07 * Sum(unlimited));
}

TEST(LevelRates, TakesAnyRate) {
  for (const double rate : {5e-324, 1e-9, 0.5, 0.65, 0.9999}) {
    for (const FilterKind kind : kKinds) {
      for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
        EXPECT_THAT(RatesOf({}, type, kind, rate), Each(Gt(0)));
        EXPECT_THAT(RatesOf({}, type, kind, rate), Each(Lt(1)));
      }
    }
  }
}

TEST(LevelIndex, CountsLevelsFromTheLastOne) {
  const LevelShape last = {.levels = 3};
  EXPECT_EQ(LevelIndex(last, 0, 7, false), 0u);
  EXPECT_EQ(LevelIndex(last, 4, 7, false), 1u);
  EXPECT_EQ(LevelIndex(last, 5, 7, false), 2u);
  // Levels that the shape does not have.
  EXPECT_EQ(LevelIndex(last, 1, 7, false), 1u);
  // The last level has only bottommost files, whatever the number says.
  EXPECT_EQ(LevelIndex(last, 6, 7, false), 2u);
  const LevelShape first = {.levels = 3, .dynamic_level_bytes = false};
  EXPECT_EQ(LevelIndex(first, 0, 7, false), 0u);
  EXPECT_EQ(LevelIndex(first, 1, 7, false), 1u);
  EXPECT_EQ(LevelIndex(first, 2, 7, false), 2u);
  EXPECT_EQ(LevelIndex(first, 3, 7, false), 2u);
  EXPECT_EQ(LevelIndex(first, 6, 7, false), 2u);
  for (int level = 0; level < 7; ++level) {
    EXPECT_EQ(LevelIndex(last, level, 7, true), 3u) << level;
    EXPECT_EQ(LevelIndex(first, level, 7, true), 3u) << level;
  }
  EXPECT_EQ(LevelIndex({.levels = 1}, 5, 7, false), 1u);
}

TEST(LevelIndex, IsTheOneOfLevelAt) {
  for (const bool dynamic : {true, false}) {
    const LevelShape shape = {.levels = 3, .dynamic_level_bytes = dynamic};
    for (size_t index = 0; index <= 3; ++index) {
      const int level = LevelAt(shape, index, 7);
      EXPECT_EQ(LevelIndex(shape, level, 7, index == 3), index);
    }
    EXPECT_EQ(LevelAt(shape, 3, 7), dynamic ? 6 : 3);
  }
  // Fewer levels than the shape has.
  EXPECT_EQ(LevelAt({.levels = 6}, 1, 4), 1);
}

TEST(LevelShape, ProblemsAreNamed) {
  EXPECT_THAT(Problem(LevelShape{}), IsEmpty());
  EXPECT_THAT(Problem({.levels = 63, .size_ratio = 1000, .level0_files = 1000}),
              IsEmpty());
  EXPECT_THAT(Problem({.levels = 64}), StartsWith("levels 64"));
  EXPECT_THAT(Problem({.size_ratio = 0.99}), StartsWith("size_ratio 0.99"));
  EXPECT_THAT(Problem({.size_ratio = INFINITY}), StartsWith("size_ratio inf"));
  EXPECT_THAT(Problem({.level0_files = 1001}), StartsWith("level0_files 1001"));
}

}  // namespace
}  // namespace rowbloom
