// The cost of a batch of lookups: a kernel that counts shows which sections are
// probed, and in which order.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "lib/block/filter_block_builder.h"
#include "lib/kernels/kernel.h"
#include "lib/kernels/kernel_parts.h"
#include "rowbloom/filter_block.h"
#include "tests/support/scoped_kernel.h"

namespace rowbloom {
namespace {

const KeyLayout kLayout = KeyLayout::Delimited(':');

// The probes of the counting kernel, which has no state of its own.
struct Call {
  const std::byte* section;
  uint64_t hash;
};
std::vector<Call> calls;

bool CountedMayContain(const BloomBlocks& blocks, uint64_t hash) {
  calls.push_back({blocks.data, hash});
  return kScalarKernel.may_contain(blocks, hash);
}

const Kernel kCounting = [] {
  Kernel kernel = kScalarKernel;
  kernel.name = "counting";
  kernel.may_contain = CountedMayContain;
  kernel.may_contain_many = Many<BloomBlocks, CountedMayContain>;
  return kernel;
}();

class FilterBlockBatch : public testing::Test {
 protected:
  FilterBlockBatch() {
    FilterBlockBuilder builder({.key_layout = kLayout, .bits_per_key = 20});
    for (int row = 0; row < 20; ++row) {
      for (int column = 0; column < 5; ++column)
        builder.AddKey(Key(row, column));
    }
    bytes_ = builder.Finish();
    const test::ScopedKernel used(kCounting);
    block_ = FilterBlock::Open(bytes_);
    calls.clear();
  }
  static std::string Key(int row, int column) {
    return "row" + std::to_string(row) + ":" + std::to_string(column);
  }
  // Asks for all keys at once.
  std::vector<MatchResult> Ask(const std::vector<std::string>& keys) {
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    std::vector<MatchResult> results(keys.size());
    block_.MayMatch(views, results);
    return results;
  }
  size_t Count(SectionType type) const {
    size_t count = 0;
    for (const Call& call : calls) {
      if (call.section == Payload(type)) ++count;
    }
    return count;
  }
  const std::byte* Payload(SectionType type) const {
    for (const FilterSection& section : block_.sections()) {
      if (section.type == type) {
        return reinterpret_cast<const std::byte*>(bytes_.data()) +
               section.offset_bytes;
      }
    }
    return nullptr;
  }

  std::string bytes_;
  FilterBlock block_ = FilterBlock::Open("");
};

TEST_F(FilterBlockBatch, RowSectionIsProbedOncePerDistinctRow) {
  std::vector<std::string> keys;
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 5; ++column) keys.push_back(Key(row, column));
  }
  const auto results = Ask(keys);
  for (const MatchResult& result : results) {
    EXPECT_TRUE(result.may_match());
    EXPECT_EQ(result.row(), Verdict::kMayMatch);
    EXPECT_EQ(result.row_col(), Verdict::kMayMatch);
  }
  EXPECT_EQ(Count(SectionType::kRow), 6u);
  EXPECT_EQ(Count(SectionType::kRowCol), 30u);
}

TEST_F(FilterBlockBatch, AbsentRowIsOneProbeAndNoneOfRowCol) {
  std::vector<std::string> keys;
  for (int column = 0; column < 32; ++column) {
    keys.push_back("absent:" + std::to_string(column));
  }
  for (const MatchResult& result : Ask(keys)) {
    EXPECT_FALSE(result.may_match());
    EXPECT_EQ(result.row(), Verdict::kNoMatch);
    EXPECT_EQ(result.row_col(), Verdict::kNotProbed);
  }
  EXPECT_EQ(Count(SectionType::kRow), 1u);
  EXPECT_EQ(Count(SectionType::kRowCol), 0u);
}

TEST_F(FilterBlockBatch, AllRowsAreProbedBeforeTheFirstCell) {
  std::vector<std::string> keys;
  for (int row = 0; row < 8; ++row) {
    for (int column = 1; column < 5; ++column) keys.push_back(Key(row, column));
  }
  ASSERT_EQ(keys.size(), 32u);
  Ask(keys);
  bool cells = false;
  for (const Call& call : calls) {
    const bool cell = call.section == Payload(SectionType::kRowCol);
    EXPECT_FALSE(cells && !cell) << "a row after a cell";
    cells = cells || cell;
  }
  EXPECT_TRUE(cells);
}

TEST_F(FilterBlockBatch, RowsThatDifferInOneByteAreToldApart) {
  for (size_t row_bytes = 1; row_bytes < 40; ++row_bytes) {
    const std::string row(row_bytes, 'a');
    for (size_t at = 0; at < row_bytes; ++at) {
      std::string other = row;
      other[at] = 'b';
      calls.clear();
      Ask({row + ":1", row + ":2", other + ":1", row + ":3", row + "a:3"});
      EXPECT_EQ(Count(SectionType::kRow), 4u)
          << row_bytes << " bytes, byte " << at;
    }
  }
}

// The row is probed again where another batch starts, and where rows alternate.
TEST_F(FilterBlockBatch, OnlyTheRowJustBeforeIsRemembered) {
  std::vector<std::string> one_row;
  for (int column = 0; column < 40; ++column) {
    one_row.push_back("absent:" + std::to_string(column));
  }
  Ask(one_row);
  EXPECT_EQ(Count(SectionType::kRow), 2u) << "batches of 32";
  calls.clear();
  Ask({"absent:a", "row1:1", "absent:b", "outside the layout", "absent:c"});
  EXPECT_EQ(Count(SectionType::kRow), 3u) << "outside is not in ROW";
}

}  // namespace
}  // namespace rowbloom
