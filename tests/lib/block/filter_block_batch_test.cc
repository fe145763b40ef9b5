// What a batch of questions costs: a kernel that counts shows which blocks are
// prefetched and probed, and in which order.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "lib/kernels/kernel.h"
#include "rowbloom/filter_block.h"

namespace rowbloom {
namespace {

const KeyLayout kLayout = KeyLayout::Delimited(':');

// The calls of the counting kernel, which has no state of its own.
struct Call {
  bool probe;  // else a prefetch
  const std::byte* section;
  uint64_t hash;
};
std::vector<Call> calls;

constexpr BloomKernel kCounting = {
    .name = "counting",
    .may_contain =
        [](const BloomBlocks& blocks, uint64_t hash) {
          calls.push_back({true, blocks.data, hash});
          return kScalarKernel.may_contain(blocks, hash);
        },
    .add = AddScalar,
    .prefetch =
        [](const BloomBlocks& blocks, uint64_t hash) {
          calls.push_back({false, blocks.data, hash});
        }};

class FilterBlockBatch : public testing::Test {
 protected:
  FilterBlockBatch() {
    FilterBlockBuilder builder({.key_layout = kLayout, .bits_per_key = 20});
    for (int row = 0; row < 20; ++row) {
      for (int column = 0; column < 5; ++column)
        builder.AddKey(Key(row, column));
    }
    bytes_ = builder.Finish();
    block_ = FilterBlock::Open(bytes_, &kCounting);
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
  size_t Count(bool probe, SectionType type) const {
    size_t count = 0;
    for (const Call& call : calls) {
      if (call.probe == probe && call.section == Payload(type)) ++count;
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
  FilterBlock block_;
};

TEST_F(FilterBlockBatch, RowSectionIsProbedOncePerDistinctRow) {
  std::vector<std::string> keys;
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 5; ++column) keys.push_back(Key(row, column));
  }
  const auto results = Ask(keys);
  for (const MatchResult& result : results) {
    EXPECT_TRUE(result.may_match);
    EXPECT_EQ(result.row, Verdict::kMayMatch);
    EXPECT_EQ(result.row_col, Verdict::kMayMatch);
  }
  EXPECT_EQ(Count(true, SectionType::kRow), 6u);
  EXPECT_EQ(Count(true, SectionType::kRowCol), 30u);
  EXPECT_EQ(Count(false, SectionType::kRow), 6u);
  EXPECT_EQ(Count(false, SectionType::kRowCol), 30u);
}

TEST_F(FilterBlockBatch, AbsentRowIsOneProbeAndNoneOfRowCol) {
  std::vector<std::string> keys;
  for (int column = 0; column < 32; ++column) {
    keys.push_back("absent:" + std::to_string(column));
  }
  for (const MatchResult& result : Ask(keys)) {
    EXPECT_FALSE(result.may_match);
    EXPECT_EQ(result.row, Verdict::kNoMatch);
    EXPECT_EQ(result.row_col, Verdict::kNotAsked);
  }
  EXPECT_EQ(Count(true, SectionType::kRow), 1u);
  EXPECT_EQ(Count(true, SectionType::kRowCol), 0u);
}

TEST_F(FilterBlockBatch, EveryPrefetchComesBeforeTheFirstProbe) {
  std::vector<std::string> keys;
  for (int row = 0; row < 8; ++row) {
    for (int column = 3; column < 7; ++column) keys.push_back(Key(row, column));
  }
  ASSERT_EQ(keys.size(), 32u);
  Ask(keys);
  bool probing = false;
  for (const Call& call : calls) {
    EXPECT_FALSE(probing && !call.probe) << "prefetch after a probe";
    probing = probing || call.probe;
  }
  // What is probed was prefetched.
  for (const Call& probe : calls) {
    if (!probe.probe) continue;
    bool prefetched = false;
    for (const Call& call : calls) {
      prefetched =
          prefetched || (!call.probe && call.section == probe.section &&
                         call.hash == probe.hash);
    }
    EXPECT_TRUE(prefetched);
  }
}

// The row is asked again where another batch starts, and where rows alternate.
TEST_F(FilterBlockBatch, OnlyTheRowJustBeforeIsRemembered) {
  std::vector<std::string> one_row;
  for (int column = 0; column < 40; ++column) {
    one_row.push_back("absent:" + std::to_string(column));
  }
  Ask(one_row);
  EXPECT_EQ(Count(true, SectionType::kRow), 2u) << "batches of 32";
  calls.clear();
  Ask({"absent:a", "row1:1", "absent:b", "outside the layout", "absent:c"});
  EXPECT_EQ(Count(true, SectionType::kRow), 4u);
}

TEST_F(FilterBlockBatch, AnswersAreThoseOfSingleQuestions) {
  std::vector<std::string> keys;
  for (int row = 0; row < 40; ++row) {
    for (int column = 0; column < 8; ++column) keys.push_back(Key(row, column));
    keys.push_back("row" + std::to_string(row) + ":");
    keys.push_back("outside" + std::to_string(row));
  }
  const auto results = Ask(keys);
  size_t ruled_out = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const MatchResult single = block_.MayMatch(keys[i]);
    EXPECT_EQ(results[i].may_match, single.may_match) << keys[i];
    EXPECT_EQ(results[i].row, single.row) << keys[i];
    EXPECT_EQ(results[i].row_col, single.row_col) << keys[i];
    if (!single.may_match) ++ruled_out;
  }
  EXPECT_GT(ruled_out, 200u);
}

}  // namespace
}  // namespace rowbloom
