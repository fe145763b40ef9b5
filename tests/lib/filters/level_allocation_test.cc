#include "rowbloom/level_allocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "rowbloom/bloom_math.h"
#include "tests/support/random.h"

namespace rowbloom {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::Le;
using testing::StartsWith;

double Sum(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

double TotalBits(const std::vector<double>& entries,
                 const std::vector<double>& rates) {
  double bits = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    bits += entries[i] * BitsPerKey(rates[i]);
  }
  return bits;
}

// Rates of filters by bits per key, in steps of 1/16.
std::vector<double> RatesByBits() {
  std::vector<double> rates;
  for (double bits = 1; bits <= 40; bits += 1.0 / 16) {
    rates.push_back(FalsePositiveRate(bits));
  }
  return rates;
}

// The least sum of rates within the budget of `uniform_rate`, by trying all
// ways to give three runs bits in steps of 1/16.
double BruteForceSum(const std::vector<double>& entries, double uniform_rate) {
  static const std::vector<double> rates = RatesByBits();
  const double budget = 16 * Sum(entries) * BitsPerKey(uniform_rate);
  double least = 3;
  for (size_t a = 0; a < rates.size(); ++a) {
    for (size_t b = 0; b < rates.size(); ++b) {
      const double left = budget - entries[0] * static_cast<double>(16 + a) -
                          entries[1] * static_cast<double>(16 + b);
      if (left < 16 * entries[2]) break;
      const auto c = std::min(static_cast<size_t>(left / entries[2]) - 16,
                              rates.size() - 1);
      least = std::min(least, rates[a] + rates[b] + rates[c]);
    }
  }
  return least;
}

TEST(OptimalRates, AreAsGoodAsTheBestOfAllTried) {
  for (const std::vector<double>& entries : {std::vector<double>{1, 10, 100},
                                             {1, 1, 1},
                                             {1, 4, 16},
                                             {3, 50, 60},
                                             {0.001, 1, 1}}) {
    for (const double rate : {0.2, 0.05, 0.01, 0.001}) {
      SCOPED_TRACE(testing::Message()
                   << testing::PrintToString(entries) << ", " << rate);
      const std::vector<double> rates = OptimalRates(entries, rate, 40);
      // Both within what steps of 1/16 bit are worth.
      EXPECT_LT(Sum(rates), 1.02 * BruteForceSum(entries, rate));
      EXPECT_NEAR(TotalBits(entries, rates) / Sum(entries), BitsPerKey(rate),
                  0.01 * BitsPerKey(rate));
    }
  }
}

TEST(OptimalRates, OfRunsOfOneSizeAreUniform) {
  for (const double rate :
       OptimalRates(std::vector<double>(7, 3.0), 0.01, 64)) {
    EXPECT_NEAR(rate, 0.01, 0.01 * 0.01);
  }
}

TEST(OptimalRates, AreProportionalToTheEntries) {
  const std::vector<double> rates =
      OptimalRates(std::vector<double>{1, 10, 100}, 0.01, 64);
  EXPECT_NEAR(rates[1] / rates[0], 10, 1e-6);
  EXPECT_NEAR(rates[2] / rates[1], 10, 1e-6);
}

TEST(OptimalRates, StayWithinWhatFiltersCanHave) {
  const std::vector<double> rates =
      OptimalRates(std::vector<double>{0, 1e-9, 1, 1e6}, 0.6, 20);
  const double weakest = FalsePositiveRate(kMinBitsPerKey);
  EXPECT_THAT(rates, Each(Le(weakest + 1e-9)));
  EXPECT_NEAR(rates[0], FalsePositiveRate(20), 0.01 * FalsePositiveRate(20));
  // A target above the weakest filter's rate is that of the weakest filter.
  EXPECT_THAT(OptimalRates(std::vector<double>{1, 10}, 0.99, 64),
              Each(testing::DoubleNear(weakest, 1e-9)));
}

TEST(LevelPlan, HasTheBitsOfTheUniformRate) {
  const uint64_t seed = test::SeedFromEnv();
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(seed));
  test::Random random(seed);
  for (int i = 0; i < 200; ++i) {
    const LevelShape shape = {
        .levels = 1 + static_cast<uint32_t>(random.Below(7)),
        .size_ratio = 2 + static_cast<double>(random.Below(20)),
        .level0_files = 1 + static_cast<uint32_t>(random.Below(20))};
    const double rate =
        std::pow(10, -0.5 - static_cast<double>(random.Below(400)) / 100);
    SCOPED_TRACE(testing::Message()
                 << shape.levels << " levels, ratio " << shape.size_ratio
                 << ", " << shape.level0_files << " files, rate " << rate);
    const LevelPlan plan(shape, rate);
    ASSERT_EQ(plan.rates().size(), shape.levels + 1);
    std::vector<double> rates = plan.rates();
    std::vector<double> entries = {1};  // all of level 0
    for (uint32_t level = 0; level < shape.levels; ++level) {
      entries.push_back(std::pow(shape.size_ratio, level));
    }
    EXPECT_NEAR(TotalBits(entries, rates) / Sum(entries), BitsPerKey(rate),
                0.01 * BitsPerKey(rate));
    // Never worse than uniform, and no larger run has the smaller rate.
    EXPECT_LE(Sum(rates) + (shape.level0_files - 1) * rates[0],
              1.01 * rate * (shape.levels + shape.level0_files));
    EXPECT_TRUE(std::ranges::is_sorted(rates));
    EXPECT_GE(rates[0], 0.99 * FalsePositiveRate(2 * BitsPerKey(rate)));
  }
}

