// sst_inspect on HFiles that HBase and Hudi wrote: every verb says what HBase
// itself dumped and answered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "rowbloom/printable.h"
#include "storage/format/coding.h"
#include "tests/storage/hfile/dump.h"
#include "tests/support/data.h"
#include "tests/support/outside.h"
#include "tests/tools/sst_inspect/run_tool.h"

namespace rowbloom {
namespace {

using nlohmann::json;
using test::Dump;
using test::Output;
using test::Records;
using test::RunFine;
using test::RunTool;
using testing::HasSubstr;

constexpr const char* kFiles[] = {
    "2.4.7/empty_lz4",
    "2.4.7/nobloom_none",
    "2.4.7/row_deletes_tags_gz",
    "2.4.7/row_none",
    "2.4.7/row_none_smallblocks",
    "2.4.7/rowcol_deletes_lz4",
    "2.4.7/rowcol_none_unicode",
    "2.4.7/rowprefix4_lz4",
    "2.6/row_deepindex_murmur3",
    "2.6/row_lz4_bigblock",
    "2.6/row_none",
    "2.6/rowcol_deletes_lz4",
    "encodings/2.4.7/fastdiff_gz_tagscompressed",
    "encodings/2.6/diff_lz4_tagscompressed",
    "encodings/2.4.7/fastdiff_none_mixed",
    "encodings/2.6/prefix_gz_tags",
    "encodings/2.6/rowindex_none_mixed",
};

class HFileOfHBase : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = Beside(".hfile");
    dump_ = test::ReadDump(Beside(".dump.txt.gz"));
  }

  std::string Beside(const std::string& ending) const {
    return test::DataPath("hbase/" + std::string(GetParam()) + ending);
  }

  Output Fine(std::vector<std::string> args) const {
    args.push_back(path_);
    Output output = RunFine(args);
    EXPECT_EQ(output.err, "");
    return output;
  }

  std::string path_;
  Dump dump_;
};

std::string Hex(const json& record, const char* member) {
  return test::FromHex(record.value(member, ""));
}

std::string TypeName(HFileCellType type) {
  switch (type) {
    case HFileCellType::kPut:
      return "put";
    case HFileCellType::kDelete:
      return "delete";
    case HFileCellType::kDeleteFamilyVersion:
      return "delete-family-version";
    case HFileCellType::kDeleteColumn:
      return "delete-column";
    case HFileCellType::kDeleteFamily:
      return "delete-family";
    default:
      return "unknown";
  }
}

TEST_P(HFileOfHBase, DataIsTheDump) {
  const std::vector<json> cells =
      Records(Fine({"data", "--json", "--hex"}), "cell");
  ASSERT_EQ(cells.size(), dump_.cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    HFileCell cell;
    cell.row = Hex(cells[i], "row");
    cell.family = Hex(cells[i], "family");
    cell.qualifier = Hex(cells[i], "qualifier");
    cell.timestamp_ms = cells[i]["timestamp"];
    EXPECT_EQ(cells[i]["type"], TypeName(dump_.cells[i].type));
    cell.type = dump_.cells[i].type;
    cell.value = Hex(cells[i], "value");
    cell.tags = Hex(cells[i], "tags");
    cell.mvcc = cells[i]["sequence"];
    ASSERT_EQ(cell, dump_.cells[i]) << "cell " << i;
  }
}

