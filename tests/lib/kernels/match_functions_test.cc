// The functions that answer for whole keys, for each layout, kind of section
// and length, against the sections of the same block asked one by one.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "lib/kernels/kernel.h"
#include "lib/kernels/striped_counters.h"
#include "rowbloom/filter_block.h"
#include "tests/support/random.h"

namespace rowbloom {
namespace {

using test::DistinctKey;
using test::Random;
using test::SeedFromEnv;

// Around the lengths at which hashing changes its way.
constexpr size_t kLengths[] = {1,  3,  4,  8,  9,   15,  16,  17,  24,  31,
                               32, 33, 64, 65, 127, 128, 129, 240, 241, 700};

struct Case {
  FilterKind kind;
  double bits_per_key;
  int rounds;  // of rows of each length: small ribbons become blooms, and those
               // of fewer than 800 rows have one layer
  size_t every;      // of the lengths of columns, another one for each row
  Sections row;      // of a block of type ROW
  Sections row_col;  // of one of type ROWCOL
};
constexpr Case kCases[] = {
    {FilterKind::kBloom, 10, 3, 1, Sections::kFewProbes, Sections::kFewProbes},
    {FilterKind::kBloom, 22, 3, 1, Sections::kManyProbes,
     Sections::kManyProbes},
    {FilterKind::kRibbon, 10, 3, 1, Sections::kFewProbes, Sections::kMixed},
    {FilterKind::kRibbon, 10, 40, 1, Sections::kMixed, Sections::kMixed},
    {FilterKind::kRibbon, 10, 90, 7, Sections::kRibbon, Sections::kRibbon},
    {FilterKind::kRibbon, 20, 90, 7, Sections::kRibbon, Sections::kRibbon},
    {FilterKind::kRibbon, 40, 90, 7, Sections::kRibbon, Sections::kRibbon},
};

// `size` bytes without the ones that layouts give a meaning, other ones for
// each index.
std::string Text(size_t size, uint64_t index, Random* random) {
  std::string text = DistinctKey(index);
  for (char& c : text) c = static_cast<char>(c | 0x40);
  text.resize(std::min<size_t>(size, 8));
  while (text.size() < size) {
    text += static_cast<char>('A' + random->Below(50));
  }
  return text;
}

struct Key {
  std::string row;  // empty: outside the layout
  std::string qualifier;
  std::string Bytes() const { return row + qualifier; }
};

std::string RowOf(const KeyLayout& layout, size_t size, uint64_t index,
                  Random* random) {
  const size_t rest = size > 2 ? size - 2 : 0;
  switch (layout.kind()) {
    case KeyLayout::Kind::kEscaped:
      return Text(rest, index, random) + std::string("\0\1", 2);
    case KeyLayout::Kind::kDelimited:
      return Text(size - 1, index, random) + ':';
    case KeyLayout::Kind::kLengthPrefixed:
      return std::string{static_cast<char>(rest >> 8),
                         static_cast<char>(rest)} +
             Text(rest, index, random);
    default:
      return Text(layout.parameter(), index, random);
  }
}

// Outside the layout, one byte or longer.
std::string Outside(const KeyLayout& layout, Random* random) {
  switch (layout.kind()) {
    case KeyLayout::Kind::kLengthPrefixed:
      return std::string("\x20\x20", 2) + Text(30, 1, random);
    case KeyLayout::Kind::kFixed:
      return Text(layout.parameter() - 1, 1, random);
    default:
      return Text(40, 1, random);
  }
}

Answer ExpectedAnswer(const FilterBlock& block, const Key& key) {
  if (key.row.empty()) return Answer::kOutside;
  const bool row =
      block.AskSection(SectionType::kRow, key.row, "") == Verdict::kMayMatch;
  if (!row) return Answer::kRowNo;
  if (key.qualifier.empty() || !block.HasSection(SectionType::kRowCol)) {
    return Answer::kRowMay;
  }
  return block.AskSection(SectionType::kRowCol, key.row, key.qualifier) ==
                 Verdict::kMayMatch
             ? Answer::kRowColMay
             : Answer::kRowColNo;
}

// What may_match counts for a key whose cell it asks for first, as it does
// after four in a row whose rows were there in vain.
Answer ExpectedCellFirst(const FilterBlock& block, const Key& key,
                         Answer row_first) {
  if (block.AskSection(SectionType::kRowCol, key.row, key.qualifier) ==
      Verdict::kNoMatch) {
    return Answer::kCellNo;
  }
  return row_first == Answer::kRowNo ? Answer::kRowNo : Answer::kRowColMay;
}

class MatchFunctions : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto chosen = ChooseKernel(GetParam());
    if (!chosen) GTEST_SKIP() << chosen.error();
    kernel_ = *chosen;
  }

