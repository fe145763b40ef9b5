// `sst_inspect filter` on filters of RocksDB and damaged ones; the rest is in
// filter.transcript.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"
#include "tests/tools/sst_inspect/run_tool.h"

namespace rowbloom {
namespace {

using test::Lines;
using test::Output;
using test::RunFine;
using test::RunTool;
using test::SstSpec;
using test::TempDir;
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

TEST(FilterVerb, RocksDbsOwnFiltersAreNamed) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  const auto run = [&](const SstSpec& spec) {
    test::WriteSst(spec, path, test::NumberedKeys(2000));
    const Output output = RunFine({"filter", path});
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
      std::to_string(test::FilterBlocks(path).at(0).size());
  EXPECT_THAT(RunTool({"filter", path}).out, HasSubstr("(" + size + " bytes)"));
  const std::string partitioned = run({.policy = bloom, .partitioned = true});
  const std::string count = std::to_string(test::FilterBlocks(path).size());
  EXPECT_THAT(partitioned,
              testing::ContainsRegex("not rowbloom's: .* " + count + "\n"));
}

TEST(FilterVerb, FileWithoutFilterSaysSo) {
  const TempDir dir;
  ASSERT_NO_FATAL_FAILURE(
      test::WriteSst({}, dir.File("a.sst"), test::NumberedKeys(10)));
  const Output output = RunFine({"filter", dir.File("a.sst")});
  EXPECT_EQ(output.out, dir.File("a.sst") +
                            "\n  form        none\n"
                            "  partitions  0\n"
                            "  bytes       0 bytes\n");
}

// Damage that RocksDB's checksum does not see: written that way, or by a
// program that repaired the checksum.
TEST(FilterVerb, DamagedSectionIsAFinding) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  ASSERT_NO_FATAL_FAILURE(
      test::WriteSst({.policy = test::MakeFilterPolicy(Options())}, path,
                     test::NumberedKeys(2000)));
  test::ChangeBlock(path, test::FilterHandle(path, 0),
                    [](std::string* contents) { (*contents)[100] ^= 1; });
  const Output output = RunTool({"filter", path});
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

TEST(FilterVerb, DamagedPartitionIsNamedAndTheOthersAreListed) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(
      {.policy = test::MakeFilterPolicy(Options()), .partitioned = true}, path,
      test::NumberedKeys(2000)));
  const uint64_t all_keys = 2000;
  const std::vector<std::string> blocks = test::FilterBlocks(path);
  // The head of the second partition; a plain flip in the third.
  test::ChangeBlock(path, test::FilterHandle(path, 1),
                    [](std::string* contents) { (*contents)[0] = 'r'; });
  const sst::BlockHandle third = test::FilterHandle(path, 2);
  test::WriteByte(path, third.offset_bytes + 50, blocks.at(2)[50] ^ 1);

  const Output output = RunTool({"filter", path});
  EXPECT_EQ(output.code, 1);
  EXPECT_THAT(output.out,
              HasSubstr("problem: partition 2: filter block does not start "
                        "with ROWBLOOM"));
  EXPECT_THAT(output.out,
              HasSubstr("problem: partition 3: " + path + ": block at offset " +
                        std::to_string(third.offset_bytes)));
  const uint64_t listed =
      std::strtoull(SectionLine(output.out, "ROWCOL")[3].c_str(), nullptr, 10);
  EXPECT_GT(listed, 0U);
  EXPECT_LT(listed, all_keys);
}

TEST(FilterVerb, EveryProblemIsPrinted) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(
      {.policy = test::MakeFilterPolicy(Options()), .partitioned = true}, path,
      test::NumberedKeys(10'000)));
  const size_t partitions = test::FilterBlocks(path).size();
  ASSERT_GT(partitions, 21U);
  for (size_t i = 0; i < partitions; ++i) {
    test::ChangeBlock(path, test::FilterHandle(path, i),
                      [](std::string* contents) { (*contents)[0] = 'r'; });
  }
  const Output output = RunTool({"filter", path});
  EXPECT_EQ(output.code, 1);
  const auto problems =
      std::ranges::count_if(Lines(output.out), [](const std::string& line) {
        return line.starts_with("  problem: partition ");
      });
  EXPECT_EQ(static_cast<size_t>(problems), partitions);
}

}  // namespace
}  // namespace rowbloom
