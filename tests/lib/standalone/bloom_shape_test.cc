#include "rowbloom/bloom_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rowbloom/counting_bloom_filter.h"

namespace rowbloom {
namespace {

using testing::HasSubstr;

TEST(BloomShape, KeepsTheRateInTheLeastBits) {
  for (const double rate : {0.9, 0.5, 0.3, 0.03, 0.01, 1e-3, 1e-6, 1e-15}) {
    for (const uint64_t keys : {uint64_t{0}, uint64_t{1}, uint64_t{100},
                                uint64_t{1'000'000}, uint64_t{1} << 30}) {
      const auto shape = BloomShapeFor(keys, rate);
      ASSERT_TRUE(shape) << shape.error();
      EXPECT_EQ(shape->bits % 64, 0u);
      EXPECT_LE(FalsePositiveRate(*shape, keys), rate * (1 + 1e-12));
      // One block of 64 less would not do, whatever the hashes.
      if (shape->bits == 64) continue;
      for (int hashes = 1; hashes <= 60; ++hashes) {
        EXPECT_GT(FalsePositiveRate({shape->bits - 64, hashes},
                                    std::max<uint64_t>(keys, 1)),
                  rate)
            << keys << " keys at " << rate;
      }
    }
  }
}

// 9.6 bits and 7 hashes for 1 %, as every textbook has it.
TEST(BloomShape, IsTheTextbooks) {
  const auto shape = BloomShapeFor(1'000'000, 0.01);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->hashes, 7);
  EXPECT_NEAR(static_cast<double>(shape->bits), 9.59e6, 0.01e6);
}

TEST(BloomShape, HasBitsUpToTheGreatestRate) {
  const double greatest = std::nextafter(1.0, 0.0);
  for (const double rate : {0.999, 0.999999999, greatest}) {
    for (const uint64_t keys : {1, 1000, 1'000'000}) {
      const auto shape = BloomShapeFor(keys, rate);
      ASSERT_TRUE(shape) << shape.error();
      EXPECT_GE(shape->bits, 64u) << keys << " keys at " << rate;
      EXPECT_EQ(shape->bits % 64, 0u);
    }
  }
  EXPECT_FALSE(BloomShapeFor(std::numeric_limits<uint64_t>::max(), greatest));
  auto filter = CountingBloomFilter::Create(1000, greatest);
  ASSERT_TRUE(filter) << filter.error();
  filter->Add("key");
  EXPECT_TRUE(filter->Contains("key"));
}

TEST(BloomShape, RefusesWhatCannotBe) {
  for (const double rate : {0.0, 1.0, 1e-16, -1.0, std::nan("")}) {
    EXPECT_THAT(BloomShapeFor(10, rate).error(),
                HasSubstr("expected one from 1e-15 to below 1"));
  }
  EXPECT_THAT(BloomShapeFor(std::numeric_limits<uint64_t>::max(), 0.01).error(),
              HasSubstr("expected at most 137438953472"));
}

}  // namespace
}  // namespace rowbloom
