// sst_inspect on HFiles that HFileWriter makes: what each verb says of cells
// that the test knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rowbloom/hfile.h"
#include "storage/hfile/block.h"
#include "tests/storage/hfile/edit_file.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/storage/sst/make_sst.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst_inspect/run_tool.h"
#include "tools/sst_inspect/file_picture.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom {
namespace {

using hfile::BlockType;
using nlohmann::json;
using test::IsOk;
using test::Output;
using test::Records;
using test::RunTool;
using test::TempDir;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string Row(size_t i) {
  std::string digits = std::to_string(i);
  return "row" + std::string(6 - digits.size(), '0') + digits;
}

// Rows of two columns; every tenth has a marker of its family.
std::vector<HFileCell> NumberedCells(size_t rows) {
  std::vector<HFileCell> cells;
  for (size_t i = 0; i < rows; ++i) {
    HFileCell cell;
    cell.row = Row(i);
    cell.family = "f";
    if (i % 10 == 0) {
      cell.timestamp_ms = 90;
      cell.type = HFileCellType::kDeleteFamily;
      cells.push_back(cell);
      cell.type = HFileCellType::kPut;
    }
    cell.timestamp_ms = static_cast<int64_t>(100 + i);
    cell.value = "value " + std::to_string(i);
    cell.mvcc = 3;
    for (const char* qualifier : {"a", "b"}) {
      cell.qualifier = qualifier;
      cells.push_back(cell);
    }
  }
  return cells;
}

HFileWriterOptions SmallBlocks() {
  HFileWriterOptions options;
  options.block_bytes = 512;
  options.index_block_bytes = 256;
  options.index_block_min_entries = 4;
  options.bloom_block_bytes = 256;
  options.create_time_ms = 1'700'000'000'000;
  return options;
}

class HFileVerbs : public testing::Test {
 protected:
  void Write(const HFileWriterOptions& options,
             const std::vector<HFileCell>& cells) {
    ASSERT_NO_FATAL_FAILURE(test::WriteCells(options, path_, cells));
  }
  Output Fine(std::vector<std::string> args) const {
    args.push_back(path_);
    Output output = RunTool(args);
    EXPECT_EQ(output.code, 0) << args[0] << "\n" << output.out << output.err;
    EXPECT_EQ(output.err, "");
    return output;
  }