  // Asks a block of half of many keys for all of them.
  void Check(const KeyLayout& layout, const Case& c, BloomType type,
             uint64_t seed) {
    Random random(seed);
    FilterBlockBuilder builder({.bloom_type = type,
                                .key_layout = layout,
                                .kind = c.kind,
                                .bits_per_key = c.bits_per_key});
    std::vector<Key> keys;
    for (int round = 0; round < c.rounds; ++round) {
      for (const size_t row_bytes : kLengths) {
        if (row_bytes < 2) continue;
        const std::string row = RowOf(layout, row_bytes, keys.size(), &random);
        keys.push_back({row, ""});
        for (size_t i = keys.size() % c.every; i < std::size(kLengths);
             i += c.every) {
          keys.push_back({row, Text(kLengths[i], keys.size(), &random)});
        }
      }
      keys.push_back({"", Outside(layout, &random)});
    }
    // By rows: absent rows, present ones with every other column, and all.
    const std::string* row = nullptr;
    uint64_t share = 0;
    std::set<std::string> present;
    for (const Key& key : keys) {
      if (row == nullptr || *row != key.row) share = random.Below(3);
      row = &key.row;
      if (share == 2 || (share == 1 && random.OneIn(2))) {
        present.insert(key.Bytes());
      }
    }
    for (const std::string& key : present) builder.AddKey(key);
    const std::string bytes = builder.Finish();
    const FilterBlock block = FilterBlock::Open(bytes, kernel_);
    ASSERT_NE(block.matcher(), nullptr) << block.problem();
    Matcher matcher = *block.matcher();
    ASSERT_EQ(SectionsOf(matcher), type == BloomType::kRow ? c.row : c.row_col);

    Ask(kernel_->MatchFor(matcher), block, matcher, keys, present, type);
    if (layout.kind() == KeyLayout::Kind::kFixed && layout.parameter() > 16 &&
        layout.parameter() <= 32) {
      const auto& all =
          kernel_->match[static_cast<size_t>(SectionsOf(matcher))];
      Ask(all.fixed_to_32_large, block, matcher, keys, present, type);
      if (type == BloomType::kRow) {
        Ask(all.fixed_to_32_large_rows, block, matcher, keys, present, type);
      }
    }
  }

  static void Ask(const rowbloom::MatchFunctions& functions,
                  const FilterBlock& block, Matcher matcher,
                  const std::vector<Key>& keys,
                  const std::set<std::string>& present, BloomType type) {
    StripedCounters counters;
    counters.Add(0, 0);  // for this thread to have a stripe
    matcher.counters = &counters;
    std::array<uint64_t, kAnswers> expected_counts{};
    int in_vain = 0;
    for (const Key& key : keys) {
      const std::string asked = key.Bytes();
      const Answer expected = ExpectedAnswer(block, key);
      Answer counted = expected;
      if (in_vain >= 4 && matcher.has_row_col && !key.row.empty() &&
          !key.qualifier.empty()) {
        counted = ExpectedCellFirst(block, key, expected);
      }
      ++expected_counts[static_cast<size_t>(counted)];
      if (counted == Answer::kRowNo) in_vain = 0;
      if (counted == Answer::kRowColNo || counted == Answer::kCellNo) {
        in_vain = (in_vain + 1) % 64;
      }
      const KeyView view = {asked.data(), asked.size()};
      ASSERT_EQ(functions.match(matcher, &view), expected)
          << key.row.size() << " + " << key.qualifier.size();
      const bool may_match = functions.may_match(matcher, &view);
      ASSERT_EQ(may_match,
                expected != Answer::kRowNo && expected != Answer::kRowColNo);
      if (present.contains(asked)) {
        ASSERT_TRUE(may_match);
      }
    }
    for (size_t i = 0; i < kAnswers; ++i) {
      EXPECT_EQ(counters.Sum(i), expected_counts[i]) << "answer " << i;
    }
    EXPECT_GT(expected_counts[static_cast<size_t>(Answer::kRowNo)], 20u);
    EXPECT_GT(expected_counts[static_cast<size_t>(Answer::kOutside)], 2u);
    const bool cells = type == BloomType::kRowCol;
    for (const Answer answer :
         {Answer::kRowColNo, Answer::kRowColMay, Answer::kCellNo}) {
      EXPECT_EQ(expected_counts[static_cast<size_t>(answer)] > 20, cells);
    }
  }

