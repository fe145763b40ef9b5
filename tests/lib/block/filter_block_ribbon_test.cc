// Blocks with sections of kind ribbon.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/block/filter_block_builder.h"
#include "lib/kernels/kernel.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/filter_block.h"
#include "tests/support/scoped_kernel.h"

namespace rowbloom::filter_block_ribbon_test {
namespace {

const KeyLayout kLayout = KeyLayout::Delimited(':');

std::vector<std::string> Keys(int rows, int columns) {
  std::vector<std::string> keys;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      keys.push_back("row" + std::to_string(10'000 + row) + ":" +
                     std::to_string(column));
    }
  }
  return keys;
}

std::string Build(const std::vector<std::string>& keys, FilterKind kind,
                  BloomType type = BloomType::kRowCol) {
  const bool prefix = type == BloomType::kRowPrefixFixedLength;
  FilterBlockBuilder builder({.bloom_type = type,
                              .key_layout = kLayout,
                              .kind = kind,
                              .bits_per_key = BitsPerKey(0.01),
                              .row_prefix_length = prefix ? 6u : 0u,
                              .verify = true});
  for (const std::string& key : keys) builder.AddKey(key);
  const std::string block = builder.Finish();
  EXPECT_EQ(builder.Verify(block), "");
  return block;
}

TEST(FilterBlockRibbon, HasEveryKeyInFewerBytes) {
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                               BloomType::kRowPrefixFixedLength}) {
    const std::vector<std::string> keys = Keys(3000, 3);
    const std::string ribbon = Build(keys, FilterKind::kRibbon, type);
    const std::string bloom = Build(keys, FilterKind::kBloom, type);
    for (const Kernel& kernel : UsableKernels()) {
      const test::ScopedKernel used(kernel);
      const FilterBlock block = FilterBlock::Open(ribbon);
      ASSERT_EQ(block.problem(), "");
      const std::vector<std::string_view> views(keys.begin(), keys.end());
      std::vector<MatchResult> batch(keys.size());
      block.MayMatch(views, batch);
      for (size_t i = 0; i < keys.size(); ++i) {
        const auto split = kLayout.Split(keys[i]);
        ASSERT_TRUE(block.MayMatch(keys[i]).may_match());
        ASSERT_TRUE(batch[i].may_match());
        ASSERT_TRUE(block.MayMatchRow(split->row));
        ASSERT_TRUE(block.MayMatchRowCol(split->row, split->qualifier));
      }
      int passed = 0;
      for (const std::string& key : keys) {
        passed += block.MayMatch("x" + key).may_match() ? 1 : 0;
        passed += block.MayMatch(key + "x").may_match() ? 1 : 0;
      }
      // Columns do not count where only rows are indexed.
      const int present_rows = type == BloomType::kRowCol ? 0 : 9000;
      EXPECT_NEAR(passed - present_rows, 9000 * 0.01, 90) << kernel.name;
    }
    if (type == BloomType::kRowPrefixFixedLength) continue;  // 30 prefixes
    EXPECT_LT(static_cast<double>(ribbon.size()),
              0.72 * static_cast<double>(bloom.size()));
    const FilterBlock block = FilterBlock::Open(ribbon);
    for (const FilterSection& section : block.sections()) {
      EXPECT_EQ(section.kind, FilterKind::kRibbon);
      EXPECT_NEAR(FilterBlock::ExpectedFalsePositiveRate(section), 0.01, 2e-4);
    }
  }
}

TEST(FilterBlockRibbon, SectionThatIsSmallerAsBloomIsThat) {
  const std::string block = Build(Keys(4, 500), FilterKind::kRibbon);
  const FilterBlock view = FilterBlock::Open(block);
  ASSERT_EQ(view.sections().size(), 2u);
  EXPECT_EQ(view.sections()[0].kind, FilterKind::kBloom) << "4 rows";
  EXPECT_EQ(view.sections()[1].kind, FilterKind::kRibbon) << "2000 cells";
  for (const std::string& key : Keys(4, 500)) {
    EXPECT_TRUE(view.MayMatch(key).may_match());
  }
  EXPECT_FALSE(view.MayMatch("other:1").may_match());
}

TEST(FilterBlockRibbon, EmptyBlockMatchesNothing) {
  FilterBlockBuilder builder(
      {.key_layout = kLayout, .kind = FilterKind::kRibbon});
  const std::string block = builder.Finish();
  EXPECT_FALSE(FilterBlock::Open(block).MayMatch("a:x").may_match());
}

TEST(FilterBlockRibbon, EstimatesAreOfItsOwnSize) {
  FilterBlockBuilder builder({.bloom_type = BloomType::kRow,
                              .key_layout = kLayout,
                              .kind = FilterKind::kRibbon,
                              .bits_per_key = BitsPerKey(0.01)});
  const size_t entries = builder.EntriesThatFit(100'000);
  for (size_t i = 0; i < entries; ++i) {
    builder.AddKey(std::to_string(1'000'000 + i) + ":");
  }
  const size_t promised = builder.SpaceFor(entries);
  const size_t bytes = builder.Finish().size();
  EXPECT_NEAR(static_cast<double>(bytes), 100'000, 1000);
  EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(promised), 1000);
}

// A section that would take more than kind bloom is of that kind.
TEST(FilterBlockRibbon, HasAsManySlotsAsItIsTold) {
  const std::vector<std::string> keys = Keys(20'000, 1);
  uint64_t last = 0;
  for (const double slots : {-1.0, 0.97, 1.05, 1.2, 1.4, 1e9}) {
    FilterBlockBuilder builder({.bloom_type = BloomType::kRow,
                                .key_layout = kLayout,
                                .kind = FilterKind::kRibbon,
                                .bits_per_key = BitsPerKey(0.01),
                                .ribbon_slots_per_key = slots,
                                .verify = true});
    for (const std::string& key : keys) builder.AddKey(key);
    const std::string bytes = builder.Finish();
    EXPECT_EQ(builder.Verify(bytes), "") << slots;
    const FilterSection section = builder.finished_sections().front();
    EXPECT_EQ(section.kind,
              slots < 1.45 ? FilterKind::kRibbon : FilterKind::kBloom);
    EXPECT_GT(section.size_bytes, last) << slots;
    // Very few slots send more keys on to other systems, which take more bytes.
    if (slots > 0) last = section.size_bytes;
    if (slots > 1 && slots < 1.45) {
      EXPECT_NEAR(static_cast<double>(bytes.size()),
                  static_cast<double>(builder.SpaceFor(keys.size())),
                  0.02 * static_cast<double>(bytes.size()));
    }
  }
}

TEST(FilterBlockRibbon, VerifyFindsAKeyThatIsMissing) {
  const std::vector<std::string> keys = Keys(1000, 1);
  FilterBlockBuilder one(
      {.key_layout = kLayout, .kind = FilterKind::kRibbon, .verify = true});
  for (const std::string& key : keys) one.AddKey(key);
  one.Finish();
  FilterBlockBuilder other(
      {.key_layout = kLayout, .kind = FilterKind::kRibbon});
  for (size_t i = 1; i < keys.size(); ++i) other.AddKey(keys[i]);
  other.AddKey("zzz:0");
  EXPECT_NE(one.Verify(other.Finish()).find("is not in section"),
            std::string::npos);
}

}  // namespace
}  // namespace rowbloom::filter_block_ribbon_test