  const TempDir dir_;
  // HBase's names are hex digits.
  const std::string path_ = dir_.File("6f2d1c0a9b8e4f77");
};

TEST_F(HFileVerbs, SummaryAndPropsReadNoDataBlock) {
  Write(SmallBlocks(), NumberedCells(200));
  std::string file = test::ReadFileBytes(path_);
  const size_t first_data = test::FindBlock(file, BlockType::kData);
  // Ruins all that is before the load-on-open section.
  const size_t end = file.find("IDXROOT2");
  ASSERT_NE(end, std::string::npos);
  std::fill(file.begin() + static_cast<long>(first_data),
            file.begin() + static_cast<long>(end), 'x');
  test::WriteFileBytes(path_, file);
  const std::string summary = Fine({}).out;
  EXPECT_THAT(summary, HasSubstr("HFile v3.3, checksum CRC32C"));
  EXPECT_THAT(summary, HasSubstr("family    f"));
  EXPECT_THAT(summary, HasSubstr("entries   420: 20 markers of families"));
  EXPECT_THAT(summary, HasSubstr("rows      row000000 to row000199"));
  EXPECT_THAT(summary, HasSubstr("times     0 to 299"));
  EXPECT_THAT(summary, HasSubstr("HBase ROW + delete family"));
  EXPECT_THAT(summary, HasSubstr("created   2023-11-14 22:13:20 UTC"));
  EXPECT_EQ(RunTool({"verify", path_}).code, 1);

  const std::string props = Fine({"props"}).out;
  EXPECT_THAT(props, HasSubstr("row000199/f:b/299/put"));
  EXPECT_THAT(props, HasSubstr("0 to 299"));
  const json record = Records(Fine({"summary", "--json"}), "summary").at(0);
  EXPECT_EQ(record["format"], "HFile v3.3");
  EXPECT_EQ(record["entries"], 420);
  EXPECT_EQ(record["family_deletions"], 20);
  EXPECT_EQ(record["filter"], "compound");
}

TEST_F(HFileVerbs, DataIsFoundByRowRangeAndLimit) {
  const std::vector<HFileCell> cells = NumberedCells(300);
  Write(SmallBlocks(), cells);
  const auto rows_of = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"data", "--json"});
    std::multiset<std::string> rows;
    for (const json& cell : Records(Fine(args), "cell")) {
      rows.insert(cell["row"]);
    }
    return rows;
  };
  const auto expected = [&](const std::string& from, const std::string& to) {
    std::multiset<std::string> rows;
    for (const HFileCell& cell : cells) {
      if (cell.row >= from && cell.row < to) rows.insert(cell.row);
    }
    return rows;
  };
  EXPECT_EQ(rows_of({}), expected("", "s"));
  EXPECT_EQ(rows_of({"--row", "row000120"}),
            expected("row000120", "row000121"));
  EXPECT_EQ(rows_of({"--row", "row00012"}), expected("", ""));
  EXPECT_EQ(rows_of({"--from", "row000250"}), expected("row000250", "s"));
  EXPECT_EQ(rows_of({"--from", "row00009", "--to", "row000101"}),
            expected("row00009", "row000101"));
  EXPECT_EQ(rows_of({"--to", "row000003"}), expected("", "row000003"));
  EXPECT_EQ(rows_of({"--limit", "7"}).size(), 7U);

  const Output text = Fine({"data", "--row", "row000010"});
  EXPECT_THAT(text.out, HasSubstr("  row000010  f:  t=90 delete-family@0"));
  EXPECT_THAT(text.out, HasSubstr("  row000010  f:a  t=110 put@3  value 10\n"));
  EXPECT_THAT(Fine({"data", "--raw", "--row", "row000011"}).out,
              HasSubstr("  \\x00\\x09row000011\\x01fa  t=111 put@3  value 11"));
  EXPECT_EQ(RunTool({"data", "--key-layout", "escaped", path_}).code, 2);
  EXPECT_THAT(RunTool({"data", "--row", "", path_}).err,
              HasSubstr("row of 0 bytes, expected 1 to 32767"));
}

TEST_F(HFileVerbs, StatsCountWhatWasWritten) {
  Write(SmallBlocks(), NumberedCells(300));
  const Output output = Fine({"stats", "--json", "--biggest", "2"});
  const json stats = Records(output, "stats").at(0);
  EXPECT_EQ(stats["entries"], 630);
  EXPECT_EQ(stats["keys"], 630);
  EXPECT_EQ(stats["rows"], 300);
  EXPECT_EQ(stats["columns"], 600);
  EXPECT_EQ(stats["key_layout"], "hfile");
  std::map<std::string, uint64_t> types;
  for (const json& type : Records(output, "type")) {
    types[type["type"]] = type["entries"];
  }
  EXPECT_EQ(types, (std::map<std::string, uint64_t>{{"delete-family", 30},
                                                    {"put", 600}}));
  EXPECT_EQ(Records(output, "row").at(0)["entries"], 3);
}

TEST_F(HFileVerbs, LayoutAndIndexAgreeInFilesOfManyLevels) {
  HFileWriterOptions options = SmallBlocks();
  options.compression = HFileCompression::kLz4;
  Write(options, NumberedCells(2000));
  const Output layout = Fine({"layout", "--json"});
  std::vector<uint64_t> data;
  std::map<std::string, uint64_t> types;
  for (const json& block : Records(layout, "block")) {
    ++types[block["type"]];
    if (block["type"] == "data") data.push_back(block["offset"]);
  }
  for (const char* type :
       {"data", "leaf index", "intermediate index", "Bloom chunk", "root index",
        "file info", "Bloom filter", "trailer"}) {
    EXPECT_GT(types[type], 0U) << type;
  }
  EXPECT_EQ(types["root index"], 2U);
  EXPECT_EQ(types["Bloom filter"], 2U);
  std::vector<uint64_t> indexed;
  size_t leaf = 0;
  for (const json& entry : Records(Fine({"index", "--json"}), "index_entry")) {
    indexed.push_back(entry["offset"]);
    leaf = entry["partition"];
  }
  EXPECT_EQ(indexed, data);
  EXPECT_EQ(leaf, types["leaf index"]);
  EXPECT_THAT(Fine({"index"}).out, HasSubstr("from key"));
  EXPECT_THAT(Fine({"index"}).out, HasSubstr("row000000/f:/90/delete-family"));
}

