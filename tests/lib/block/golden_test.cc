// Filter blocks that earlier states of this code wrote.
#include "tests/golden/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/filter_block.h"
#include "tests/golden/expect_built.h"
#include "tests/golden/filter_blocks.h"
#include "tests/support/files.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

using golden::Lines;

struct LayoutKeys {
  Lines present;
  Lines absent_rows;  // as in keys
};

// Reads the keys by the name of their layout.
std::map<std::string, LayoutKeys> ReadKeys(const Lines& lines) {
  std::map<std::string, LayoutKeys> keys;
  std::map<std::string, std::set<std::string>> rows;
  for (const std::string& line : golden::LinesOf(lines, "key")) {
    const Lines words = golden::Words(line);
    const KeyLayout layout = golden::LayoutOf(words[1]);
    const std::string key = golden::Unhex(words[2]);
    keys[words[1]].present.push_back(key);
    const std::string row_bytes(layout.Split(key)->row);
    rows[words[1]].insert(*layout.DecodeRow(row_bytes));
  }
  for (const auto& [layout, its_rows] : rows) {
    for (const std::string& row : golden::AbsentRows(its_rows)) {
      keys[layout].absent_rows.push_back(
          *golden::LayoutOf(layout).EncodeRow(row));
    }
  }
  return keys;
}

Lines SectionsOf(const FilterBlock& block) {
  Lines sections;
  for (const FilterSection& section : block.sections()) {
    EXPECT_EQ(section.problem, "");
    sections.push_back(std::string(ToString(section.type)) + "/" +
                       std::string(ToString(section.kind)) + "/" +
                       std::to_string(section.keys));
  }
  return sections;
}

bool HasSection(const FilterBlock& block, SectionType type) {
  return std::ranges::count(block.sections(), type, &FilterSection::type) > 0;
}

void ExpectKeysMayMatch(const FilterBlock& block, const Lines& keys) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<MatchResult> results(keys.size());
  block.MayMatch(views, results);
  const bool has_row_section = HasSection(block, SectionType::kRow) ||
                               HasSection(block, SectionType::kRowPrefix);
  for (size_t i = 0; i < keys.size(); ++i) {
    SCOPED_TRACE("key " + golden::Hex(keys[i]));
    const SplitKey split = *golden::LayoutOf(block.layout_id()).Split(keys[i]);
    const bool asks_row_col =
        HasSection(block, SectionType::kRowCol) && !split.qualifier.empty();
    const MatchResult result = block.MayMatch(keys[i]);
    for (const MatchResult& answer : {result, results[i]}) {
      ASSERT_TRUE(answer.may_match());
      ASSERT_EQ(answer.row(),
                has_row_section ? Verdict::kMayMatch : Verdict::kNotProbed);
      ASSERT_EQ(answer.row_col(),
                asks_row_col ? Verdict::kMayMatch : Verdict::kNotProbed);
    }
    ASSERT_TRUE(block.MayMatchRow(split.row));
    ASSERT_TRUE(block.MayMatchRowCol(split.row, split.qualifier));
  }
}

// Filters of 4 bits a key have a false positive rate of one in seven.
void ExpectMostAreRuledOut(const FilterBlock& block, const LayoutKeys& keys) {
  const auto ruled_out = [&](const Lines& absent) {
    size_t count = 0;
    for (const std::string& key : absent) {
      count += block.MayMatch(key).may_match() ? 0 : 1;
    }
    return count;
  };
  ASSERT_GT(keys.absent_rows.size(), 50u);
  EXPECT_GT(ruled_out(keys.absent_rows), keys.absent_rows.size() * 3 / 4);
  if (!HasSection(block, SectionType::kRowCol)) return;
  Lines absent_columns;
  for (const std::string& key : keys.present) {
    const SplitKey split = *golden::LayoutOf(block.layout_id()).Split(key);
    absent_columns.push_back(std::string(split.row) + "absent");
  }
  EXPECT_GT(ruled_out(absent_columns), absent_columns.size() * 3 / 4);
}

TEST(GoldenFilterBlocks, HaveTheirKeysAndRuleOutOthers) {
  size_t blocks = 0;
  for (const std::string& archive : golden::Archives("filter_blocks")) {
    SCOPED_TRACE(archive);
    const test::TempDir dir;
    const std::string path = golden::Unpack(archive, dir.path());
    const Lines lines = golden::ReadLines(archive + ".keys.txt");
    const std::map<std::string, LayoutKeys> keys = ReadKeys(lines);
    for (const std::string& line : golden::LinesOf(lines, "block")) {
      SCOPED_TRACE(line);
      const Lines words = golden::Words(line);
      const std::string& layout = words[2];
      const std::string bytes = test::ReadFile(path + "/" + words[1]);
      const FilterBlock block = FilterBlock::Open(bytes);
      ASSERT_EQ(block.problem(), "");
      EXPECT_TRUE(FilterBlock::IsFilterBlock(bytes));
      EXPECT_EQ(block.layout_id(), layout);
      EXPECT_EQ(block.origin(),
                (FileOrigin{golden::Unhex(words[3]), std::stoi(words[4])}));
      ASSERT_EQ(SectionsOf(block), Lines(words.begin() + 5, words.end()));
      if (block.sections()[0].keys == 0) {
        EXPECT_FALSE(block.MayMatch(keys.at(layout).present[0]).may_match());
      } else {
        ASSERT_NO_FATAL_FAILURE(
            ExpectKeysMayMatch(block, keys.at(layout).present));
        ASSERT_NO_FATAL_FAILURE(ExpectMostAreRuledOut(block, keys.at(layout)));
      }
      ++blocks;
    }
  }
  EXPECT_GE(blocks, 47u) << "those of folder 1";
}

// The bytes of a block do not depend on the CPU that builds it. A change that
// gives other bytes comes with a new folder.
TEST(GoldenFilterBlocks, AreBuiltByteForByteAsInTheNewestFolder) {
  const golden::FilterBlocks built = golden::BuildFilterBlocks();
  EXPECT_GE(built.bytes.size(), 47u);
  golden::ExpectAsInTheNewestFolder("filter_blocks", built);
}

}  // namespace
}  // namespace rowbloom
