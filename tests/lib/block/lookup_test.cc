// Lookups of whole keys against the rule of FORMAT.md, written once more from
// its text: for each layout, kind and length, with each kernel, one by one and
// in batches.
#define XXH_INLINE_ALL
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/block/filter_block_builder.h"
#include "lib/block/ribbon.h"
#include "lib/kernels/kernel.h"
#include "rowbloom/filter_block.h"
#include "tests/support/random.h"
#include "tests/support/scoped_kernel.h"
#include "tests/support/stride.h"

namespace rowbloom::lookup_test {
namespace {

using test::DistinctKey;
using test::Random;
using test::SeedFromEnv;
using test::Stride;

// Lengths around those at which hashing changes its way.
constexpr size_t kLengths[] = {1,  3,  4,  8,  9,   15,  16,  17,  24,  31,
                               32, 33, 64, 65, 127, 128, 129, 240, 241, 700};

struct Case {
  FilterKind kind;
  double bits_per_key;
  int rounds;  // rows of each length; ribbons of few rows have one layer
  // Columns take each `every`-th length, a different one for each row.
  size_t every;
};
constexpr Case kCases[] = {
    {FilterKind::kBloom, 10, 3, 1},   {FilterKind::kBloom, 22, 3, 1},
    {FilterKind::kRibbon, 10, 3, 1},  {FilterKind::kRibbon, 10, 40, 1},
    {FilterKind::kRibbon, 10, 90, 7}, {FilterKind::kRibbon, 20, 90, 7},
    {FilterKind::kRibbon, 40, 90, 7},
};

constexpr size_t kLongest = 1024;
std::string ManyLetters() {
  Random random(1);
  std::string letters;
  while (letters.size() < 64 * kLongest) {
    letters += static_cast<char>('A' + random.Below(50));
  }
  return letters;
}

// `size` bytes, up to kLongest, without the ones that layouts give a meaning,
// other ones for each index.
std::string Text(size_t size, uint64_t index, Random* random) {
  static const std::string letters = ManyLetters();
  std::string text = DistinctKey(index);
  for (char& c : text) c = static_cast<char>(c | 0x40);
  text += letters.substr(random->Below(letters.size() - kLongest), kLongest);
  text.resize(size);
  return text;
}

struct Key {
  std::string row;        // empty: outside the layout
  std::string qualifier;  // outside the layout, the key
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

std::string Outside(const KeyLayout& layout, uint64_t index, Random* random) {
  switch (layout.kind()) {
    case KeyLayout::Kind::kLengthPrefixed:
      return std::string("\x20\x20", 2) + Text(30, index, random);
    case KeyLayout::Kind::kFixed:
      return Text(layout.parameter() - 1, index, random);
    default:
      return Text(40, index, random);
  }
}

// One section, probed as FORMAT.md says.
Verdict ExpectedVerdict(std::string_view bytes, const FilterSection& section,
                        uint64_t hash) {
  const std::string_view payload =
      bytes.substr(section.offset_bytes, section.size_bytes);
  if (section.kind == FilterKind::kRibbon) {
    // ribbon_test.cc holds this against another decoder.
    std::string problem;
    const auto ribbon = ParseRibbon(payload, &problem);
    return kScalarKernel.ribbon_may_contain(*ribbon, hash) ? Verdict::kMayMatch
                                                           : Verdict::kNoMatch;
  }
  const uint64_t count = payload.size() / 64;
  const uint64_t high = (hash >> 32) * count;
  const uint64_t low = (hash & 0xffffffff) * count;
  const uint64_t block = (high + (low >> 32)) >> 32;
  auto product = static_cast<uint32_t>(hash);
  for (int i = 0; i < section.probes; ++i) {
    const uint32_t position = product >> 23;
    const auto byte = static_cast<uint8_t>(payload[block * 64 + position / 8]);
    if ((byte >> position % 8 & 1) == 0) return Verdict::kNoMatch;
    product *= 0x9e3779b9;
  }
  return Verdict::kMayMatch;
}

MatchResult Expected(const FilterBlock& block, std::string_view bytes,
                     const Key& key) {
  const FilterSection& row = block.sections().front();
  const FilterSection* const row_col =
      block.sections().size() > 1 ? &block.sections()[1] : nullptr;
  const auto hash = [](const std::string& part, uint64_t seed) {
    return XXH3_64bits_withSeed(part.data(), part.size(), seed);
  };
  if (key.row.empty()) {  // outside the layout
    if (row_col == nullptr) {
      return MatchResult(ExpectedVerdict(bytes, row, hash(key.qualifier, 0)));
    }
    return MatchResult(
        Verdict::kNotProbed,
        ExpectedVerdict(bytes, *row_col, hash(key.qualifier, hash("", 0))));
  }
  const uint64_t row_hash = hash(key.row, 0);
  const Verdict in_row = ExpectedVerdict(bytes, row, row_hash);
  if (in_row == Verdict::kNoMatch || row_col == nullptr ||
      key.qualifier.empty()) {
    return MatchResult(in_row);
  }
  return MatchResult(
      in_row, ExpectedVerdict(bytes, *row_col, hash(key.qualifier, row_hash)));
}

// Runs once for each kernel that was compiled in, by name.
class LookupTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto chosen = ChooseKernel(GetParam());
    if (!chosen) GTEST_SKIP() << chosen.error();
    UseKernel(**chosen);
  }
  void TearDown() override { UseKernel(before_); }