// The chunks' numbers from their bytes.
TEST_F(HFileVerbs, FilterShowsEachChunk) {
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    HFileWriterOptions options = SmallBlocks();
    options.bloom_type = type;
    Write(options, NumberedCells(1000));
    std::unique_ptr<sst_inspect::TableFile> table;
    ASSERT_THAT(sst_inspect::OpenTable(path_, &table), IsOk());
    std::vector<sst_inspect::FilterChunk> chunks;
    ASSERT_THAT(table->ForEachFilterChunk([&](const auto& chunk) {
      EXPECT_THAT(chunk.status, IsOk());
      EXPECT_EQ(chunk.facts.size_bytes, chunk.facts.bits.size());
      size_t bits = 0;
      for (const char byte : chunk.facts.bits) {
        bits += static_cast<size_t>(
            std::popcount(static_cast<unsigned char>(byte)));
      }
      EXPECT_DOUBLE_EQ(*chunk.facts.fill,
                       static_cast<double>(bits) /
                           static_cast<double>(8 * chunk.facts.bits.size()));
      chunks.push_back(chunk);
    }),
                IsOk());
    const std::vector<json> records =
        Records(Fine({"filter", "--json"}), "chunk");
    ASSERT_EQ(records.size(), chunks.size());
    std::map<std::string, uint64_t> keys;
    std::map<std::string, json> last;
    for (size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(records[i]["fill"], *chunks[i].facts.fill);
      EXPECT_EQ(records[i]["keys_estimated"], false);
      EXPECT_EQ(records[i]["folds_assumed"], false);
      keys[records[i]["section"]] += records[i]["keys"].get<uint64_t>();
      last[records[i]["section"]] = records[i];
    }
    const uint64_t rowcol_keys = 2 * 1000 + 100;
    if (type == BloomType::kRow) {
      EXPECT_EQ(keys, (std::map<std::string, uint64_t>{
                          {"ROW", 1000}, {"delete family", 100}}));
      // 256 bytes hold 213 keys; 148 are left, and too many to fold.
      EXPECT_EQ(last["ROW"]["keys"], 1000 - 4 * 213);
      EXPECT_EQ(last["ROW"]["folds"], 0);
      // 100 are not: but its room for 213 is more than twice as much.
      EXPECT_EQ(last["delete family"]["folds"], 1);
      EXPECT_EQ(last["delete family"]["bytes"], 128);
      EXPECT_EQ(last["delete family"]["capacity"], 106);
    } else {
      EXPECT_EQ(keys,
                (std::map<std::string, uint64_t>{{"ROWCOL", rowcol_keys}}));
    }
    const std::string text = Fine({"filter"}).out;
    EXPECT_THAT(text, HasSubstr("murmur, "));
    EXPECT_THAT(text, HasSubstr("folded  from key"));
  }
}

TEST_F(HFileVerbs, ASingleChunkIsComparedWithHBasesDefault) {
  HFileWriterOptions options;
  Write(options, NumberedCells(1));
  const json chunk = Records(Fine({"filter", "--json"}), "chunk").at(0);
  // One key in 2 bytes of what were 128 KiB.
  EXPECT_EQ(chunk["keys"], 1);
  EXPECT_EQ(chunk["bytes"], 2);
  EXPECT_EQ(chunk["folds"], 16);
  EXPECT_EQ(chunk["folds_assumed"], true);
  options.bloom_block_bytes = 384;
  options.bloom_max_fold = 0;
  Write(options, NumberedCells(200));
  const json odd = Records(Fine({"filter", "--json"}), "chunk").at(0);
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

  HFileWriterOptions options = SmallBlocks();
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
              HasSubstr("ROWCOL          not asked: it holds no rows"));
  // As `data --raw` prints it.
  const std::string key = "\\x00\\x09row000011\\x01fb";
  EXPECT_THAT(Fine({"probe", "--key", key}).out, HasSubstr("yes, put at 111"));
  EXPECT_EQ(RunTool({"probe", "--key", "short", path_}).code, 2);
}

