#include "lib/plan/kind_bits.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "rowbloom/bloom_math.h"

namespace rowbloom {
namespace {

TEST(KindBits, IsCloseToTheArithmetic) {
  for (double bits = 0.5; bits < 64; bits += 0.173) {
    EXPECT_NEAR(KindRate(FilterKind::kBloom, bits) / FalsePositiveRate(bits), 1,
                0.005)
        << bits;
    const double rate = BlockedFalsePositiveRate(std::max(bits, kMinBitsPerKey),
                                                 TableProbes(bits));
    EXPECT_NEAR(rate / FalsePositiveRate(bits), 1, 0.01) << bits;
  }
}

TEST(KindBits, RateAndBitsAreInverse) {
  for (double bits = kMinBitsPerKey; bits <= kMaxBitsPerKey; bits += 0.0371) {
    EXPECT_NEAR(
        KindBits(FilterKind::kBloom, KindRate(FilterKind::kBloom, bits)), bits,
        1e-9);
  }
  EXPECT_EQ(KindBits(FilterKind::kBloom, 0.999), kMinBitsPerKey);
  EXPECT_EQ(KindBits(FilterKind::kBloom, 1e-300), kMaxBitsPerKey);
}

TEST(KindBits, AreThoseOfEachKind) {
  for (const double rate : {0.5, 0.1, 0.01, 0.001, 1e-6}) {
    const double bloom = KindBits(FilterKind::kBloom, rate);
    EXPECT_NEAR(bloom, BitsPerKey(rate), 0.01 * bloom);
    // Between the bound and a little above it.
    const double ribbon = KindBits(FilterKind::kRibbon, rate);
    EXPECT_GE(ribbon, -std::log2(rate));
    EXPECT_LE(ribbon, 1.03 * -std::log2(rate) + 0.01);
  }
  // A ribbon has a column at least, and is no smaller with higher rates.
  EXPECT_EQ(KindBits(FilterKind::kRibbon, 0.55),
            KindBits(FilterKind::kRibbon, 0.5));
}

TEST(KindBits, RateIsTheInverse) {
  for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
    for (double rate = 0.45; rate > 1e-7; rate /= 1.7) {
      EXPECT_NEAR(KindRate(kind, KindBits(kind, rate)) / rate, 1, 1e-6)
          << ToString(kind) << ", " << rate;
    }
    // The limits.
    const double least = kind == FilterKind::kRibbon
                             ? std::ldexp(1, -24)
                             : KindRate(FilterKind::kBloom, kMaxBitsPerKey);
    EXPECT_NEAR(KindRate(kind, 1000), least, 1e-15);
    EXPECT_NEAR(KindRate(kind, 0.01),
                KindRate(FilterKind::kBloom, kMinBitsPerKey), 1e-9);
  }
}

// Exits with 0 if all answers are the same after static objects were destroyed.
[[noreturn]] void CompareWhileTheProcessEnds() {
  mallopt(M_PERTURB, 0xa5);  // memory that was freed changes
  static double rate = 0;
  static int probes = 0;
  // Runs behind the destructors of objects that are made later.
  std::atexit([] {
    std::_Exit(KindRate(FilterKind::kBloom, 10) == rate &&
                       TableProbes(10) == probes
                   ? 0
                   : 1);
  });
  rate = KindRate(FilterKind::kBloom, 10);
  probes = TableProbes(10);
  std::exit(2);
}

// RocksDB finishes the compactions under way when a process ends, and they
// build filters.
TEST(KindBits, StayWhileTheProcessEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(CompareWhileTheProcessEnds(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace rowbloom
