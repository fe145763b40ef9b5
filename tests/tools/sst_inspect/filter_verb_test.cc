// `sst_inspect filter`: what it prints is what is in the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "lib/block/format.h"
#include "lib/block/hash.h"
#include "rocksdb/convenience.h"
#include "rowbloom/filter_block.h"
#include "tests/storage/sst/make_sst.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst_inspect/run_tool.h"

namespace rowbloom {
namespace {

using test::Lines;
using test::Output;
using test::RunTool;
using test::SstSpec;
using test::TempDir;
using test::Words;
using testing::HasSubstr;
using testing::Not;

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

double Number(const std::string& word) {
  return std::strtod(word.c_str(), nullptr);
}

TEST(FilterVerb, FullFilterNumbersAreTheBlocks) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  const SstSpec spec{.policy = test::RowbloomPolicy(Options())};
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(spec, path, test::NumberedKeys(2000)));
  const std::string contents = test::FilterBlocks(path).at(0);
  const FilterBlock block = FilterBlock::Open(contents);
  ASSERT_TRUE(block.usable());
  ASSERT_EQ(block.sections().size(), 2U);

  const Output output = RunTool({"filter", path});
  EXPECT_EQ(output.code, 0);
  EXPECT_EQ(output.err, "");
  EXPECT_THAT(output.out, HasSubstr(path + "\n"));
  EXPECT_THAT(output.out,
              HasSubstr(std::string("policy  ") + spec.policy->Name() + "\n"));
  EXPECT_THAT(output.out, HasSubstr("filter  full, "));
  EXPECT_THAT(output.out,
              HasSubstr("(" + std::to_string(contents.size()) + " bytes)"));
  EXPECT_THAT(output.out, HasSubstr("SST format version 5"));
  EXPECT_THAT(output.out, HasSubstr("layout  fixed:8, filter block version 1"));
  for (const FilterSection& section : block.sections()) {
    const auto words =
        SectionLine(output.out, std::string(ToString(section.type)));
    ASSERT_EQ(words.size(), 8U);
    EXPECT_EQ(words[1], ToString(section.kind));
    EXPECT_EQ(words[2], std::to_string(section.probes));
    EXPECT_EQ(words[3], std::to_string(section.keys));
    EXPECT_EQ(words[4], std::to_string(section.size_bytes));
    EXPECT_NEAR(Number(words[5]), FilterBlock::BitsPerKey(section), 0.006);
    EXPECT_NEAR(Number(words[6]), 100 * block.FillRatio(section), 0.06);
    const double rate = 100 * FilterBlock::ExpectedFalsePositiveRate(section);
    EXPECT_NEAR(Number(words[7]), rate, 0.006 * rate);
  }
  EXPECT_EQ(SectionLine(output.out, "ROW")[3], "200");
  EXPECT_EQ(SectionLine(output.out, "ROWCOL")[3], "2000");
}

TEST(FilterVerb, PartitionedFilterIsTheSumOfItsPartitions) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  const SstSpec spec{.policy = test::RowbloomPolicy(Options()),
                     .partitioned = true};
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(spec, path, test::NumberedKeys(2000)));
  const std::vector<std::string> blocks = test::FilterBlocks(path);
  ASSERT_GT(blocks.size(), 3U);

  std::map<std::string, uint64_t> keys;
  std::map<std::string, uint64_t> sizes;
  std::map<std::string, double> weighted_rates;
  for (const std::string& contents : blocks) {
    const FilterBlock block = FilterBlock::Open(contents);
    for (const FilterSection& section : block.sections()) {
      const std::string name(ToString(section.type));
      keys[name] += section.keys;
      sizes[name] += section.size_bytes;
      weighted_rates[name] += FilterBlock::ExpectedFalsePositiveRate(section) *
                              static_cast<double>(section.keys);
    }
  }
  const Output output = RunTool({"filter", path});
  EXPECT_EQ(output.code, 0);
  EXPECT_THAT(output.out,
              HasSubstr("filter  partitioned, " +
                        std::to_string(blocks.size()) + " partitions, "));
  std::unique_ptr<sst::SstFile> file;
  ASSERT_TRUE(sst::SstFile::Open(path, &file).ok());
  EXPECT_THAT(
      output.out,
      HasSubstr(
          "(" +
          std::to_string(file->NumberProperty("rocksdb.filter.size").value()) +
          " bytes)"));
  for (const char* name : {"ROW", "ROWCOL"}) {
    const auto words = SectionLine(output.out, name);
    ASSERT_EQ(words.size(), 8U);
    EXPECT_EQ(words[3], std::to_string(keys[name]));
    EXPECT_EQ(words[4], std::to_string(sizes[name]));
    const double rate =
        100 * weighted_rates[name] / static_cast<double>(keys[name]);
    EXPECT_NEAR(Number(words[7]), rate, 0.006 * rate);
  }
  EXPECT_THAT(output.out, Not(HasSubstr("up to key")));

  const Output listed = RunTool({"filter", "--partitions", path});
  EXPECT_EQ(listed.code, 0);
  EXPECT_THAT(listed.out, HasSubstr(output.out));
  const size_t table = listed.out.find("up to key");
  ASSERT_NE(table, std::string::npos);
  size_t row_lines = 0;
  uint64_t listed_keys = 0;
  for (const std::string& line : Lines(listed.out.substr(table))) {
    const auto words = Words(line);
    if (words.size() < 5 || words[1] != "ROWCOL") continue;
    EXPECT_EQ(words[0], std::to_string(++row_lines));
    listed_keys += std::strtoull(words[4].c_str(), nullptr, 10);
    EXPECT_THAT(words.back(), HasSubstr("key0"));
  }
  EXPECT_EQ(row_lines, blocks.size());
  EXPECT_EQ(listed_keys, keys["ROWCOL"]);
}

