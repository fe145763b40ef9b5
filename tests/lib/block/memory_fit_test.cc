// Sizes that fit an allocator, tried with artificial ones.
#include "lib/block/memory_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "lib/block/filter_block_builder.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/filter_block.h"
#include "tests/support/random.h"

namespace rowbloom {
namespace {

constexpr double kBits = 10;

// Four size classes for each power of two, as jemalloc has them.
size_t FourClasses(size_t bytes) {
  const size_t step = std::max<size_t>(16, std::bit_floor(bytes - 1) / 4);
  return (bytes + step - 1) / step * step;
}

size_t Exact(size_t bytes) { return bytes; }

struct Totals {
  double wanted_bytes = 0;
  double bytes = 0;
  double memory = 0;
  double wanted_rate = 0;
  double rate = 0;
};

// Blocks of random sizes, ROW a tenth of ROWCOL.
Totals FitMany(MemoryFit* fit, size_t (*usable)(size_t), double row_bits,
               double row_col_bits) {
  test::Random random(test::SeedFromEnv());
  Totals totals;
  constexpr size_t kOther = 90;
  for (int i = 0; i < 2000; ++i) {
    const uint64_t rows = 100 + random.Below(20'000);
    SectionSize sections[] = {{.keys = rows}, {.keys = 10 * rows}};
    totals.wanted_bytes += kOther;
    size_t bytes = kOther;
    for (SectionSize& section : sections) {
      const double bits = section.keys == rows ? row_bits : row_col_bits;
      section.blocks = static_cast<uint64_t>(
          std::ceil(static_cast<double>(section.keys) * bits / 512));
      section.probes = BestProbes(bits);
      totals.wanted_bytes += 64.0 * static_cast<double>(section.blocks);
      totals.wanted_rate += BlockedFalsePositiveRate(
          section.keys, section.blocks, section.probes);
    }
    fit->Choose(kOther, sections);
    for (const SectionSize& section : sections) {
      bytes += section.blocks * 64;
      totals.rate += BlockedFalsePositiveRate(section.keys, section.blocks,
                                              section.probes);
    }
    totals.bytes += static_cast<double>(bytes);
    totals.memory += static_cast<double>(usable(bytes));
  }
  return totals;
}

// The adaptive split makes sections of different bits.
TEST(MemoryFit, FillsSizeClassesAtTheSameRate) {
  for (const auto& [row_bits, row_col_bits] :
       {std::pair(kBits, kBits), std::pair(19.5, 9.0)}) {
    SCOPED_TRACE(std::to_string(row_bits) + " bits");
    MemoryFit fit(FourClasses);
    MemoryFit none(Exact);
    const Totals fitted = FitMany(&fit, FourClasses, row_bits, row_col_bits);
    const Totals plain = FitMany(&none, FourClasses, row_bits, row_col_bits);
    EXPECT_GT(plain.memory, 1.07 * plain.bytes) << "without it a tenth is lost";
    EXPECT_LT(fitted.memory, 1.005 * fitted.bytes);
    EXPECT_LT(fitted.memory, 0.95 * plain.memory);
    EXPECT_NEAR(fitted.rate / plain.rate, 1, 0.02);
  }
}

TEST(MemoryFit, ExactAllocatorChangesNothing) {
  MemoryFit fit(Exact);
  const Totals totals = FitMany(&fit, Exact, kBits, kBits);
  EXPECT_EQ(totals.bytes, totals.wanted_bytes);
  EXPECT_DOUBLE_EQ(totals.rate, totals.wanted_rate);
  EXPECT_EQ(fit.balance(), 0);
}

// One that gives ten times as much is not filled.
TEST(MemoryFit, GrowsByAThirdAtMostAndNeverToNothing) {
  MemoryFit fit([](size_t bytes) { return 10 * bytes; });
  SectionSize sections[] = {{.keys = 100, .blocks = 2},
                            {.keys = 1000, .blocks = 20}};
  fit.Choose(90, sections);
  EXPECT_EQ(sections[0].blocks, 2u);
  EXPECT_EQ(sections[1].blocks, 20u);
  MemoryFit shrinks(FourClasses);
  for (int i = 0; i < 1000; ++i) {
    SectionSize small[] = {{.keys = 1, .blocks = 1},
                           {.keys = 0, .blocks = 0},
                           {.keys = 500, .blocks = 10}};
    shrinks.Choose(90, small);
    ASSERT_GE(small[0].blocks, 1u);
    ASSERT_EQ(small[1].blocks, 0u);
    ASSERT_GE(small[2].blocks, 7u);
    ASSERT_LE(small[2].blocks, 14u);
  }
}

// Whole blocks by the builder: every key is found, whatever the size.
TEST(MemoryFit, BlocksOfAllSizesHoldTheirKeys) {
  FilterBlockOptions options{.key_layout = KeyLayout::Delimited(':'),
                             .bits_per_key = kBits};
  options.memory_fit = std::make_shared<MemoryFit>(FourClasses);
  FilterBlockOptions plain = options;
  plain.memory_fit = nullptr;
  FilterBlockBuilder builder(options);
  FilterBlockBuilder plain_builder(plain);
  size_t larger = 0;
  size_t smaller = 0;
  for (int rows = 0; rows < 300; ++rows) {
    for (int row = 0; row < rows; ++row) {
      for (const char* column : {"a", "b", "c", "d"}) {
        const std::string key = std::to_string(row) + ":" + column;
        builder.AddKey(key);
        plain_builder.AddKey(key);
      }
    }
    const std::string bytes = builder.Finish();
    const size_t plain_bytes = plain_builder.Finish().size();
    if (bytes.size() > plain_bytes) ++larger;
    if (bytes.size() < plain_bytes) ++smaller;
    const FilterBlock block = FilterBlock::Open(bytes);
    for (int row = 0; row < rows; ++row) {
      for (const char* column : {"a", "b", "c", "d"}) {
        ASSERT_TRUE(
            block.MayMatch(std::to_string(row) + ":" + column).may_match());
      }
    }
  }
  EXPECT_GT(larger, 50u);
  EXPECT_GT(smaller, 15u);
}

}  // namespace
}  // namespace rowbloom
