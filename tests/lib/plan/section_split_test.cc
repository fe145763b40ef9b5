#include "lib/plan/section_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "lib/block/filter_block_builder.h"
#include "lib/plan/kind_bits.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/filter_block.h"
#include "tests/support/random.h"

namespace rowbloom::section_split_test {
namespace {

constexpr FilterKind kKinds[] = {FilterKind::kBloom, FilterKind::kRibbon};

// The least sum of wasted reads of all splits in small steps that keep the
// promises of doc/planning.md.
double BruteForceSum(FilterKind kind, uint64_t rows, uint64_t cells,
                     double rate, double row_spread) {
  const double bits = KindBits(kind, rate);
  double least = std::numeric_limits<double>::infinity();
  for (double row_col = kMinBitsPerKey; row_col <= bits; row_col += 0.0501) {
    const double row = bits + (bits - row_col) * static_cast<double>(cells) /
                                  static_cast<double>(rows);
    const WastedReads wasted = PredictWastedReads(
        {KindRate(kind, row), KindRate(kind, row_col)}, row_spread);
    if (row > kMaxBitsPerKey || wasted.get_absent_column > rate) continue;
    least = std::min(least, wasted.Sum());
  }
  return least;
}

void CheckAgainstBruteForce(FilterKind kind, uint64_t cells, double rate,
                            double spread) {
  const SectionRates split = AdaptiveSplit(kind, 1000, cells, rate, spread);
  // The same size, and every promise kept.
  const double bits = KindBits(kind, rate);
  EXPECT_NEAR(
      1000 * KindBits(kind, split.row) + cells * KindBits(kind, split.row_col),
      (1000.0 + cells) * bits, 1e-6 * cells * bits);
  EXPECT_LE(split.row, rate);
  const WastedReads wasted = PredictWastedReads(split, spread);
  EXPECT_LE(wasted.scan_absent_row, rate);
  EXPECT_LE(wasted.get_absent_row, rate);
  EXPECT_LE(wasted.get_absent_column, rate);
  const double equal = PredictWastedReads({rate, rate}, spread).Sum();
  EXPECT_LE(
      wasted.Sum(),
      std::min(equal, 1.02 * BruteForceSum(kind, 1000, cells, rate, spread)) *
          1.005);
}

TEST(AdaptiveSplit, IsAsGoodAsTheBestOfAllTried) {
  for (const FilterKind kind : kKinds) {
    for (const uint64_t cells : {1'000, 2'000, 10'000, 100'000}) {
      for (const double rate : {0.06, 0.01, 0.001}) {
        for (const double spread : {1.0, 0.6, 0.125, 0.01}) {
          SCOPED_TRACE(testing::Message()
                       << ToString(kind) << ", " << cells << " cells, " << rate
                       << ", " << spread);
          CheckAgainstBruteForce(kind, cells, rate, spread);
        }
      }
    }
  }
}

TEST(AdaptiveSplit, IsTheEqualOneWhereEveryFileHasEveryRow) {
  for (const FilterKind kind : kKinds) {
    for (const uint64_t cells : {1, 5, 1000}) {
      const SectionRates split = AdaptiveSplit(kind, 10, 10 * cells, 0.01, 1);
      EXPECT_EQ(split.row, 0.01);
      EXPECT_EQ(split.row_col, 0.01);
    }
  }
}

TEST(AdaptiveSplit, GivesRowsMoreTheMoreCellsTheyHave) {
  for (const FilterKind kind : kKinds) {
    double last = 0.01;
    for (const uint64_t cells : {1, 3, 10, 30, 100}) {
      const SectionRates split =
          AdaptiveSplit(kind, 1000, 1000 * cells, 0.01, 0.125);
      EXPECT_LT(split.row, last) << cells;
      EXPECT_GT(split.row_col, 0.01) << cells;
      last = split.row;
    }
  }
}

TEST(AdaptiveSplit, OfOneSectionIsTheEqualOne) {
  for (const FilterKind kind : kKinds) {
    EXPECT_EQ(AdaptiveSplit(kind, 10, 0, 0.02, 0.1).row, 0.02);
    EXPECT_EQ(AdaptiveSplit(kind, 0, 10, 0.02, 0.1).row_col, 0.02);
  }
}

TEST(SectionSplit, SpreadsOutsideTheRangeAreNone) {
  EXPECT_TRUE(IsRowSpread(1));
  EXPECT_TRUE(IsRowSpread(1e-9));
  EXPECT_FALSE(IsRowSpread(0));
  EXPECT_FALSE(IsRowSpread(1.0001));
  EXPECT_FALSE(IsRowSpread(std::nan("")));
}

std::string Block(FilterKind kind, uint64_t rows, uint64_t cells_of_row,
                  std::optional<double> row_spread = std::nullopt) {
  FilterBlockBuilder builder({.key_layout = KeyLayout::FixedRow(8),
                              .kind = kind,
                              .bits_per_key = 10,
                              .row_spread = row_spread,
                              .verify = true});
  for (uint64_t row = 0; row < rows; ++row) {
    for (uint64_t cell = 0; cell < cells_of_row; ++cell) {
      builder.AddKey(test::DistinctKey(row) + std::to_string(cell));
    }
  }
  std::string block = builder.Finish();
  EXPECT_EQ(builder.Verify(block), "");
  return block;
}

// The split of such a block.
SectionRates SplitOf(FilterKind kind, uint64_t rows, uint64_t cells) {
  return AdaptiveSplit(kind, rows, cells, FalsePositiveRate(10), 0.125);
}

// The block keeps its size, even with few entries, where a section is one
// block.
TEST(AdaptiveSplit, KeepsTheSizeOfTheBlock) {
  constexpr FilterKind kKind = FilterKind::kBloom;
  for (const uint64_t rows : {1, 2, 7, 30, 100, 1000, 5000}) {
    for (const uint64_t cells : {1, 2, 10, 100}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << cells);
      const std::string equal = Block(kKind, rows, cells);
      const std::string spread = Block(kKind, rows, cells, 1);
      EXPECT_EQ(spread, equal);
      const std::string adaptive = Block(kKind, rows, cells, 0.125);
      EXPECT_EQ(adaptive.size(), equal.size());
      const FilterBlock view = FilterBlock::Open(adaptive);
      ASSERT_TRUE(view.usable()) << view.problem();
      ASSERT_EQ(view.sections().size(), 2u);
      if (rows >= 1000) {
        const SectionRates split = SplitOf(kKind, rows, rows * cells);
        EXPECT_NEAR(FilterBlock::BitsPerKey(view.sections()[0]),
                    KindBits(kKind, split.row), 0.6);
        EXPECT_NEAR(FilterBlock::BitsPerKey(view.sections()[1]),
                    KindBits(kKind, split.row_col), 0.6);
      }
    }
  }
}

// A section has 2^24 blocks at most (FORMAT.md).
TEST(AdaptiveSplit, GivesNoSectionMoreThanItsMostBytes) {
  constexpr uint64_t kMost = kMaxSectionBytes / kBloomBlockBytes;
  for (const uint64_t rows : {400'000'000, 600'000'000, 800'000'000}) {
    SCOPED_TRACE(rows);
    std::vector<SectionSize> equal = {{.keys = rows}, {.keys = rows}};
    std::vector<SectionSize> split = equal;
    const BloomSetting setting = {10, BestProbes(10), FalsePositiveRate(10)};
    SizeSections(FilterKind::kBloom, setting, std::nullopt, equal);
    SizeSections(FilterKind::kBloom, setting, 0.01, split);
    EXPECT_GT(split[0].blocks, equal[0].blocks);
    EXPECT_LE(split[0].blocks, kMost);
    EXPECT_EQ(split[0].blocks + split[1].blocks,
              equal[0].blocks + equal[1].blocks);
  }
}

// A section with more keys than have room has the probes of the bits that each
// key is left with.
TEST(SectionSplit, TheLargestSectionHasTheBestProbesOfItsBits) {
  const BloomSetting setting = {10, BestProbes(10), FalsePositiveRate(10)};
  for (const FilterKind kind : kKinds) {
    for (const std::optional<double> spread :
         {std::optional<double>(), std::optional(0.01)}) {
      std::vector<SectionSize> sections = {{.keys = 10},
                                           {.keys = 4'000'000'000}};
      SizeSections(kind, setting, spread, sections);
      EXPECT_GT(sections[0].probes, 4);
      const SectionSize& large = sections[1];
      EXPECT_EQ(large.blocks, kMaxSectionBytes / kBloomBlockBytes);
      EXPECT_EQ(large.probes, TableProbes(BitsPerKey(large)));
      // With the six or seven probes of 10 bits it would be above 0.6.
      EXPECT_LT(
          BlockedFalsePositiveRate(large.keys, large.blocks, large.probes),
          0.45);
    }
  }
}

TEST(AdaptiveSplit, AboutKeepsTheSizeOfABlockOfRibbons) {
  constexpr FilterKind kKind = FilterKind::kRibbon;
  for (const uint64_t rows : {1, 30, 1000, 5000}) {
    for (const uint64_t cells : {1, 3, 10, 40}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << cells);
      const std::string equal = Block(kKind, rows, cells);
      EXPECT_EQ(Block(kKind, rows, cells, 1), equal);
      const std::string adaptive = Block(kKind, rows, cells, 0.125);
      const FilterBlock view = FilterBlock::Open(adaptive);
      ASSERT_TRUE(view.usable()) << view.problem();
      if (rows < 1000) continue;
      EXPECT_NE(adaptive, equal);
      EXPECT_NEAR(static_cast<double>(adaptive.size()),
                  static_cast<double>(equal.size()), 0.02 * equal.size());
      if (rows < 5000) continue;  // rates come in steps of blocks
      const SectionRates split = SplitOf(kKind, rows, rows * cells);
      ASSERT_EQ(view.sections().size(), 2u);
      EXPECT_NEAR(view.sections()[0].ribbon_rate, split.row, 0.02 * split.row);
      EXPECT_NEAR(view.sections()[1].ribbon_rate, split.row_col,
                  0.02 * split.row_col);
    }
  }
}

// The measured rates of the sections match the predicted ones.
TEST(AdaptiveSplit, BlocksHaveThePredictedRates) {
  constexpr uint64_t kRows = 20'000;
  for (const FilterKind kind : kKinds) {
    const std::string block = Block(kind, kRows, 10, 0.125);
    const FilterBlock view = FilterBlock::Open(block);
    const SectionRates split = SplitOf(kind, kRows, 10 * kRows);
    const uint64_t asked = test::Scaled(1'000'000);
    uint64_t passed_row = 0;
    uint64_t passed_column = 0;
    for (uint64_t i = 0; i < asked; ++i) {
      passed_row += view.MayMatchRow(test::DistinctKey(kRows + i)) ? 1 : 0;
      passed_column += view.MayMatchRowCol(test::DistinctKey(i % kRows),
                                           std::to_string(10 + i))
                           ? 1
                           : 0;
    }
    for (const auto& [passed, rate] :
         {std::pair(passed_row, split.row),
          std::pair(passed_column, split.row_col)}) {
      const double expected = rate * static_cast<double>(asked);
      EXPECT_NEAR(static_cast<double>(passed), expected,
                  5 * std::sqrt(expected) + 0.05 * expected)
          << ToString(kind) << ", " << rate;
    }
  }
}

}  // namespace
}  // namespace rowbloom::section_split_test
