// optimize_filters_for_memory where the allocator has size classes, as jemalloc
// has and glibc has not. The allocator that the policy asks is this program's:
// its own UsableBlockBytes comes before the library's one.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "rowbloom/filter_block.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"
#include "storage/filter_policy/usable_bytes.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/random.h"

namespace rowbloom {

// There are four size classes for each power of two.
size_t UsableBlockBytes(size_t block_bytes) noexcept {
  const size_t step = std::max<size_t>(16, std::bit_floor(block_bytes - 1) / 4);
  return (block_bytes + step - 1) / step * step;
}

namespace {

using rocksdb::Slice;

constexpr int kLevels = 7;

// The sums over the blocks of one level.
struct Blocks {
  double bytes = 0;
  double memory = 0;
  double rate = 0;  // false positives predicted, over all sections
};

std::string Key(int row, int column) {
  return test::DistinctKey(static_cast<uint64_t>(row)) + "c" +
         std::to_string(column);
}

// Each size of block is built once at each level, as flushes and compactions
// take turns.
std::map<int, Blocks> BuildAtEachLevel(const FilterPolicyOptions& options,
                                       bool optimize) {
  const auto policy = test::MakeFilterPolicy(options);
  rocksdb::BlockBasedTableOptions table;
  table.optimize_filters_for_memory = optimize;
  std::map<int, Blocks> levels;
  test::Random random(test::SeedFromEnv());
  const uint64_t blocks = std::max<uint64_t>(test::Scaled(100), 20);
  for (uint64_t i = 0; i < blocks; ++i) {
    const int rows = 50 + static_cast<int>(random.Below(1000));
    for (int level = 0; level < kLevels; ++level) {
      rocksdb::FilterBuildingContext context(table);
      context.num_levels = kLevels;
      context.level_at_creation = level;
      context.is_bottommost = level == kLevels - 1;
      const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
          policy->GetBuilderWithContext(context));
      for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < 5; ++column) {
          builder->AddKey(Key(row, column));
        }
      }
      std::unique_ptr<const char[]> owner;
      const Slice filter = builder->Finish(&owner);
      const FilterBlock block =
          FilterBlock::Open(std::string_view(filter.data(), filter.size()));
      EXPECT_EQ(block.problem(), "");
      for (int row = 0; row < rows; row += 7) {
        EXPECT_TRUE(block.MayMatch(Key(row, 3)).may_match()) << rows;
      }
      Blocks& sum = levels[level];
      sum.bytes += static_cast<double>(filter.size());
      sum.memory += static_cast<double>(UsableBlockBytes(filter.size()));
      for (const FilterSection& section : block.sections()) {
        sum.rate += FilterBlock::ExpectedFalsePositiveRate(section);
      }
    }
  }
  return levels;
}

class SizeClasses : public testing::TestWithParam<std::optional<double>> {};

// All levels have the same bits here, and their blocks balance out together.
TEST_P(SizeClasses, BlocksFillThemAtTheSameRate) {
  const FilterPolicyOptions options{.key_layout = KeyLayout::FixedRow(8),
                                    .row_spread = GetParam()};
  Blocks plain, fitted;
  for (const bool optimize : {false, true}) {
    for (const auto& [level, blocks] : BuildAtEachLevel(options, optimize)) {
      Blocks& sum = optimize ? fitted : plain;
      sum.bytes += blocks.bytes;
      sum.memory += blocks.memory;
      sum.rate += blocks.rate;
    }
  }
  EXPECT_GT(plain.memory, 1.05 * plain.bytes);
  EXPECT_LT(fitted.memory, 1.02 * fitted.bytes);
  EXPECT_LT(fitted.memory, 0.97 * plain.memory);
  EXPECT_NEAR(fitted.rate / plain.rate, 1, 0.02);
}

// Bits differ by level here, and what one level saves is not spent at another.
TEST_P(SizeClasses, EachLevelKeepsItsRate) {
  if (test::Scaled(1000) < 1000) {
    GTEST_SKIP() << "the rates of levels need all blocks";
  }
  const FilterPolicyOptions options{.key_layout = KeyLayout::FixedRow(8),
                                    .level_allocation = LevelShape(),
                                    .row_spread = GetParam()};
  const auto plain = BuildAtEachLevel(options, false);
  const auto fitted = BuildAtEachLevel(options, true);
  ASSERT_EQ(plain.size(), size_t{kLevels});
  EXPECT_LT(2 * plain.begin()->second.rate, plain.rbegin()->second.rate);
  for (const auto& [level, blocks] : fitted) {
    SCOPED_TRACE("level " + std::to_string(level));
    EXPECT_LT(blocks.memory, 1.02 * blocks.bytes);
    EXPECT_LT(blocks.memory, 0.97 * plain.at(level).memory);
    EXPECT_NEAR(blocks.rate / plain.at(level).rate, 1, 0.1);
  }
}

INSTANTIATE_TEST_SUITE_P(Split, SizeClasses,
                         testing::Values(std::optional<double>(),
                                         std::optional(0.125)),
                         [](const auto& split) {
                           return split.param ? "Adaptive" : "Equal";
                         });

}  // namespace
}  // namespace rowbloom