// Numbers as HBase dumped their bytes; true and false of one byte.
TEST_P(HFileOfHBase, PropsAreTrailerAndFileInfo) {
  std::map<std::string, json> props;
  for (const json& record : Records(Fine({"props", "--json"}), "property")) {
    props[record["name"]] = record["value"];
  }
  EXPECT_EQ(props["trailer.entry_count"], dump_.cells.size());
  EXPECT_EQ(props["trailer.compression"], dump_.trailer.at("compressionCodec"));
  EXPECT_EQ(std::to_string(props["trailer.load_on_open_offset"].get<int>()),
            dump_.trailer.at("loadOnOpenDataOffset"));
  dump_.file_info.erase("hfile.FILE_PATH");
  dump_.file_info.erase("hfile.FILE_SIZE");
  size_t numbers = 0;
  for (const auto& [name, bytes] : dump_.file_info) {
    ASSERT_TRUE(props.contains(name)) << name;
    const json& value = props[name];
    if (value.is_number()) {
      ++numbers;
      EXPECT_EQ(value, bytes.size() == 4 ? LoadBig<uint32_t>(bytes.data())
                                         : LoadBig<uint64_t>(bytes.data()))
          << name;
    } else if (bytes.size() == 1 && name != "LAST_BLOOM_KEY") {
      EXPECT_EQ(value, bytes[0] == 0 ? "false" : "true") << name;
    }
  }
  EXPECT_GE(numbers, 3U);
  if (dump_.cells.empty()) return;
  EXPECT_THAT(props["hfile.LASTKEY"].get<std::string>(),
              testing::EndsWith("/" + TypeName(dump_.cells.back().type)));
  const std::string range = dump_.file_info.at("TIMERANGE");
  EXPECT_EQ(props["TIMERANGE"],
            std::to_string(LoadBig<uint64_t>(range.data())) + " to " +
                std::to_string(LoadBig<uint64_t>(range.data() + 8)));
}

TEST_P(HFileOfHBase, LayoutIsEveryByteAndTheIndexEveryDataBlock) {
  uint64_t end = 0;
  std::vector<uint64_t> data;
  const std::string encoding = dump_.file_info["DATA_BLOCK_ENCODING"];
  for (const json& block : Records(Fine({"layout", "--json"}), "block")) {
    EXPECT_EQ(block["offset"], end);
    end += block["stored_bytes"].get<uint64_t>();
    EXPECT_NE(block["type"], "gap");
    if (block["type"] != "data" && block["type"] != "encoded data") continue;
    data.push_back(block["offset"]);
    EXPECT_EQ(block["type"] == "encoded data", !encoding.empty());
    EXPECT_EQ(block.value("encoding", ""), encoding);
  }
  EXPECT_EQ(end, std::filesystem::file_size(path_));
  std::vector<uint64_t> indexed;
  size_t partitions = 0;
  for (const json& entry : Records(Fine({"index", "--json"}), "index_entry")) {
    indexed.push_back(entry["offset"]);
    partitions = std::max<size_t>(partitions, entry["partition"]);
  }
  EXPECT_EQ(indexed, data);
  EXPECT_EQ(partitions == 0, dump_.trailer.at("numDataIndexLevels") == "1");
}

// "general=BloomSize: 1920; No of Keys in bloom: 1380; Max Keys for bloom:
// 1387; Percentage filled: 99%; Number of chunks: 8; ..."
TEST_P(HFileOfHBase, FilterIsWhatHBaseSaysOfIt) {
  const Output output = Fine({"filter", "--partitions", "--json"});
  const std::vector<json> chunks = Records(output, "partition_section");
  size_t compared = 0;
  for (const json& section : Records(output, "section")) {
    const std::string name = section["section"];
    uint64_t keys = 0;
    uint64_t capacity = 0;
    uint64_t bytes = 0;
    size_t count = 0;
    for (const json& chunk : chunks) {
      if (chunk["section"] != name) continue;
      ++count;
      // Exact, of the folded last one, too.
      EXPECT_EQ(chunk["keys_estimated"], false);
      keys += chunk["keys"].get<uint64_t>();
      capacity += chunk["capacity"].get<uint64_t>();
      bytes += chunk["bytes"].get<uint64_t>();
      EXPECT_GT(chunk["fill_low"], 0.2);
      EXPECT_LT(chunk["fill_low"], 0.6);
    }
    compared += count;
    EXPECT_EQ(keys, section["keys"]);
    const std::string of = name == "delete family" ? "deleteFamily" : "general";
    EXPECT_THAT(dump_.bloom,
                HasSubstr(of + "=BloomSize: " + std::to_string(bytes) +
                          "; No of Keys in bloom: " + std::to_string(keys) +
                          "; Max Keys for bloom: " + std::to_string(capacity)));
    EXPECT_THAT(dump_.bloom,
                HasSubstr("Number of chunks: " + std::to_string(count) + ";"));
  }
  EXPECT_EQ(compared, chunks.size());
  EXPECT_EQ(chunks.empty(),
            dump_.bloom.find("general=null") != std::string::npos);
}