TEST_F(HFileVerbs, MeasuredRatesAreThePredictedOnes) {
  const uint64_t seed = test::SeedFromEnv();
  SCOPED_TRACE("ROWBLOOM_SEED=" + std::to_string(seed));
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                               BloomType::kRowPrefixFixedLength}) {
    HFileWriterOptions options = SmallBlocks();
    options.bloom_type = type;
    options.bloom_block_bytes = 1024;
    options.bloom_error_rate = 0.05F;
    if (type == BloomType::kRowPrefixFixedLength) {
      options.bloom_prefix_bytes = 7;
    }
    std::vector<HFileCell> cells;
    for (size_t i = 0; i < 4000; ++i) {
      HFileCell cell;
      // Prefixes of 7 bytes are all there are: rows are their ends apart.
      cell.row = test::DistinctKey(i, seed) + "end";
      cell.family = "f";
      cell.qualifier = i % 2 == 0 ? "first" : "other";
      cells.push_back(cell);
    }
    std::sort(cells.begin(), cells.end(), [](const auto& a, const auto& b) {
      return CompareHFileKeys(a.View().key(), b.View().key()) < 0;
    });
    Write(options, cells);
    const Output output =
        Fine({"measure-fpr", "--json", "--count", "20000", "--seed", "5"});
    const std::vector<json> measured = Records(output, "measured");
    ASSERT_FALSE(measured.empty());
    for (const json& one : measured) {
      SCOPED_TRACE(one.dump());
      EXPECT_GT(one["asked"], 5000);
      EXPECT_GT(one["passed"], 0);
      // Twice the interval of 95 %.
      const double rate = one["rate"];
      EXPECT_LT(one["predicted"],
                rate + 2 * (one["high"].get<double>() - rate));
      EXPECT_GT(one["predicted"], rate - 2 * (rate - one["low"].get<double>()));
    }
    EXPECT_EQ(
        Fine({"measure-fpr", "--json", "--count", "20000", "--seed", "5"}).out,
        output.out);
  }
}

TEST_F(HFileVerbs, DiffComparesCellsNotHowTheyAreStored) {
  std::vector<HFileCell> cells = NumberedCells(300);
  Write(SmallBlocks(), cells);
  HFileWriterOptions other_options;
  other_options.compression = HFileCompression::kGz;
  other_options.mvcc = false;
  for (HFileCell& cell : cells) cell.mvcc = 0;
  const std::string other = dir_.File("other");
  ASSERT_NO_FATAL_FAILURE(test::WriteCells(other_options, other, cells));
  const Output same = RunTool({"diff", path_, other});
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_THAT(same.out, HasSubstr("630 cells the same, 0 only in a"));
  EXPECT_THAT(same.out, HasSubstr("trailer.compression"));

  cells.erase(cells.begin() + 100);
  cells[200].value = "new";
  ASSERT_NO_FATAL_FAILURE(test::WriteCells(other_options, other, cells));
  const Output differ = RunTool({"diff", "--json", path_, other});
  EXPECT_EQ(differ.code, 1);
  const json totals = Records(differ, "diff").at(0);
  EXPECT_EQ(totals["same"], 628);
  EXPECT_EQ(totals["only_a"], 1);
  EXPECT_EQ(totals["changed"], 1);
  EXPECT_THAT(Records(differ, "cell_differs").at(0)["key"].get<std::string>(),
              HasSubstr("/f:"));

  ASSERT_NO_FATAL_FAILURE(
      test::WriteSst({}, dir_.File("a.sst"), test::NumberedKeys(10)));
  const Output mixed = RunTool({"diff", path_, dir_.File("a.sst")});
  EXPECT_EQ(mixed.code, 2);
  EXPECT_THAT(mixed.err, HasSubstr("cannot be compared"));
}

