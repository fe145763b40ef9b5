#include "lib/filters/rate_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

TEST(RateTable, IsCloseToTheArithmetic) {
  const RateTable& table = RateTable::Get();
  for (double bits = 0.5; bits < 64; bits += 0.173) {
    EXPECT_NEAR(table.Rate(bits) / FalsePositiveRate(bits), 1, 0.005) << bits;
    const double rate = BlockedFalsePositiveRate(std::max(bits, kMinBitsPerKey),
                                                 table.Probes(bits));
    EXPECT_NEAR(rate / FalsePositiveRate(bits), 1, 0.01) << bits;
  }
}

TEST(RateTable, RateAndBitsAreInverse) {
  const RateTable& table = RateTable::Get();
  for (double bits = kMinBitsPerKey; bits <= kMaxBitsPerKey; bits += 0.0371) {
    EXPECT_NEAR(table.Bits(table.Rate(bits)), bits, 1e-9);
  }
  EXPECT_EQ(table.Bits(0.999), kMinBitsPerKey);
  EXPECT_EQ(table.Bits(1e-300), kMaxBitsPerKey);
}

}  // namespace
}  // namespace rowbloom
