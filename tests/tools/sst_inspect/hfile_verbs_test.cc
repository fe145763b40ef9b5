// sst_inspect on HFiles that HFileWriter makes; on files of HBase's
// hfile.transcript has the verbs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rowbloom/hfile.h"
#include "storage/hfile/file_form.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"
#include "tests/tools/sst_inspect/run_tool.h"
#include "tools/sst_inspect/file_picture.h"
#include "tools/table/table_file.h"

namespace rowbloom {
namespace {

using nlohmann::json;
using test::IsOk;
using test::Output;
using test::Records;
using test::RunFine;
using test::RunTool;
using test::TempDir;
using testing::HasSubstr;

std::string Row(size_t i) {
  std::string digits = std::to_string(i);
  return "row" + std::string(6 - digits.size(), '0') + digits;
}

// Rows of two columns; every tenth has a marker of its family.
std::vector<HFileCell> NumberedCells(size_t rows) {
  std::vector<HFileCell> cells;
  for (size_t i = 0; i < rows; ++i) {
    if (i % 10 == 0) {
      cells.push_back(
          test::MakeCell(Row(i), "", 90, HFileCellType::kDeleteFamily));
    }
    for (const char* qualifier : {"a", "b"}) {
      cells.push_back(
          test::MakeCell(Row(i), qualifier, static_cast<int64_t>(100 + i),
                         HFileCellType::kPut, "value " + std::to_string(i)));
      cells.back().mvcc = 3;
    }
  }
  return cells;
}

hfile::FileForm SmallBlocks() {
  hfile::FileForm options;
  options.block_bytes = 512;
  options.index_block_bytes = 256;
  options.index_block_min_entries = 4;
  options.bloom_block_bytes = 256;
  options.create_time_ms = 1'700'000'000'000;
  return options;
}

class HFileVerbs : public testing::Test {
 protected:
  void Write(const hfile::FileForm& options,
             const std::vector<HFileCell>& cells) {
    ASSERT_NO_FATAL_FAILURE(test::WriteCells(options, path_, cells));
  }
  Output Fine(std::vector<std::string> args) const {
    args.push_back(path_);
    Output output = RunFine(args);
    EXPECT_EQ(output.err, "");
    return output;
  }