TEST_F(HFileVerbs, AFolderMayHoldBothKindsUnderAnyName) {
  Write(SmallBlocks(), NumberedCells(20));
  ASSERT_NO_FATAL_FAILURE(
      test::WriteSst({}, dir_.File("000012.sst"), test::NumberedKeys(10)));
  // Names say nothing.
  std::filesystem::copy(path_, dir_.File("an_hfile.sst"));
  std::filesystem::copy(dir_.File("000012.sst"), dir_.File("table"));
  test::WriteFileBytes(dir_.File("LOG"), "no table at all, and not listed");
  std::filesystem::create_directory(dir_.File("folder"));
  const Output output = RunTool({"summary", "--json", dir_.path()});
  EXPECT_EQ(output.code, 0) << output.err;
  std::map<std::string, std::string> formats;
  for (const json& record : Records(output, "summary")) {
    const std::filesystem::path path = record["file"].get<std::string>();
    formats[path.filename()] = record["format"].get<std::string>().substr(0, 5);
  }
  EXPECT_EQ(formats,
            (std::map<std::string, std::string>{{"000012.sst", "Rocks"},
                                                {"6f2d1c0a9b8e4f77", "HFile"},
                                                {"an_hfile.sst", "HFile"},
                                                {"table", "Rocks"}}));
  for (const char* verb : {"verify", "layout", "stats", "filter", "data"}) {
    EXPECT_EQ(RunTool({verb, dir_.path()}).code, 0) << verb;
  }
  EXPECT_THAT(RunTool({"probe", "--key", "key000001", dir_.File("000012.sst"),
                       dir_.File("table")})
                  .out,
              HasSubstr("2 of 2 files may hold the key"));
}

TEST_F(HFileVerbs, AdviceIsRefusedInOneSentence) {
  Write(SmallBlocks(), NumberedCells(20));
  const Output output = RunTool({"advise", path_});
  EXPECT_EQ(output.code, 2);
  EXPECT_THAT(output.err, HasSubstr("advise is about SSTs"));
  EXPECT_EQ(test::Lines(output.err).size(), 1U);
}

TEST_F(HFileVerbs, ProgressGoesForward) {
  Write(SmallBlocks(), NumberedCells(300));
  std::unique_ptr<sst_inspect::TableFile> table;
  ASSERT_THAT(sst_inspect::OpenTable(path_, &table), IsOk());
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
    const pid_t child = fork();
    if (child == 0) {
      if (freopen("/dev/null", "w", stdout) == nullptr) _exit(126);
      execl(ROWBLOOM_SST_INSPECT, "sst_inspect", verb, path_.c_str(), nullptr);
      _exit(127);
    }
    int status = 0;
    struct rusage usage {};
    ASSERT_EQ(wait4(child, &status, 0, &usage), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << verb;
    EXPECT_LT(usage.ru_maxrss, 64 * 1024) << verb << ", in KiB";
  }
}

// A page has the blocks of layout, and the bits of the chunks.
TEST_F(HFileVerbs, PageDrawsBlocksAndChunks) {
  Write(SmallBlocks(), NumberedCells(2000));
  std::unique_ptr<sst_inspect::TableFile> file;
  ASSERT_THAT(sst_inspect::OpenTable(path_, &file), IsOk());
  sst_inspect::FilePicture picture;
  ASSERT_THAT(sst_inspect::DrawFile(*file, {}, &picture), IsOk());
  EXPECT_EQ(picture.blocks,
            Records(Fine({"layout", "--json"}), "block").size());
  std::map<std::string, uint64_t> bytes;
  size_t chunks = 0;
  ASSERT_THAT(
      file->ForEachFilterChunk([&](const sst_inspect::FilterChunk& chunk) {
        bytes[chunk.facts.section] += chunk.facts.bits.size();
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