TEST(FilterVerb, RowPrefixSectionShowsItsLength) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  FilterPolicyOptions options = Options();
  options.bloom_type = BloomType::kRowPrefixFixedLength;
  options.row_prefix_length = 7;
  ASSERT_NO_FATAL_FAILURE(
      test::WriteSst({.policy = test::RowbloomPolicy(options)}, path,
                     test::NumberedKeys(2000)));
  const Output output = RunTool({"filter", path});
  EXPECT_EQ(output.code, 0);
  EXPECT_THAT(output.out, HasSubstr("layout  fixed:8, row prefix of 7 bytes"));
  EXPECT_EQ(SectionLine(output.out, "ROWPREFIX")[3], "20");
}

TEST(FilterVerb, RocksDbsOwnFiltersAreNamed) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  const auto run = [&](const SstSpec& spec) {
    test::WriteSst(spec, path, test::NumberedKeys(2000));
    const Output output = RunTool({"filter", path});
    EXPECT_EQ(output.code, 0);
    EXPECT_EQ(output.err, "");
    return output.out;
  };
  const std::shared_ptr<const rocksdb::FilterPolicy> bloom(
      rocksdb::NewBloomFilterPolicy(10));
  const std::shared_ptr<const rocksdb::FilterPolicy> ribbon(
      rocksdb::NewRibbonFilterPolicy(10));
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
              HasSubstr(count + " of " + count + ": not rowbloom's"));
}

TEST(FilterVerb, FileWithoutFilterSaysSo) {
  const TempDir dir;
  ASSERT_NO_FATAL_FAILURE(
      test::WriteSst({}, dir.File("a.sst"), test::NumberedKeys(10)));
  const Output output = RunTool({"filter", dir.File("a.sst")});
  EXPECT_EQ(output.code, 0);
  EXPECT_EQ(output.out, dir.File("a.sst") +
                            "\n  policy  none\n"
                            "  filter  none, SST format version 5\n");
}

// Damage that RocksDB's checksum does not see: written that way, or by a
// program that repaired the checksum.
TEST(FilterVerb, DamagedSectionIsAFinding) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  ASSERT_NO_FATAL_FAILURE(
      test::WriteSst({.policy = test::RowbloomPolicy(Options())}, path,
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
      {.policy = test::RowbloomPolicy(Options()), .partitioned = true}, path,
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

// Gives the one filter block of a file another layout id of the same length.
void RenameLayout(const std::string& path, const std::string& from,
                  const std::string& to) {
  ASSERT_EQ(from.size(), to.size());
  test::ChangeBlock(path, test::FilterHandle(path, 0), [&](std::string* block) {
    const format::Trailer found = format::GetTrailer(*block);
    const size_t trailer = found.at;
    const size_t id = trailer - from.size();
    ASSERT_EQ(block->substr(id, from.size()), from);
    block->replace(id, to.size(), to);
    const size_t start = trailer - found.DirectoryBytes();
    std::string checksum;
    PutFixed(&checksum,
             Checksum(std::string_view(*block).substr(start, trailer - start),
                      Checksum(std::string_view(*block).substr(trailer + 8))),
             8);
    block->replace(trailer, 8, checksum);
  });
}

TEST(FilterVerb, LayoutUnknownHereIsNoDamage) {
  const auto layout = KeyLayout::RegisterCustom(
      "known", [](std::string_view key) -> std::optional<size_t> {
        if (key.size() < 8) return std::nullopt;
        return 8;
      });
  ASSERT_TRUE(layout.has_value()) << layout.error();
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  ASSERT_NO_FATAL_FAILURE(
      test::WriteSst({.policy = test::RowbloomPolicy({.key_layout = *layout})},
                     path, test::NumberedKeys(2000)));
  EXPECT_THAT(RunTool({"filter", path}).out, HasSubstr("layout  custom:known"));
  ASSERT_NO_FATAL_FAILURE(RenameLayout(path, "custom:known", "custom:other"));

  const Output output = RunTool({"filter", path});
  EXPECT_EQ(output.code, 0);
  EXPECT_THAT(output.out, HasSubstr("layout  custom:other"));
  EXPECT_THAT(
      output.out,
      HasSubstr("note: key layout \"custom:other\" is not registered in "
                "this process: its sections can be listed"));
  EXPECT_EQ(SectionLine(output.out, "ROWCOL")[3], "2000");

  const Output probe = RunTool({"probe", path, "--row", "key00012"});
  EXPECT_EQ(probe.code, 2);
  EXPECT_THAT(probe.err, HasSubstr("\"custom:other\" is not registered"));
}

}  // namespace
}  // namespace rowbloom