  const TempDir dir_;
  // HBase's names are hex digits.
  const std::string path_ = dir_.File("6f2d1c0a9b8e4f77");
};

TEST_F(HFileVerbs, ASingleChunkIsComparedWithHBasesDefault) {
  hfile::FileForm options;
  Write(options, NumberedCells(1));
  const json chunk =
      Records(Fine({"filter", "--partitions", "--json"}), "partition_section")
          .at(0);
  // One key in 2 bytes of what were 128 KiB.
  EXPECT_EQ(chunk["keys"], 1);
  EXPECT_EQ(chunk["bytes"], 2);
  EXPECT_EQ(chunk["folds"], 16);
  EXPECT_EQ(chunk["folds_assumed"], true);
  options.bloom_block_bytes = 384;
  options.bloom_max_fold = 0;
  Write(options, NumberedCells(200));
  const json odd =
      Records(Fine({"filter", "--partitions", "--json"}), "partition_section")
          .at(0);
  EXPECT_EQ(odd["keys"], 200);
  EXPECT_TRUE(odd["folds"].is_null());
}

TEST_F(HFileVerbs, ProbeTellsWhatAGetWouldBeTold) {
  Write(SmallBlocks(), NumberedCells(1000));
  const Output there = Fine({"probe", "--row", "row000100"});
  EXPECT_THAT(there.out,
              HasSubstr("ROW             may be there, chunk 1 of 5"));
  EXPECT_THAT(there.out, HasSubstr("family deletes  may be there"));
  EXPECT_THAT(there.out, HasSubstr("in file         yes, delete-family at 90"));
  const Output after = Fine({"probe", "--row", "row1"});
  EXPECT_THAT(after.out, HasSubstr("not there: after LAST_BLOOM_KEY"));
  EXPECT_THAT(after.out, HasSubstr("outside of first to last row"));
  EXPECT_THAT(Fine({"probe", "--row", "abc"}).out,
              HasSubstr("not there: before the first chunk"));

  hfile::FileForm options = SmallBlocks();
  options.bloom_type = BloomType::kRowCol;
  options.mvcc = false;
  std::vector<HFileCell> cells = NumberedCells(1000);
  for (HFileCell& cell : cells) cell.mvcc = 0;
  Write(options, cells);
  size_t absent = 0;
  for (size_t i = 0; i < 100; ++i) {
    // Rows without a marker, for which all their cells pass.
    const std::string row = Row(10 * i + 1);
    const json present =
        Records(Fine({"probe", "--json", "--row", row, "--qualifier", "b"}),
                "probe")
            .at(0);
    EXPECT_EQ(present["verdict"], "may be there");
    EXPECT_THAT(present["in_file"].get<std::string>(), HasSubstr("yes, put"));
    const json missing =
        Records(Fine({"probe", "--json", "--row", row, "--qualifier", "c"}),
                "probe")
            .at(0);
    EXPECT_EQ(missing["in_file"], "no");
    absent += missing["verdict"] == "not there" ? 1 : 0;
  }
  EXPECT_GT(absent, 90U);
  EXPECT_THAT(Fine({"probe", "--row", "row000100", "--qualifier", "zz"}).out,
              HasSubstr("ROWCOL markers  may be there"));
  EXPECT_THAT(Fine({"probe", "--row", "row000100"}).out,
              HasSubstr("ROWCOL          not probed: it holds no rows"));
  // HBase compares the row, not the cell, with the last key.
  EXPECT_THAT(Fine({"probe", "--row", Row(999), "--qualifier", "zz"}).out,
              testing::ContainsRegex("ROWCOL  .* there, chunk"));
  // `data --whole-keys` prints keys in this form.
  const std::string key = "\\x00\\x09row000011\\x01fb";
  EXPECT_THAT(Fine({"probe", "--key", key}).out, HasSubstr("yes, put at 111"));
  EXPECT_EQ(RunTool({"probe", "--key", "short", path_}).code, 2);
}

TEST_F(HFileVerbs, MeasuredRatesAreThePredictedOnes) {
  const uint64_t seed = test::SeedFromEnv();
  const uint64_t count = std::max<uint64_t>(test::Scaled(20'000), 2000);
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                               BloomType::kRowPrefixFixedLength}) {
    hfile::FileForm options = SmallBlocks();
    options.bloom_type = type;
    options.bloom_block_bytes = 1024;
    options.bloom_error_rate = 0.05F;
    if (type == BloomType::kRowPrefixFixedLength) {
      options.bloom_prefix_bytes = 7;
    }
    std::vector<HFileCell> cells;
    for (size_t i = 0; i < 4000; ++i) {
      // Prefixes of 7 bytes are all there are: rows are their ends apart.
      cells.push_back(test::MakeCell(test::DistinctKey(i, seed) + "end",
                                     i % 2 == 0 ? "first" : "other", 0));
    }
    std::sort(cells.begin(), cells.end(), [](const auto& a, const auto& b) {
      return CompareHFileKeys(a.View().key(), b.View().key()) < 0;
    });
    Write(options, cells);
    const std::vector<std::string> measure = {
        "measure-fpr",         "--json", "--count",
        std::to_string(count), "--seed", "5"};
    const Output output = Fine(measure);
    const std::vector<json> measured = Records(output, "measured");
    ASSERT_FALSE(measured.empty());
    for (const json& one : measured) {
      SCOPED_TRACE(one.dump());
      EXPECT_GT(one["probed"], count / 4);
      EXPECT_GT(one["passed"], 0);
      // The bound is three times the interval of 95 %, as filters of other rows
      // differ, too.
      const double rate = one["rate"];
      EXPECT_LT(one["predicted"],
                rate + 3 * (one["high"].get<double>() - rate));
      EXPECT_GT(one["predicted"], rate - 3 * (rate - one["low"].get<double>()));
    }
    EXPECT_EQ(Fine(measure).out, output.out);
  }
}

TEST_F(HFileVerbs, ProgressGoesForward) {
  Write(SmallBlocks(), NumberedCells(300));
  std::unique_ptr<table::TableFile> table;
  ASSERT_THAT(table::OpenTable(path_, &table), IsOk());
  std::vector<uint64_t> offsets;
  table->SetProgress([&](uint64_t offset) { offsets.push_back(offset); });
  const auto cells = table->NewCellReader();
  size_t count = 0;
  while (cells->Next()) ++count;
  EXPECT_EQ(count, 630U);
  EXPECT_GT(offsets.size(), 10U);
  EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
  EXPECT_EQ(offsets.back(), table->size_bytes());
}

// The program itself, on a file much larger than the memory it may take.
TEST_F(HFileVerbs, MemoryIsBoundedWhateverTheFile) {
  if (test::Scaled(100) != 100) {
    GTEST_SKIP() << "sanitizers and short runs have other sizes";
  }
  std::unique_ptr<HFileWriter> writer;
  ASSERT_THAT(HFileWriter::Open({}, path_, &writer), IsOk());
  const std::string value(4000, 'v');
  for (size_t i = 0; i < 25'000; ++i) {
    const std::string row = Row(i);
    ASSERT_THAT(writer->Append({.row = row,
                                .family = "f",
                                .qualifier = "q",
                                .timestamp_ms = 1,
                                .value = value}),
                IsOk());
  }
  ASSERT_THAT(writer->Finish(), IsOk());
  for (const char* verb : {"layout", "verify", "stats"}) {
    EXPECT_LT(test::MemoryOf({verb, path_}), 64 * 1024) << verb << ", in KiB";
  }
}

// A block is as large as its largest cell, and a reader's default limit less
// than that of a cell.
TEST_F(HFileVerbs, ValuesMayBeAsLargeAsAnExportWritesThem) {
  if (test::Scaled(100) != 100) GTEST_SKIP() << "a value of 256 MB";
  std::unique_ptr<HFileWriter> writer;
  ASSERT_THAT(HFileWriter::Open({.compression = HFileCompression::kLz4}, path_,
                                &writer),
              IsOk());
  const std::string value(HFileReaderOptions().max_block_bytes + 1, 'v');
  ASSERT_THAT(writer->Append({.row = "r",
                              .family = "f",
                              .qualifier = "q",
                              .timestamp_ms = 1,
                              .value = value}),
              IsOk());
  ASSERT_THAT(writer->Finish(), IsOk());
  EXPECT_THAT(Fine({"verify"}).out, HasSubstr("verdict   fine"));
  EXPECT_THAT(Fine({"stats"}).out, HasSubstr("268435457"));
}

// A page has the blocks of layout, and the bits of the chunks.
TEST_F(HFileVerbs, PageDrawsBlocksAndChunks) {
  Write(SmallBlocks(), NumberedCells(2000));
  std::unique_ptr<table::TableFile> file;
  ASSERT_THAT(table::OpenTable(path_, &file), IsOk());
  sst_inspect::FilePicture picture;
  ASSERT_THAT(sst_inspect::DrawFile(*file, {}, &picture), IsOk());
  EXPECT_EQ(picture.blocks,
            Records(Fine({"layout", "--json"}), "block").size());
  std::map<std::string, uint64_t> bytes;
  size_t chunks = 0;
  ASSERT_THAT(file->ForEachFilterPart([&](const table::FilterPart& chunk) {
    for (const table::SectionFacts& section : chunk.sections) {
      bytes[section.section] += section.bits.size();
    }
    ++chunks;
  }),
              IsOk());
  EXPECT_EQ(picture.filter_parts, chunks);
  ASSERT_EQ(picture.sections.size(), 2U);  // ROW, and deletes of families
  for (const sst_inspect::SectionPicture& section : picture.sections) {
    uint64_t drawn = 0;
    for (const auto& bucket : section.buckets) drawn += bucket.bytes;
    EXPECT_GT(drawn, 0U);
    EXPECT_EQ(drawn, bytes[section.what.first]);
  }
  const std::string page = Fine({"layout", "--html", "-"}).out;
  EXPECT_THAT(page, HasSubstr("<span class=swatch data-type=Bloom-chunk>"));
  EXPECT_THAT(page, HasSubstr(R"({"part":"chunk","buckets":)"));
}

}  // namespace
}  // namespace rowbloom