  // Looks up all of many keys in a block of half of them.
  static void Check(const KeyLayout& layout, const Case& c, BloomType type,
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
        keys.push_back({"", Outside(layout, keys.size(), &random)});
      }
    }
    // Rows are absent, or present with about half of their columns or all of
    // them.
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
    const FilterBlock block = FilterBlock::Open(bytes);
    ASSERT_TRUE(block.usable()) << block.problem();

    std::vector<std::string> all;
    for (const Key& key : keys) all.push_back(key.Bytes());
    const std::vector<std::string_view> views(all.begin(), all.end());
    std::vector<MatchResult> batch(keys.size());
    block.MayMatch(views, batch);
    std::array<uint64_t, MatchResult::kCodes> counts{};
    for (size_t i = 0; i < keys.size(); ++i) {
      const MatchResult expected = Expected(block, bytes, keys[i]);
      ++counts[expected.code()];
      ASSERT_EQ(block.MayMatch(all[i]), expected)
          << keys[i].row.size() << " + " << keys[i].qualifier.size();
      ASSERT_EQ(batch[i], expected)
          << keys[i].row.size() << " + " << keys[i].qualifier.size();
      if (present.contains(all[i])) {
        ASSERT_TRUE(expected.may_match());
      }
    }
    const auto seen = [&counts](Verdict in_row, Verdict in_cells) {
      return counts[MatchResult(in_row, in_cells).code()];
    };
    using enum Verdict;
    EXPECT_GT(seen(kNoMatch, kNotProbed), 10u);
    EXPECT_GT(seen(kMayMatch, kNotProbed), 10u);
    const bool cells = type == BloomType::kRowCol;
    for (const Verdict in_row : {kMayMatch, kNotProbed}) {
      EXPECT_EQ(seen(in_row, kMayMatch) > 5, cells);
      EXPECT_EQ(seen(in_row, kNoMatch) > 5, cells);
    }
  }

  const Kernel& before_ = ActiveKernel();
};

INSTANTIATE_TEST_SUITE_P(Each, LookupTest,
                         testing::ValuesIn(test::kKernelNames),
                         [](const auto& test) {
                           return std::string(test.param);
                         });

TEST_P(LookupTest, FollowsTheFormat) {
  // Kernels share the combinations below full scale: each takes every third.
  auto combination = static_cast<uint64_t>(
      std::ranges::find(test::kKernelNames, std::string_view(GetParam())) -
      std::begin(test::kKernelNames));
  for (const KeyLayout& layout :
       {KeyLayout::Escaped(), KeyLayout::Delimited(':'),
        KeyLayout::LengthPrefixed(), KeyLayout::FixedRow(9),
        KeyLayout::FixedRow(17), KeyLayout::FixedRow(29),
        KeyLayout::FixedRow(32), KeyLayout::FixedRow(200)}) {
    for (const Case& c : kCases) {
      for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
        if (combination++ % Stride(3) != 0) continue;
        SCOPED_TRACE(layout.ToString() + ", " + std::string(ToString(type)) +
                     ", " + std::string(ToString(c.kind)));
        Check(layout, c, type, SeedFromEnv());
      }
    }
  }
}

}  // namespace
}  // namespace rowbloom::lookup_test