  const BloomKernel* kernel_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Each, MatchFunctions,
                         testing::Values("scalar", "avx2", "avx512"),
                         [](const auto& test) {
                           return std::string(test.param);
                         });

TEST_P(MatchFunctions, AgreeWithTheSectionsAndCount) {
  const uint64_t seed = SeedFromEnv();
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(seed));
  for (const KeyLayout& layout :
       {KeyLayout::Escaped(), KeyLayout::Delimited(':'),
        KeyLayout::LengthPrefixed(), KeyLayout::FixedRow(9),
        KeyLayout::FixedRow(17), KeyLayout::FixedRow(29),
        KeyLayout::FixedRow(32), KeyLayout::FixedRow(200)}) {
    for (const Case& c : kCases) {
      for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
        SCOPED_TRACE(layout.ToString() + ", " + std::string(ToString(type)) +
                     ", " + std::string(ToString(c.kind)));
        Check(layout, c, type, seed);
      }
    }
  }
}

TEST(MatchFor, FixedRowsByTheirLengthAndTheSizeOfTheirSection) {
  const BloomKernel& kernel = UsableKernels().front();
  const rowbloom::MatchFunctionsByLayout& few =
      kernel.match[static_cast<size_t>(Sections::kFewProbes)];
  Matcher matcher{};
  const auto chosen = [&](uint32_t row_bytes, uint64_t section_bytes) {
    matcher.SetLayout(KeyLayout::Kind::kFixed, row_bytes);
    matcher.row.count = section_bytes / 64;
    return &kernel.MatchFor(matcher);
  };
  constexpr uint64_t kSmall = (4 << 20) - 64;
  EXPECT_EQ(chosen(16, kSmall), &few.fixed_to_16);
  EXPECT_EQ(chosen(17, kSmall), &few.fixed_to_32);
  EXPECT_EQ(chosen(32, kSmall), &few.fixed_to_32);
  EXPECT_EQ(chosen(33, kSmall), &few.fixed_more);
  EXPECT_EQ(chosen(16, 4 << 20), &few.fixed_to_16);
  EXPECT_EQ(chosen(24, 4 << 20), &few.fixed_to_32_large_rows);
  matcher.has_row_col = true;
  EXPECT_EQ(chosen(24, 4 << 20), &few.fixed_to_32_large);
  EXPECT_EQ(chosen(33, 4 << 20), &few.fixed_more);
}

TEST(MatchSections, AreThoseOfTheWholeBlock) {
  RibbonFilter ribbon;
  ribbon.layer_count = 2;
  RibbonFilter small;
  small.layer_count = 1;
  Matcher matcher{};
  matcher.row.probes = kFewLanes;
  matcher.row_col.probes = kFewLanes + 1;
  EXPECT_EQ(SectionsOf(matcher), Sections::kFewProbes);
  matcher.has_row_col = true;
  EXPECT_EQ(SectionsOf(matcher), Sections::kManyProbes);
  matcher.row_ribbon = &ribbon;
  EXPECT_EQ(SectionsOf(matcher), Sections::kMixed);
  matcher.row_col_ribbon = &ribbon;
  EXPECT_EQ(SectionsOf(matcher), Sections::kRibbon);
  matcher.row_ribbon = &small;
  EXPECT_EQ(SectionsOf(matcher), Sections::kMixed);
  matcher.row_col_ribbon = &small;
  EXPECT_EQ(SectionsOf(matcher), Sections::kMixed);
}

}  // namespace
}  // namespace rowbloom
