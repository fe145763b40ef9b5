// `sst_inspect probe`: never "not there" for what is there, and otherwise what
// the sections of the file answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rowbloom/filter_block.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"
#include "tests/tools/sst_inspect/run_tool.h"
#include "tools/cli/text.h"

namespace rowbloom {
namespace {

using test::Lines;
using test::Output;
using test::RunFine;
using test::RunTool;
using test::TempDir;
using test::Words;
using testing::HasSubstr;
using testing::Not;

constexpr int kRows = 150;
constexpr int kColumns = 5;

// Every how many rows a long test asks for: all of them, or a tenth in a short
// run, in which thousands of runs of the tool take longest.
int Stride() { return test::Scaled(kRows) < kRows ? 10 : 1; }

// A row of eight bytes; odd ones are never written.
std::string Row(int number) {
  return "row" + std::to_string(10000 + 2 * number);
}
std::string AbsentRow(int number) {
  return "row" + std::to_string(10001 + 2 * number);
}
std::string Column(int number) { return "c" + std::to_string(number); }

std::vector<std::string> Keys(const KeyLayout& layout) {
  std::vector<std::string> keys;
  for (int row = 0; row < kRows; ++row) {
    const auto encoded = layout.EncodeRow(Row(row));
    EXPECT_TRUE(encoded.has_value());
    for (int column = 0; column < kColumns; ++column) {
      keys.push_back(*encoded + Column(column));
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

// The text after `name` on its line, or "" without such a line.
std::string Answer(const std::string& out, const std::string& name) {
  for (const std::string& line : Lines(out)) {
    const auto words = Words(line);
    if (words.empty() || words[0] != name) continue;
    return line.substr(
        line.find_first_not_of(' ', line.find(name) + name.size()));
  }
  return "";
}

KeyLayout EightBytes() {
  static const KeyLayout layout = *KeyLayout::RegisterCustom(
      "eight", [](std::string_view key) -> std::optional<size_t> {
        if (key.size() < 8) return std::nullopt;
        return 8;
      });
  return layout;
}

class ProbeLayouts
    : public testing::TestWithParam<std::tuple<std::string, bool>> {
 protected:
  void SetUp() override {
    EightBytes();
    const auto layout = KeyLayout::FromString(std::get<0>(GetParam()));
    ASSERT_TRUE(layout.has_value()) << layout.error();
    ASSERT_NO_FATAL_FAILURE(test::WriteSst(
        {.policy = test::MakeFilterPolicy({.key_layout = *layout}),
         .partitioned = std::get<1>(GetParam()),
         .partition_bytes = 128},
        path_, Keys(*layout)));
    ASSERT_EQ(test::FilterBlocks(path_).size() > 10, std::get<1>(GetParam()));
  }

  Output Probe(const std::string& row) const {
    return RunTool({"probe", path_, "--row", row});
  }
  Output Probe(const std::string& row, const std::string& qualifier) const {
    return RunTool({"probe", path_, "--row", row, "--qualifier", qualifier});
  }

  const TempDir dir_;
  const std::string path_ = dir_.File("a.sst");
};

INSTANTIATE_TEST_SUITE_P(
    Layouts, ProbeLayouts,
    testing::Combine(testing::Values("escaped", "fixed:8", "delimited:/", "u16",
                                     "custom:eight"),
                     testing::Bool()),
    [](const auto& test) {
      std::string name = std::get<0>(test.param);
      name = name.substr(0, name.find(':'));
      return name + (std::get<1>(test.param) ? "Partitioned" : "Full");
    });

TEST_P(ProbeLayouts, PresentRowsAndCellsMayBeThere) {
  for (int row = 0; row < kRows; row += Stride()) {
    const Output output = Probe(Row(row));
    ASSERT_EQ(output.code, 0) << output.err;
    ASSERT_EQ(Answer(output.out, "ROW"), "may be there") << Row(row);
    ASSERT_EQ(Answer(output.out, "ROWCOL"), "") << output.out;
    ASSERT_EQ(Answer(output.out, "verdict"), "may be there");
    for (int column = 0; column < kColumns; ++column) {
      const Output cell = Probe(Row(row), Column(column));
      ASSERT_EQ(cell.code, 0) << cell.err;
      ASSERT_EQ(Answer(cell.out, "ROW"), "may be there") << Row(row);
      ASSERT_EQ(Answer(cell.out, "ROWCOL"), "may be there") << Row(row);
      ASSERT_EQ(Answer(cell.out, "verdict"), "may be there");
    }
  }
}

TEST_P(ProbeLayouts, AnswersAreThoseOfTheBlocks) {
  const std::vector<std::string> blocks = test::FilterBlocks(path_);
  const auto layout = KeyLayout::FromString(std::get<0>(GetParam()));
  for (int number = 0; number < kRows; number += Stride()) {
    for (const std::string& row : {Row(number), AbsentRow(number)}) {
      const std::string row_bytes = *layout->EncodeRow(row);
      bool any_row = false;
      bool any_cell = false;
      for (const std::string& contents : blocks) {
        const FilterBlock block = FilterBlock::Open(contents);
        any_row = any_row || block.MayMatchRow(row_bytes);
        any_cell = any_cell || block.MayMatchRowCol(row_bytes, "c9");
      }
      const std::string row_verdict = Answer(Probe(row).out, "verdict");
      const std::string cell_verdict = Answer(Probe(row, "c9").out, "verdict");
      if (blocks.size() == 1) {
        EXPECT_EQ(row_verdict, any_row ? "may be there" : "not there");
        EXPECT_EQ(cell_verdict, any_cell ? "may be there" : "not there");
      } else {
        // The partitions not probed cannot hold it.
        EXPECT_TRUE(any_row || row_verdict == "not there");
        EXPECT_TRUE(any_cell || cell_verdict == "not there");
      }
    }
  }
}

using ProbeVerb = test::SstTest;

TEST_F(ProbeVerb, RowOverManyPartitionsIsFoundInEach) {
  std::vector<std::string> keys = {"a/x"};
  for (const std::string& key : test::NumberedKeys(2000)) {
    keys.push_back("big/" + key);
  }
  keys.push_back("c/x");
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(
      {.policy =
           test::MakeFilterPolicy({.key_layout = KeyLayout::Delimited('/')}),
       .partitioned = true},
      path_, keys));
  const size_t count = test::FilterBlocks(path_).size();
  ASSERT_GT(count, 3U);

  const Output big = RunTool({"probe", path_, "--row", "big"});
  EXPECT_EQ(Answer(big.out, "partition"),
            "1 to " + std::to_string(count) + " of " + std::to_string(count));
  EXPECT_EQ(Answer(big.out, "verdict"), "may be there");
  EXPECT_EQ(Answer(RunTool({"probe", path_, "--row", "a"}).out, "partition"),
            "1 of " + std::to_string(count));
  const Output last = RunTool({"probe", path_, "--row", "c"});
  EXPECT_EQ(Answer(last.out, "partition"),
            std::to_string(count) + " of " + std::to_string(count));
  EXPECT_EQ(Answer(last.out, "verdict"), "may be there");
  // Past every index key: the last partition answers.
  EXPECT_EQ(Answer(RunTool({"probe", path_, "--row", "zzz"}).out, "partition"),
            std::to_string(count) + " of " + std::to_string(count));
  for (size_t i = 1; i < keys.size(); i += 97) {
    const std::string qualifier = keys[i].substr(keys[i].find('/') + 1);
    const std::string row = keys[i].substr(0, keys[i].find('/'));
    const Output cell =
        RunTool({"probe", path_, "--row", row, "--qualifier", qualifier});
    EXPECT_EQ(Answer(cell.out, "ROWCOL"), "may be there") << keys[i];
  }
}

TEST_F(ProbeVerb, AnotherComparatorAsksThePartitionOfAKeyAndEachForARow) {
  std::vector<std::string> keys = test::NumberedKeys(2000);
  std::reverse(keys.begin(), keys.end());
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(
      {.policy = test::MakeFilterPolicy({.key_layout = KeyLayout::FixedRow(8)}),
       .comparator = rocksdb::ReverseBytewiseComparator(),
       .partitioned = true},
      path_, keys));
  const std::string count = std::to_string(test::FilterBlocks(path_).size());
  for (size_t i = 0; i < keys.size(); i += 37) {
    const Output cell = RunTool({"probe", path_, "--row", keys[i].substr(0, 8),
                                 "--qualifier", keys[i].substr(8)});
    EXPECT_THAT(Answer(cell.out, "partition"),
                testing::MatchesRegex("[0-9]+ of " + count));
    EXPECT_EQ(Answer(cell.out, "verdict"), "may be there") << keys[i];
    const Output row = RunTool({"probe", path_, "--row", keys[i].substr(0, 8)});
    EXPECT_EQ(Answer(row.out, "partition"), "1 to " + count + " of " + count);
    EXPECT_EQ(Answer(row.out, "verdict"), "may be there") << keys[i];
  }
}

TEST_F(ProbeVerb, FilesWithoutOurFilterMayHoldEverything) {
  ASSERT_NO_FATAL_FAILURE(Write({}, 10));
  const Output none = RunFine({"probe", path_, "--row", "r"});
  EXPECT_EQ(Answer(none.out, "filter"), "none");
  EXPECT_EQ(Answer(none.out, "verdict"), "may be there");
  EXPECT_THAT(none.out, HasSubstr("0 of 0 files may hold the row; 1 without a "
                                  "key layout"));
  ASSERT_NO_FATAL_FAILURE(Write({.policy = test::StockRibbon()}, 2000));
  const Output ribbon = RunFine({"probe", path_, "--row", "r"});
  EXPECT_EQ(Answer(ribbon.out, "filter"),
            "not rowbloom's: RocksDB Ribbon (marker -2)");
  EXPECT_EQ(Answer(ribbon.out, "verdict"), "may be there");
}

TEST_F(ProbeVerb, KeysOutsideTheLayoutAreLookedUpWhole) {
  const auto policy =
      test::MakeFilterPolicy({.key_layout = KeyLayout::Delimited('/')});
  const std::vector<std::string> keys = {"a/x", "outside"};
  ASSERT_NO_FATAL_FAILURE(test::WriteSst({.policy = policy}, path_, keys));
  const Output present = RunFine({"probe", path_, "--key", "outside"});
  EXPECT_EQ(Answer(present.out, "outside"), "the layout  may be there");
  EXPECT_EQ(Answer(present.out, "verdict"), "may be there");
  const Output absent = RunFine({"probe", path_, "--key", "absent"});
  EXPECT_EQ(Answer(absent.out, "outside"), "the layout  not there");
  EXPECT_EQ(Answer(absent.out, "verdict"), "not there");
}

TEST_F(ProbeVerb, DamagedSectionsSayMayBeThere) {
  const auto policy =
      test::MakeFilterPolicy({.key_layout = KeyLayout::FixedRow(8)});
  ASSERT_NO_FATAL_FAILURE(Write({.policy = policy}, 2000));
  // The damage is in the ROW section, with RocksDB's checksum made right.
  test::ChangeBlock(path_, test::FilterHandle(path_, 0),
                    [](std::string* contents) { (*contents)[100] ^= 1; });
  const Output row = RunTool({"probe", path_, "--row", "absent.."});
  EXPECT_EQ(row.code, 1);
  EXPECT_EQ(Answer(row.out, "ROW"), "section unusable");
  EXPECT_EQ(Answer(row.out, "verdict"), "may be there");
  EXPECT_THAT(row.out, HasSubstr("problem: ROW section at offset 8"));
  // The other section still rules the cell out.
  const Output cell =
      RunTool({"probe", path_, "--row", "absent..", "--qualifier", "q"});
  EXPECT_EQ(cell.code, 1);
  EXPECT_EQ(Answer(cell.out, "ROWCOL"), "not there");
  EXPECT_EQ(Answer(cell.out, "verdict"), "not there");

  // The whole block.
  ASSERT_NO_FATAL_FAILURE(Write({.policy = policy}, 2000));
  const sst::BlockHandle handle = test::FilterHandle(path_, 0);
  test::WriteByte(path_, handle.offset_bytes, 'r');
  const Output block = RunTool({"probe", path_, "--row", "absent.."});
  EXPECT_EQ(block.code, 1);
  EXPECT_EQ(Answer(block.out, "filter"), "unusable");
  EXPECT_EQ(Answer(block.out, "verdict"), "may be there");
  EXPECT_THAT(block.out, HasSubstr("problem: " + path_ + ": block at offset"));
}

}  // namespace
}  // namespace rowbloom
