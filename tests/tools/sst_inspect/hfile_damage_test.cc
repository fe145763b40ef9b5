// sst_inspect on HFiles that are damaged, lie about themselves, or are of a
// kind that cannot be read whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "rowbloom/hfile.h"
#include "storage/hfile/block.h"
#include "storage/hfile/cell.h"
#include "storage/hfile/file_form.h"
#include "tests/storage/hfile/edit_file.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst_inspect/run_tool.h"

namespace rowbloom::hfile_damage_test {
namespace {

using hfile::BlockType;
using nlohmann::json;
using test::EditFileInfo;
using test::EditPayload;
using test::Output;
using test::Records;
using test::RunFine;
using test::RunTool;
using test::TempDir;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<HFileCell> Cells() {
  return test::NumberedRows(200, /*deleted=*/50);
}

class DamagedHFile : public testing::Test {
 protected:
  void SetUp() override {
    hfile::FileForm options;
    options.block_bytes = 512;
    options.bloom_block_bytes = 128;
    ASSERT_NO_FATAL_FAILURE(test::WriteCells(options, path_, Cells()));
    good_ = test::ReadFile(path_);
    ASSERT_EQ(RunTool({"verify", path_}).code, 0);
  }

  void Write(const std::string& file) { test::WriteFile(path_, file); }

  void VerifyFinds(const std::string& sentence) {
    const Output output = RunTool({"verify", path_});
    EXPECT_EQ(output.code, 1) << output.out;
    EXPECT_EQ(output.err, "");
    EXPECT_THAT(output.out, HasSubstr("problem: " + path_));
    EXPECT_THAT(output.out, HasSubstr(sentence));
    EXPECT_THAT(output.out, HasSubstr("verdict   damaged"));
    const json verify =
        Records(RunTool({"verify", "--json", path_}), "verify").at(0);
    EXPECT_GT(verify["problems"], 0);
    EXPECT_EQ(verify["verdict"], "damaged");
  }

  void VerifyFindsInInfo(const std::string& name, const std::string& value,
                         const std::string& sentence) {
    std::string file = good_;
    EditFileInfo(&file, [&](hfile::FileInfo* info) {
      ASSERT_TRUE(info->contains(name)) << name;
      ASSERT_NE((*info)[name], value);
      (*info)[name] = value;
    });
    Write(file);
    VerifyFinds(sentence);
    // All that is wrong; and nothing else notices.
    EXPECT_THAT(RunTool({"verify", path_}).out, HasSubstr("problems  1\n"));
    EXPECT_EQ(RunTool({"layout", path_}).code, 0);
    EXPECT_EQ(RunTool({"data", path_}).code, 0);
  }