TEST_P(HFileOfHBase, VerifyAndStatsAgreeWithTheDump) {
  const json verify = Records(Fine({"verify", "--json"}), "verify").at(0);
  EXPECT_EQ(verify["cells"], dump_.cells.size());
  EXPECT_EQ(verify["problems"], 0);
  EXPECT_EQ(verify["verdict"], "fine");
  const json stats = Records(Fine({"stats", "--json"}), "stats").at(0);
  EXPECT_EQ(stats["entries"], dump_.cells.size());
  size_t rows = 0;
  const std::string* last = nullptr;
  for (const HFileCell& cell : dump_.cells) {
    rows += last == nullptr || *last != cell.row ? 1 : 0;
    last = &cell.row;
  }
  EXPECT_EQ(stats["rows"], rows);
  const json summary = Records(Fine({"summary", "--json"}), "summary").at(0);
  EXPECT_EQ(summary["format"], "HFile v3.3");
  EXPECT_EQ(summary.value("encoding", ""),
            dump_.file_info["DATA_BLOCK_ENCODING"]);
}

// A sample of the gets that HBase answered, each a run of its own.
TEST_P(HFileOfHBase, ProbeAnswersAsHBaseDoes) {
  std::vector<std::vector<std::string>> gets;
  for (const std::string& line :
       test::ReadGzipLines(Beside(".queries.txt.gz"))) {
    if (line.starts_with("get ")) gets.push_back(test::SplitAt(line, ' '));
  }
  const size_t step = std::max<size_t>(1, gets.size() / 60);
  size_t asked = 0;
  size_t absent = 0;
  for (size_t i = 0; i < gets.size(); i += step) {
    // get ROW [QUALIFIER] => bloom=B range=B
    const std::vector<std::string>& get = gets[i];
    const bool is_cell = get[2] != "=>";
    if (get[1].empty()) continue;
    const bool may = get[get.size() - 2] == "bloom=true" &&
                     get[get.size() - 1] == "range=true";
    std::vector<std::string> args = {"probe", "--json", "--row",
                                     ToPrintable(test::FromHex(get[1]))};
    if (is_cell)
      args.insert(args.end(),
                  {"--qualifier", ToPrintable(test::FromHex(get[2]))});
    const json probe = Records(Fine(args), "probe").at(0);
    EXPECT_EQ(probe["verdict"], may ? "may be there" : "not there")
        << testing::PrintToString(get);
    // HBase never denies what is there.
    if (!may) {
      EXPECT_EQ(probe["in_file"], "no");
    }
    ++asked;
    absent += may ? 0 : 1;
  }
  EXPECT_GT(asked, 10U);
  EXPECT_GT(absent, 0U);
}

INSTANTIATE_TEST_SUITE_P(Shared, HFileOfHBase, testing::ValuesIn(kFiles),
                         [](const testing::TestParamInfo<const char*>& test) {
                           std::string name = test.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return c == '.' || c == '/'; },
                               '_');
                           return name;
                         });

TEST(HFileOfHudi, EachVerbReadsThem) {
  const std::string folder = test::HudiFolder();
  ROWBLOOM_SKIP_WITHOUT(test::kHudi, !folder.empty());
  for (const char* verb : {"summary", "props", "layout", "index", "data",
                           "filter", "verify", "stats"}) {
    const Output output = RunFine({verb, folder});
    EXPECT_EQ(output.err, "");
    EXPECT_THAT(output.out, HasSubstr("hudi_1_0_hbase_2_4_9_16KB_GZ_20000"));
  }
  const Output verify = RunTool({"verify", "--json", folder});
  uint64_t cells = 0;
  for (const json& record : Records(verify, "verify")) {
    cells += record["cells"].get<uint64_t>();
  }
  EXPECT_EQ(cells, 45'000U);
  const Output probe =
      RunTool({"probe", "--row", "hudi-key-000000100", folder});
  EXPECT_THAT(probe.out, HasSubstr("filter          none"));
}

}  // namespace
}  // namespace rowbloom
