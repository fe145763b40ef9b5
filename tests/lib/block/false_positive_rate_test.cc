// The measured false positive rate of each section lies within the 99.99 %
// interval of what bloom_math predicts for it. These are 30 comparisons: one
// seed in 300 has one outside by chance.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <ostream>
#include <string>

#include "lib/block/filter_block_builder.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/filter_block.h"
#include "tests/support/random.h"

namespace rowbloom {
namespace {

using test::DistinctKey;
using test::Scaled;
using test::SeedFromEnv;

constexpr double kQuantile = 3.891;  // of a normal distribution, two-sided

// The variance of one block's rate around the mean, less the part that the
// fixed total of keys takes away: the residual of the regression of the rate on
// the number of keys, which is Poisson distributed.
double BlockRateVariance(double bits_per_key, int probes) {
  const double mean = kBloomBlockBits / bits_per_key;
  double weight_sum = 0, rate = 0, rate_squared = 0, covariance = 0;
  for (uint64_t j = 0; static_cast<double>(j) < 3 * mean + 60; ++j) {
    const auto keys = static_cast<double>(j);
    const double weight =
        std::exp(keys * std::log(mean) - mean - std::lgamma(keys + 1));
    const double block_rate = BlockedFalsePositiveRate(j, 1, probes);
    weight_sum += weight;
    rate += weight * block_rate;
    rate_squared += weight * block_rate * block_rate;
    covariance += weight * block_rate * (keys - mean);
  }
  EXPECT_NEAR(weight_sum, 1, 1e-9);
  return rate_squared - rate * rate - covariance * covariance / mean;
}

struct Case {
  uint64_t keys;
  double target;
};

std::string Name(const Case& test) {
  return std::to_string(test.keys) + "KeysAtOneIn" +
         std::to_string(std::lround(1 / test.target));
}

void PrintTo(const Case& test, std::ostream* out) { *out << Name(test); }

class MeasuredRate : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(FalsePositiveRate, MeasuredRate, testing::ValuesIn([] {
                           std::vector<Case> cases;
                           for (const uint64_t keys : {1'000, 10'000, 100'000,
                                                       1'000'000, 10'000'000}) {
                             for (const double target : {0.1, 0.01, 0.001}) {
                               cases.push_back({keys, target});
                             }
                           }
                           return cases;
                         }()),
                         [](const auto& test) { return Name(test.param); });

TEST_P(MeasuredRate, OfEachSectionIsThePredictedOne) {
  const auto [keys, target] = GetParam();
  if (keys > Scaled(10'000'000)) {
    GTEST_SKIP() << "ROWBLOOM_TEST_SCALE leaves out this size";
  }
  const uint64_t seed = SeedFromEnv();
  const KeyLayout layout = KeyLayout::FixedRow(8);
  const double bits_per_key = BitsPerKey(target);

  // Small filters differ much from each other: their mean is what is predicted,
  // so that many are measured. Every key of every filter is another one.
  const uint64_t filters = std::max<uint64_t>(1, Scaled(400'000) / keys);
  const uint64_t asked_of_each = Scaled(2'000'000) / filters;
  double predicted_row = 0;
  double predicted_row_col = 0;
  uint64_t row_positives = 0;
  uint64_t row_col_positives = 0;
  uint64_t next = 0;
  for (uint64_t filter = 0; filter < filters; ++filter) {
    // Rows of one column each: as many entries in both sections.
    FilterBlockBuilder builder(
        {.key_layout = layout, .bits_per_key = bits_per_key});
    for (uint64_t i = 0; i < keys; ++i) {
      const std::string key = DistinctKey(next++, seed);
      builder.AddKey(key + key);
    }
    const std::string bytes = builder.Finish();
    const FilterBlock block = FilterBlock::Open(bytes);
    ASSERT_EQ(block.problem(), "");
    ASSERT_EQ(block.sections().size(), 2u);
    for (const FilterSection& section : block.sections()) {
      ASSERT_EQ(section.keys, keys);
      const double rate = FilterBlock::ExpectedFalsePositiveRate(section);
      (section.type == SectionType::kRow ? predicted_row : predicted_row_col) +=
          rate / static_cast<double>(filters);
    }
    for (uint64_t i = 0; i < asked_of_each; ++i) {
      const std::string key = DistinctKey(next++, seed);
      row_positives +=
          block.ProbeSection(SectionType::kRow, key, key) == Verdict::kMayMatch;
      row_col_positives += block.ProbeSection(SectionType::kRowCol, key, key) ==
                           Verdict::kMayMatch;
    }
  }

  const auto asked = static_cast<double>(filters * asked_of_each);
  const auto blocks =
      static_cast<double>(filters * keys) * bits_per_key / kBloomBlockBits;
  const double block_variance =
      BlockRateVariance(bits_per_key, BestProbes(bits_per_key));
  for (const auto& [name, predicted, positives] :
       {std::tuple("ROW", predicted_row, row_positives),
        std::tuple("ROWCOL", predicted_row_col, row_col_positives)}) {
    const double measured = static_cast<double>(positives) / asked;
    // Binomial, and the scatter of the rates of a finite number of blocks.
    const double deviation = std::sqrt(predicted * (1 - predicted) / asked +
                                       block_variance / blocks);
    std::printf("%s: measured %.6f, predicted %.6f +- %.6f, target %g\n", name,
                measured, predicted, kQuantile * deviation, target);
    EXPECT_NEAR(measured, predicted, kQuantile * deviation) << name;
    if (keys >= 100'000) {
      EXPECT_NEAR(predicted / target, 1, 0.01) << name;
    }
  }
}

}  // namespace
}  // namespace rowbloom