  const TempDir dir_;
  const std::string path_ = dir_.File("hfile");
  std::string good_;
};

std::string LastKeyOf(const std::string& row) {
  std::string key;
  hfile::AppendKey({.row = row,
                    .family = "f",
                    .qualifier = "q",
                    .timestamp_ms = 7,
                    .type = HFileCellType::kPut},
                   &key);
  return key;
}

TEST_F(DamagedHFile, EachSilentKillerIsFoundByAFullScan) {
  // Gets behind it would not look into the file.
  VerifyFindsInInfo("LAST_BLOOM_KEY", "row100",
                    "LAST_BLOOM_KEY: expected row199, found row100");
  RunFine({"probe", "--row", "row100", path_});
  EXPECT_THAT(RunTool({"props", path_}).out,
              testing::ContainsRegex("LAST_BLOOM_KEY +row100"));

  VerifyFindsInInfo("hfile.LASTKEY", LastKeyOf("row150"),
                    "hfile.LASTKEY: expected ");
  // Cells outside of it would not be seen.
  VerifyFindsInInfo("TIMERANGE", hfile::U64Bytes(0) + hfile::U64Bytes(8),
                    "TIMERANGE, to: expected 9, found 8");
  VerifyFindsInInfo("TIMERANGE", hfile::U64Bytes(1) + hfile::U64Bytes(9),
                    "TIMERANGE, from: expected 0, found 1");
  // Markers would not be looked for: what they delete would come back.
  VerifyFindsInInfo("DELETE_FAMILY_COUNT", hfile::U64Bytes(0),
                    "DELETE_FAMILY_COUNT: expected 1, found 0");
}

TEST_F(DamagedHFile, ProbeFindsWhatTheFileDeniesItHas) {
  std::string file = good_;
  EditFileInfo(&file, [](hfile::FileInfo* info) {
    (*info)["LAST_BLOOM_KEY"] = "row100";
    (*info)["hfile.LASTKEY"] = LastKeyOf("row150");
  });
  Write(file);
  for (const char* row : {"row120", "row170"}) {
    const Output output = RunTool({"probe", "--row", row, path_});
    EXPECT_EQ(output.code, 1);
    EXPECT_THAT(output.out, HasSubstr("verdict         not there"));
    EXPECT_THAT(output.out, HasSubstr("in file         yes, put at 7"));
    EXPECT_THAT(output.out,
                HasSubstr("problem: false negative: it is in the file"));
  }
  EXPECT_THAT(RunTool({"probe", "--row", "row170", path_}).out,
              HasSubstr("outside of first to last row"));
}

TEST_F(DamagedHFile, FalseNegativesAreCounted) {
  std::string file = good_;
  EditPayload(&file, BlockType::kBloomChunk,
              [](std::string* bits) { bits->assign(bits->size(), '\0'); });
  Write(file);
  VerifyFinds("Bloom filter: no for key \"row000\", which is there");
  const json verify =
      Records(RunTool({"verify", "--json", path_}), "verify").at(0);
  // A chunk of 128 bytes has 106 keys; the marker's row is of another filter.
  EXPECT_EQ(verify["false_negatives"], 106);
  EXPECT_EQ(verify["keys_probed"], 201);
  EXPECT_EQ(verify["problems"], 106);
  // The first of them are printed.
  EXPECT_EQ(Records(RunTool({"verify", "--json", path_}), "problem").size(),
            20U);
}

TEST_F(DamagedHFile, VerifyAndLayoutGoOnBehindADamagedBlock) {
  std::string file = good_;
  const size_t third = test::FindBlock(file, BlockType::kData, 2);
  file[third + 100] = static_cast<char>(file[third + 100] ^ 1);
  Write(file);
  VerifyFinds("block at offset " + std::to_string(third) + ": checksum 0");
  const json verify =
      Records(RunTool({"verify", "--json", path_}), "verify").at(0);
  EXPECT_EQ(verify["damaged_blocks"], 1);
  EXPECT_EQ(verify["problems"], 1);
  // All but those of one block.
  EXPECT_GT(verify["cells"], 150);
  EXPECT_LT(verify["cells"], 201);

  const Output layout = RunTool({"layout", "--json", path_});
  EXPECT_EQ(layout.code, 1);
  uint64_t end = 0;
  size_t damaged = 0;
  for (const json& block : Records(layout, "block")) {
    EXPECT_EQ(block["offset"], end);
    end += block["stored_bytes"].get<uint64_t>();
    if (block.value("ok", true)) continue;
    ++damaged;
    EXPECT_EQ(block["offset"], third);
    EXPECT_THAT(block["problem"].get<std::string>(), StartsWith(path_));
  }
  EXPECT_EQ(damaged, 1U);
  EXPECT_EQ(end, file.size());

  for (const char* verb : {"data", "stats"}) {
    const Output output = RunTool({verb, path_});
    EXPECT_EQ(output.code, 1) << verb;
    EXPECT_EQ(test::Lines(output.err).size(), 1U) << output.err;
    EXPECT_THAT(output.err, HasSubstr("checksum 0: expected "));
  }
  // The row before it is still found, in it nothing is known.
  EXPECT_EQ(RunTool({"probe", "--row", "row000", path_}).code, 0);
}

TEST_F(DamagedHFile, ABlockWithoutAHeaderIsAGapUpToTheNextThatIsKnown) {
  std::string file = good_;
  const size_t second = test::FindBlock(file, BlockType::kData, 1);
  const size_t third = test::FindBlock(file, BlockType::kData, 2);
  file.replace(second, 8, "whatever");
  Write(file);
  VerifyFinds("unknown block magic \"whatever\"");
  const std::vector<json> blocks =
      Records(RunTool({"layout", "--json", path_}), "block");
  ASSERT_GT(blocks.size(), 5U);
  EXPECT_EQ(blocks[1]["type"], "gap");
  EXPECT_EQ(blocks[1]["ok"], false);
  EXPECT_EQ(blocks[2]["type"], "data");
  EXPECT_EQ(blocks[2]["offset"], third);
  // A header that claims far too much hides nothing either.
  file = good_;
  test::Overwrite32(&file, second + 8,
                    static_cast<uint32_t>(file.size() - second - 4096 - 33));
  Write(file);
  EXPECT_EQ(Records(RunTool({"layout", "--json", path_}), "block").size(),
            blocks.size());
}

TEST_F(DamagedHFile, ADamagedChunkIsNamedAndMayHoldEverything) {
  std::string file = good_;
  const size_t chunk = test::FindBlock(file, BlockType::kBloomChunk);
  file[chunk + 40] = static_cast<char>(file[chunk + 40] ^ 1);
  Write(file);
  const Output filter = RunTool({"filter", path_});
  EXPECT_EQ(filter.code, 1);
  EXPECT_THAT(filter.out, HasSubstr("problem: chunk 1: " + path_));
  EXPECT_THAT(filter.out, HasSubstr("checksum 0"));
  const json section =
      Records(RunTool({"filter", "--json", path_}), "section").at(0);
  EXPECT_TRUE(section.at("bits_per_key").is_null()) << section;
  const Output probe = RunTool({"probe", "--row", "row0000", path_});
  EXPECT_EQ(probe.code, 1);
  EXPECT_THAT(probe.out, HasSubstr("section unusable, chunk 1 of 2"));
  EXPECT_THAT(probe.out, HasSubstr("verdict         may be there"));
  EXPECT_EQ(RunTool({"measure-fpr", "--count", "1000", path_}).code, 1);
  VerifyFinds("106 keys fell to Bloom chunks that are damaged");
}

TEST_F(DamagedHFile, ADamagedFilterDescriptionIsNamed) {
  std::string file = good_;
  EditPayload(&file, BlockType::kGeneralBloomMeta,
              [](std::string* payload) { payload->resize(3); });
  Write(file);
  const Output filter = RunTool({"filter", path_});
  EXPECT_EQ(filter.code, 1);
  EXPECT_THAT(filter.out, HasSubstr("problem: " + path_));
  EXPECT_THAT(filter.out, HasSubstr("delete family"));
  EXPECT_EQ(RunTool({"probe", "--row", "row001", path_}).code, 1);
  VerifyFinds("Bloom filter at offset");
}

// HBase's Ribbon filters have version 101.
TEST_F(DamagedHFile, AFilterOfAnotherKindIsANote) {
  std::string file = good_;
  EditPayload(&file, BlockType::kGeneralBloomMeta,
              [](std::string* payload) { test::Overwrite32(payload, 0, 101); });
  Write(file);
  const Output verify = RunFine({"verify", path_});
  EXPECT_THAT(verify.out,
              AllOf(HasSubstr("note: a filter is not checked: " + path_),
                    HasSubstr("Bloom filter of version 101"),
                    HasSubstr("verdict   fine"), Not(HasSubstr("problem"))));
}

TEST_F(DamagedHFile, ADamagedIndexIsAFinding) {
  hfile::FileForm options;
  options.block_bytes = 128;
  options.index_block_bytes = 128;
  options.index_block_min_entries = 2;
  ASSERT_NO_FATAL_FAILURE(test::WriteCells(options, path_, Cells()));
  std::string file = test::ReadFile(path_);
  const size_t leaf = test::FindBlock(file, BlockType::kLeafIndex, 1);
  file[leaf + 45] = static_cast<char>(file[leaf + 45] ^ 1);
  Write(file);
  VerifyFinds("block at offset " + std::to_string(leaf) + ": checksum 0");
  const json verify =
      Records(RunTool({"verify", "--json", path_}), "verify").at(0);
  EXPECT_EQ(verify["problems"], 1);
  // The cells are those of the leaves before and behind it.
  EXPECT_GT(verify["cells"], 150);
  EXPECT_LT(verify["cells"], 201);
  const Output index = RunTool({"index", path_});
  EXPECT_EQ(index.code, 1);
  EXPECT_EQ(test::Lines(index.err).size(), 1U);
}

TEST_F(DamagedHFile, FilesThatCannotBeOpenedGiveOneSentence) {
  std::string v2 = good_;
  test::Overwrite32(&v2, v2.size() - 4, 2);
  std::string far = good_;
  test::EditTrailer(&far, [](HFileTrailer* trailer) {
    trailer->load_on_open_offset = uint64_t{1} << 62;
  });
  std::string info = good_;
  const size_t info_at = test::FindBlock(info, BlockType::kFileInfo);
  info[info_at + 40] = static_cast<char>(info[info_at + 40] ^ 1);
  struct Case {
    std::string bytes;
    int code;
    std::string why;
  };
  for (const Case& tested :
       {Case{v2, 2, "HFile v2, expected v3"},
        Case{far, 1, "load-on-open offset"}, Case{info, 1, "checksum 0"},
        // Its start tells what a file is that lost its end.
        Case{good_.substr(0, good_.size() - 1), 1,
             "not an HFile, or cut short"},
        Case{good_.substr(0, 1000), 1, "not an HFile, or cut short"},
        Case{std::string(5000, 'x'), 2, "not a RocksDB table"}}) {
    Write(tested.bytes);
    for (const char* verb : {"summary", "props", "layout", "index", "data",
                             "filter", "verify", "stats", "measure-fpr"}) {
      SCOPED_TRACE(verb);
      const Output output = RunTool({verb, path_});
      EXPECT_EQ(output.code, tested.code);
      EXPECT_EQ(output.out, "");
      EXPECT_EQ(test::Lines(output.err).size(), 1U) << output.err;
      EXPECT_THAT(output.err, StartsWith("sst_inspect: " + path_));
      EXPECT_THAT(output.err, HasSubstr(tested.why));
    }
  }
}

TEST_F(DamagedHFile, FilesWhoseCellsCannotBeReadShowTheRest) {
  const auto shows = [&](const std::string& file, const std::string& why,
                         bool has_filter) {
    Write(file);
    for (const char* verb : {"summary", "props", "layout"}) {
      EXPECT_EQ(RunTool({verb, path_}).code, 0) << verb;
    }
    EXPECT_THAT(RunTool({"summary", path_}).out, HasSubstr(why));
    EXPECT_EQ(RunTool({"filter", path_}).code, has_filter ? 0 : 2);
    for (const char* verb : {"data", "stats", "verify"}) {
      const Output output = RunTool({verb, path_});
      EXPECT_EQ(output.code, 2) << verb;
      EXPECT_EQ(test::Lines(output.err).size(), 1U) << output.err;
      EXPECT_THAT(output.err, HasSubstr(why));
    }
    EXPECT_THAT(RunTool({"verify", path_}).out,
                HasSubstr("verdict   not known"));
    const Output probe = RunTool({"probe", "--row", "row000", path_});
    EXPECT_EQ(probe.code, 2);
    EXPECT_THAT(probe.out, HasSubstr("in file         not known"));
  };
  std::string encoded = good_;
  EditFileInfo(&encoded, [](hfile::FileInfo* info) {
    (*info)["DATA_BLOCK_ENCODING"] = "COPY_KEY";
  });
  shows(encoded, "unsupported encoding COPY_KEY of data blocks", true);
  std::string lzo = good_;
  test::EditTrailer(&lzo, [](HFileTrailer* trailer) {
    trailer->compression = HFileCompression::kLzo;
  });
  shows(lzo, "compressed with LZO, which is not supported", false);
  // Checksums are checked all the same.
  lzo[100] = static_cast<char>(lzo[100] ^ 1);
  Write(lzo);
  EXPECT_EQ(RunTool({"layout", path_}).code, 1);
}

// No byte can change without a finding, and none makes the tool fail.
TEST_F(DamagedHFile, EveryFlippedByteIsAFinding) {
  size_t tested = 0;
  // Behind the trailer's message are zeros that nobody reads.
  const size_t end = good_.size() - 4096;
  for (size_t at = 0; at < end; at += 61, ++tested) {
    std::string file = good_;
    file[at] = static_cast<char>(file[at] ^ 1);
    Write(file);
    const Output output = RunTool({"verify", path_});
    EXPECT_EQ(output.code, 1) << "byte " << at << output.out << output.err;
    EXPECT_THAT(output.out + output.err, HasSubstr(path_));
  }
  EXPECT_GT(tested, 100U);
}

}  // namespace
}  // namespace rowbloom::hfile_damage_test