TEST(LevelPlan, OfFiveLevelsHasAFifthOfTheWrongOpens) {
  const LevelPlan plan({.levels = 4, .size_ratio = 10, .level0_files = 4},
                       0.01);
  const double sum = Sum(plan.rates()) + 3 * plan.rates()[0];
  EXPECT_LT(sum, 0.2 * 8 * 0.01);
  // What kMaxBitsFactor costs.
  const std::vector<double> unlimited = OptimalRates(
      std::vector<double>{.25, .25, .25, .25, 1, 10, 100, 1000}, 0.01, 64);
  EXPECT_GT(sum, Sum(unlimited));
  EXPECT_LT(sum, 1.07 * Sum(unlimited));
}

TEST(LevelPlan, CountsLevelsFromTheLastOne) {
  const LevelPlan last({.levels = 3}, 0.01);
  EXPECT_EQ(last.Index(0, 7, false), 0u);
  EXPECT_EQ(last.Index(4, 7, false), 1u);
  EXPECT_EQ(last.Index(5, 7, false), 2u);
  // Levels that the shape does not have.
  EXPECT_EQ(last.Index(1, 7, false), 1u);
  // Not the last one, whatever its number says.
  EXPECT_EQ(last.Index(6, 7, false), 2u);
  const LevelPlan first({.levels = 3, .dynamic_level_bytes = false}, 0.01);
  EXPECT_EQ(first.Index(0, 7, false), 0u);
  EXPECT_EQ(first.Index(1, 7, false), 1u);
  EXPECT_EQ(first.Index(2, 7, false), 2u);
  EXPECT_EQ(first.Index(3, 7, false), 2u);
  EXPECT_EQ(first.Index(6, 7, false), 2u);
  for (const LevelPlan* plan : {&last, &first}) {
    for (int level = 0; level < 7; ++level) {
      EXPECT_EQ(plan->Index(level, 7, true), 3u) << level;
    }
  }
  const LevelPlan single({.levels = 1}, 0.01);
  EXPECT_EQ(single.Index(5, 7, false), 1u);
}

TEST(LevelShape, ProblemsAreNamed) {
  EXPECT_THAT(Problem({}), IsEmpty());
  EXPECT_THAT(Problem({.levels = 63, .size_ratio = 1000, .level0_files = 1000}),
              IsEmpty());
  EXPECT_THAT(Problem({.levels = 64}), StartsWith("levels 64"));
  EXPECT_THAT(Problem({.size_ratio = 0.99}), StartsWith("size_ratio 0.99"));
  EXPECT_THAT(Problem({.size_ratio = INFINITY}), StartsWith("size_ratio inf"));
  EXPECT_THAT(Problem({.level0_files = 1001}), StartsWith("level0_files 1001"));
}

}  // namespace
}  // namespace rowbloom
