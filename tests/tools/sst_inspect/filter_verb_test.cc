// `sst_inspect filter` on filters of RocksDB and damaged ones; the rest is in
// filter.transcript.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/sst/make_sst.h"
#include "tests/tools/sst_inspect/run_tool.h"

namespace rowbloom {
namespace {

using test::Lines;
using test::Output;
using test::RunFine;
using test::RunTool;
using test::SstSpec;
using test::Words;
using testing::HasSubstr;

// A row of ten cells each: "key00012" is the row, the last byte the qualifier.
FilterPolicyOptions Options() { return {.key_layout = KeyLayout::FixedRow(8)}; }

// The words of the table's line for a section, its percent signs dropped.
std::vector<std::string> SectionLine(const std::string& out,
                                     const std::string& section) {
  for (const std::string& line : Lines(out)) {
    std::vector<std::string> words = Words(line);
    if (words.empty() || words[0] != section) continue;
    std::erase(words, "%");
    return words;
  }
  ADD_FAILURE() << "no section " << section << " in:\n" << out;
  return {};
}

using FilterVerb = test::SstTest;

TEST_F(FilterVerb, RocksDbsOwnFiltersAreNamed) {
  const auto run = [&](const SstSpec& spec) {
    Write(spec, 2000);
    const Output output = RunFine({"filter", path_});
    EXPECT_EQ(output.err, "");
    return output.out;
  };
  const auto bloom = test::StockBloom();
  const auto ribbon = test::StockRibbon();
  EXPECT_THAT(run({.policy = bloom}),
              HasSubstr("not rowbloom's: RocksDB Bloom (marker -1)"));
  EXPECT_THAT(run({.policy = ribbon}),
              HasSubstr("not rowbloom's: RocksDB Ribbon (marker -2)"));
  EXPECT_THAT(run({.format_version = 4, .policy = bloom}),
              HasSubstr("not rowbloom's: RocksDB legacy Bloom (marker 6"));
  const std::string size =
      std::to_string(test::FilterBlocks(path_).at(0).size());
  EXPECT_THAT(RunTool({"filter", path_}).out,
              HasSubstr("(" + size + " bytes)"));
  const std::string partitioned = run({.policy = bloom, .partitioned = true});
  const std::string count = std::to_string(test::FilterBlocks(path_).size());
  EXPECT_THAT(partitioned,
              testing::ContainsRegex("not rowbloom's: .* " + count + "\n"));
}

TEST_F(FilterVerb, FileWithoutFilterSaysSo) {
  ASSERT_NO_FATAL_FAILURE(Write({}, 10));
  const Output output = RunFine({"filter", path_});
  EXPECT_EQ(output.out, path_ +
                            "\n  form        none\n"
                            "  partitions  0\n"
                            "  bytes       0 bytes\n");
}

// Damage that RocksDB's checksum does not see: written that way, or by a
// program that repaired the checksum.
TEST_F(FilterVerb, DamagedSectionIsAFinding) {
  ASSERT_NO_FATAL_FAILURE(
      Write({.policy = test::MakeFilterPolicy(Options())}, 2000));
  test::ChangeBlock(path_, test::FilterHandle(path_, 0),
                    [](std::string* contents) { (*contents)[100] ^= 1; });
  const Output output = RunTool({"filter", path_});
  EXPECT_EQ(output.code, 1);
  EXPECT_EQ(output.err, "");
  EXPECT_THAT(output.out, HasSubstr("  problem: ROW section at offset 8: "));
  const auto words = SectionLine(output.out, "ROW");
  ASSERT_EQ(words.size(), 8U);
  EXPECT_EQ(words[3], "200");
  EXPECT_EQ(words[6], "-");
  EXPECT_EQ(words[7], "-");
  EXPECT_NE(SectionLine(output.out, "ROWCOL")[7], "-");
}

TEST_F(FilterVerb, DamagedPartitionIsNamedAndTheOthersAreListed) {
  const uint64_t all_keys = 2000;
  ASSERT_NO_FATAL_FAILURE(
      Write({.policy = test::MakeFilterPolicy(Options()), .partitioned = true},
            all_keys));
  const std::vector<std::string> blocks = test::FilterBlocks(path_);
  // The head of the second partition; a plain flip in the third.
  test::ChangeBlock(path_, test::FilterHandle(path_, 1),
                    [](std::string* contents) { (*contents)[0] = 'r'; });
  const sst::BlockHandle third = test::FilterHandle(path_, 2);
  test::WriteByte(path_, third.offset_bytes + 50, blocks.at(2)[50] ^ 1);

  const Output output = RunTool({"filter", path_});
  EXPECT_EQ(output.code, 1);
  EXPECT_THAT(output.out,
              HasSubstr("problem: partition 2: filter block does not start "
                        "with ROWBLOOM"));
  EXPECT_THAT(output.out, HasSubstr("problem: partition 3: " + path_ +
                                    ": block at offset " +
                                    std::to_string(third.offset_bytes)));
  const uint64_t listed =
      std::strtoull(SectionLine(output.out, "ROWCOL")[3].c_str(), nullptr, 10);
  EXPECT_GT(listed, 0U);
  EXPECT_LT(listed, all_keys);
}

TEST_F(FilterVerb, EveryProblemIsPrinted) {
  ASSERT_NO_FATAL_FAILURE(
      Write({.policy = test::MakeFilterPolicy(Options()), .partitioned = true},
            10'000));
  const size_t partitions = test::FilterBlocks(path_).size();
  ASSERT_GT(partitions, 21U);
  for (size_t i = 0; i < partitions; ++i) {
    test::ChangeBlock(path_, test::FilterHandle(path_, i),
                      [](std::string* contents) { (*contents)[0] = 'r'; });
  }
  const Output output = RunTool({"filter", path_});
  EXPECT_EQ(output.code, 1);
  const auto problems =
      std::ranges::count_if(Lines(output.out), [](const std::string& line) {
        return line.starts_with("  problem: partition ");
      });
  EXPECT_EQ(static_cast<size_t>(problems), partitions);
}

}  // namespace
}  // namespace rowbloom
