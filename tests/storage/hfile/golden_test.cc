// Files that HBase's and Hudi's own code wrote: read as they read them,
// answered as they answer, and written again, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <snappy.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "rowbloom/hfile.h"
#include "storage/hfile/block.h"
#include "storage/hfile/block_walk.h"
#include "storage/hfile/cell.h"
#include "storage/hfile/file_form.h"
#include "tests/storage/hfile/dump.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/support/data.h"
#include "tests/support/files.h"
#include "tests/support/outside.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

using test::Dump;
using test::IsOk;

struct Golden {
  std::string folder;  // with HBase's version
  std::string name;
  hfile::FileForm options;
  // LZ4 and ZSTD libraries of other versions compress large blocks to other
  // bytes.
  bool same_bytes = true;
};

// Names in test listings.
void PrintTo(const Golden& golden, std::ostream* out) {
  *out << golden.folder << "/" << golden.name;
}

hfile::FileForm CommonOptions(const std::string& folder) {
  hfile::FileForm options;
  options.create_time_ms = 1'700'000'000'000;
  options.max_sequence_id = 4242;
  if (folder.ends_with("2.4.7")) {
    options.index_key_rule = hfile::IndexKeyRule::kHBase24;
  } else {
    options.biggest_cell = true;
    options.historical = false;
  }
  return options;
}

void MakeSmall(hfile::FileForm* options) {
  options->bloom_block_bytes = 256;
  options->index_block_bytes = 512;
  options->index_block_min_entries = 4;
}

Golden MakeGolden(const std::string& folder, const std::string& name) {
  Golden golden{folder, name, CommonOptions(folder)};
  hfile::FileForm& options = golden.options;
  if (name == "row_none_smallblocks") {
    MakeSmall(&options);
    options.block_bytes = 1024;
  } else if (name == "rowcol_none_unicode") {
    MakeSmall(&options);
    options.bloom_type = BloomType::kRowCol;
    options.mvcc = false;
    options.block_bytes = 2048;
    options.bytes_per_checksum = 512;
  } else if (name == "rowprefix4_lz4") {
    MakeSmall(&options);
    options.bloom_type = BloomType::kRowPrefixFixedLength;
    options.bloom_prefix_bytes = 4;
    options.compression = HFileCompression::kLz4;
    options.block_bytes = 4096;
  } else if (name == "row_deletes_tags_gz") {
    MakeSmall(&options);
    options.compression = HFileCompression::kGz;
    options.tags = true;
    options.block_bytes = 4096;
    options.checksum = hfile::ChecksumType::kCrc32;
  } else if (name == "row_lz4_bigblock") {
    options.compression = HFileCompression::kLz4;
    options.block_bytes = 1048576;
    golden.same_bytes = false;
  } else if (name == "nobloom_none") {
    options.bloom_type = BloomType::kNone;
    options.delete_family_bloom = false;
    options.block_bytes = 4096;
  } else if (name == "row_deepindex_murmur3") {
    options.bloom_hash = HFileHash::kMurmur3;
    options.bloom_block_bytes = 300;
    options.bloom_max_fold = 5;
    options.bloom_error_rate = 0.02F;
    options.block_bytes = 256;
    options.index_block_bytes = 160;
    options.index_block_min_entries = 3;
  } else if (name == "rowcol_deletes_lz4") {
    MakeSmall(&options);
    options.bloom_type = BloomType::kRowCol;
    options.compression = HFileCompression::kLz4;
    options.tags = true;
    options.block_bytes = 4096;
  } else if (name == "empty_lz4") {
    options.compression = HFileCompression::kLz4;
    options.tags = true;
  }
  return golden;
}

// The name says encoding and codec: "fastdiff_gz_tags".
Golden MakeEncodedGolden(const std::string& folder, const std::string& name,
                         uint32_t block_bytes) {
  const std::map<std::string, HFileEncoding> encodings = {
      {"prefix", HFileEncoding::kPrefix},
      {"diff", HFileEncoding::kDiff},
      {"fastdiff", HFileEncoding::kFastDiff},
      {"rowindex", HFileEncoding::kRowIndexV1},
  };
  const std::map<std::string, HFileCompression> codecs = {
      {"none", HFileCompression::kNone},     {"gz", HFileCompression::kGz},
      {"lz4", HFileCompression::kLz4},       {"zstd", HFileCompression::kZstd},
      {"snappy", HFileCompression::kSnappy},
  };
  Golden golden{folder, name, CommonOptions(folder)};
  hfile::FileForm& options = golden.options;
  const std::vector<std::string> words = test::SplitAt(name, '_');
  options.encoding = encodings.at(words[0]);
  options.compression = codecs.at(words[1]);
  options.codec_classes = HFileCodecClasses::kHBaseNative;
  options.block_bytes = block_bytes;
  options.gz_operating_system = 0;
  golden.same_bytes = name != "rowindex_zstd_bigblock";
  // HBase's compactions write this.
  options.file_info["COMPACTION_EVENT_KEY"] = "PBUF";
  if (words[2] == "bulkload") {
    options.file_info.clear();
    options.max_sequence_id.reset();
    options.major_compaction = true;
    options.exclude_from_minor_compaction = false;
    options.bulk_load_time_ms = 1'700'000'000'000;
    options.bulk_load_task = "attempt_1";
  }
  const std::set<std::string> of_default_sizes = {"hugerows", "bigblock",
                                                  "single", "empty"};
  if (!of_default_sizes.contains(words[2])) MakeSmall(&options);
  if (words[2] == "20k") options.bloom_block_bytes = 1024;
  return golden;
}

// Takes from the file what it says of its cells and their filter.
void TakeFromFile(const HFileReader& reader, hfile::FileForm* options) {
  const auto& info = reader.file_info();
  const auto compressed = info.find("hfile.TAGS_COMPRESSED");
  options->tags = info.contains("hfile.MAX_TAGS_LEN");
  options->compress_tags = compressed != info.end() && compressed->second[0];
  options->mvcc = info.contains("KEY_VALUE_VERSION");
  const HFileBloomInfo* bloom = reader.GeneralBloom();
  options->bloom_type = bloom == nullptr ? BloomType::kNone : bloom->type;
}

std::vector<Golden> EncodedGolden() {
  std::vector<Golden> all;
  for (const auto& [folder, files] :
       std::map<std::string, std::map<std::string, uint32_t>>{
           {"encodings/2.4.7",
            {{"diff_snappy_deletes", 2048},
             {"fastdiff_gz_tagscompressed", 65536},
             {"fastdiff_none_mixed", 4096},
             {"prefix_lz4_binary", 1024},
             {"rowindex_none_deletes", 2048}}},
           {"encodings/2.6",
            {{"diff_lz4_tagscompressed", 4096},
             {"diff_none_bulkload", 4096},
             {"diff_none_timestamps", 1024},
             {"fastdiff_gz_20k", 1024},
             {"fastdiff_none_deletes", 2048},
             {"fastdiff_none_empty", 65536},
             {"fastdiff_none_single", 65536},
             {"fastdiff_none_tags", 2048},
             {"fastdiff_none_timestamps", 1024},
             {"fastdiff_snappy_samevalues", 4096},
             {"fastdiff_zstd_tagscompressed", 4096},
             {"prefix_gz_tags", 2048},
             {"prefix_none_hugerows", 524288},
             {"prefix_none_mixed", 4096},
             {"rowindex_lz4_tags", 2048},
             {"rowindex_none_mixed", 4096},
             {"rowindex_zstd_bigblock", 524288}}}}) {
    for (const auto& [name, block_bytes] : files) {
      all.push_back(MakeEncodedGolden(folder, name, block_bytes));
    }
  }
  return all;
}

std::vector<Golden> PlainGolden() {
  std::vector<Golden> all;
  for (const auto& [folder, names] :
       std::map<std::string, std::vector<std::string>>{
           {"2.4.7",
            {"empty_lz4", "nobloom_none", "row_deletes_tags_gz", "row_none",
             "row_none_smallblocks", "rowcol_deletes_lz4",
             "rowcol_none_unicode", "rowprefix4_lz4"}},
           {"2.6",
            {"row_deepindex_murmur3", "row_lz4_bigblock", "row_none",
             "rowcol_deletes_lz4"}}}) {
    for (const std::string& name : names) {
      all.push_back(MakeGolden(folder, name));
    }
  }
  return all;
}

std::string GoldenPath(const Golden& golden, const std::string& suffix) {
  return test::DataPath("hbase/" + golden.folder + "/" + golden.name + suffix);
}

// The trailer as HBase prints it for a file of one block or more; -1 is no
// offset.
std::map<std::string, std::string> PrintedTrailer(const HFileTrailer& trailer) {
  const auto offset = [](const std::optional<uint64_t>& value) {
    return value.has_value() ? std::to_string(*value) : "-1";
  };
  return {
      {"fileinfoOffset", std::to_string(trailer.file_info_offset)},
      {"loadOnOpenDataOffset", std::to_string(trailer.load_on_open_offset)},
      {"dataIndexCount", std::to_string(trailer.data_index_count)},
      {"metaIndexCount", std::to_string(trailer.meta_index_count)},
      {"totalUncomressedBytes",
       std::to_string(trailer.total_uncompressed_bytes)},
      {"entryCount", std::to_string(trailer.entry_count)},
      {"compressionCodec", ToString(trailer.compression)},
      {"uncompressedDataIndexSize",
       std::to_string(trailer.uncompressed_data_index_bytes)},
      {"numDataIndexLevels", std::to_string(trailer.data_index_levels)},
      {"firstDataBlockOffset", offset(trailer.first_data_block_offset)},
      {"lastDataBlockOffset", offset(trailer.last_data_block_offset)},
      {"majorVersion", std::to_string(trailer.major_version)},
      {"minorVersion", std::to_string(trailer.minor_version)},
  };
}

class HFileGolden : public ::testing::TestWithParam<Golden> {
 protected:
  void SetUp() override {
    path_ = GoldenPath(GetParam(), ".hfile");
    ASSERT_THAT(HFileReader::Open({}, path_, &reader_), IsOk());
  }

  std::string path_;
  std::unique_ptr<HFileReader> reader_;
};

TEST_P(HFileGolden, ReadsAsHBaseDumpedIt) {
  Dump dump = test::ReadDump(GoldenPath(GetParam(), ".dump.txt.gz"));
  // These two describe the reader that dumped the file, not the file.
  dump.file_info.erase("hfile.FILE_PATH");
  dump.file_info.erase("hfile.FILE_SIZE");
  EXPECT_EQ(reader_->file_info(), dump.file_info);
  const auto printed = PrintedTrailer(reader_->trailer());
  size_t compared = 0;
  for (const auto& [name, value] : dump.trailer) {
    const auto found = printed.find(name);
    if (found == printed.end()) continue;
    EXPECT_EQ(found->second, value) << name;
    ++compared;
  }
  EXPECT_EQ(compared, printed.size());
  EXPECT_EQ(dump.cell_count, dump.cells.size());
  EXPECT_EQ(reader_->trailer().entry_count, dump.cell_count);

  for (const bool fill_cache : {false, true}) {
    const auto iterator = reader_->NewIterator({.fill_cache = fill_cache});
    size_t at = 0;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++at) {
      ASSERT_LT(at, dump.cells.size());
      ASSERT_EQ(HFileCell(iterator->cell()), dump.cells[at]) << "cell " << at;
    }
    EXPECT_THAT(iterator->status(), IsOk());
    EXPECT_EQ(at, dump.cells.size());
  }
}

// "general=BloomSize: 2048; No of Keys in bloom: 1500; Max Keys for bloom:
// 1707; ..." of HBase's reader.
TEST_P(HFileGolden, DescribesItsBloomFiltersAsHBaseDoes) {
  const Dump dump = test::ReadDump(GoldenPath(GetParam(), ".dump.txt.gz"));
  const auto described = [](const HFileBloomInfo* info) {
    if (info == nullptr) return std::string("null");
    std::ostringstream text;
    text << "BloomSize: " << info->bytes
         << "; No of Keys in bloom: " << info->key_count
         << "; Max Keys for bloom: " << info->max_keys;
    return text.str();
  };
  EXPECT_THAT(dump.bloom, testing::HasSubstr(
                              "general=" + described(reader_->GeneralBloom())));
  EXPECT_THAT(dump.bloom,
              testing::HasSubstr("deleteFamily=" +
                                 described(reader_->DeleteFamilyBloom())));
  EXPECT_THAT(reader_->BloomStatus(), IsOk());
}

// The key of the cell here; "-" if there is none.
std::string HexKey(const HFileIterator& at) {
  if (!at.Valid()) return "-";
  std::string key;
  hfile::AppendKey(at.cell().key(), &key);
  return test::ToHex(key);
}

// The first of the file's keys at or after that of a seek, by the answer of
// HBase's seekTo: -1 is before all cells, 1 on the last cell before the key, 0
// and -2 on a cell at or after it.
std::string AtOrAfter(const std::string& answer,
                      const std::vector<std::string>& keys) {
  const std::string here = answer.substr(answer.find(' ') + 1);
  auto at = keys.begin();
  if (!answer.starts_with("-1 ")) at = std::find(at, keys.end(), here);
  if (answer.starts_with("1 ")) {
    while (at != keys.end() && *at == here) ++at;
  }
  return at == keys.end() ? "-" : *at;
}

// Runs one line of a queries file and gives what it has after "=> "; of a seek,
// the cell at or after the key.
std::string Answer(const HFileReader& reader, HFileIterator* iterator,
                   const std::vector<std::string>& query) {
  const auto text = [](bool value) { return value ? "true" : "false"; };
  const std::string& kind = query[0];
  const std::string row = test::FromHex(query[1]);
  if (kind == "get") {
    const bool may = query.size() == 2 ? reader.MayContainRow(row)
                                       : reader.MayContainRowCol(
                                             row, test::FromHex(query[2]));
    return std::string("bloom=") + text(may) +
           " range=" + text(reader.KeyRangeMayContain(row, row));
  }
  if (kind == "prefixscan") {
    return std::string("bloom=") +
           text(reader.MayContainScan(row, test::FromHex(query[2])));
  }
  if (kind == "delfam") return text(reader.MayContainDeleteFamily(row));
  if (kind == "rowcol") {
    return text(reader.MayContainRowCol(row, test::FromHex(query[2])));
  }
  if (kind == "seek") {
    const std::string family = test::FromHex(query[2]);
    const std::string qualifier = test::FromHex(query[3]);
    const HFileKey key{row, family, qualifier, std::stoll(query[4]),
                       static_cast<HFileCellType>(std::stoi(query[5]))};
    iterator->Seek(key);
    return HexKey(*iterator);
  }
  return "unknown query";
}

TEST_P(HFileGolden, AnswersEveryQueryAsHBaseDoes) {
  const auto lines =
      test::ReadGzipLines(GoldenPath(GetParam(), ".queries.txt.gz"));
  EXPECT_FALSE(lines.empty());
  const auto iterator = reader_->NewIterator({});
  std::vector<std::string> keys;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    keys.push_back(HexKey(*iterator));
  }
  size_t answered = 0;
  for (const std::string& line : lines) {
    if (line.starts_with("#")) continue;
    const size_t arrow = line.find(" =>");
    ASSERT_NE(arrow, std::string::npos) << line;
    std::string expected = line.substr(arrow + 3);
    expected.erase(0, expected.find_first_not_of(' '));
    expected.erase(expected.find_last_not_of(' ') + 1);
    const auto query = test::SplitAt(line.substr(0, arrow), ' ');
    if (query[0] == "seek") expected = AtOrAfter(expected, keys);
    ASSERT_EQ(Answer(*reader_, iterator.get(), query), expected) << line;
    ASSERT_THAT(iterator->status(), IsOk());
    ++answered;
  }
  EXPECT_GT(answered, 0U);
  EXPECT_EQ(reader_->BloomStats().unusable, 0U);
  // The filter was probed, not only the range of keys.
  if (reader_->GeneralBloom() != nullptr) {
    EXPECT_GT(reader_->BloomStats().absent, 0U);
  }
}

TEST_P(HFileGolden, VerifiesWithoutAProblem) {
  const HFileReport report = test::Verified(*reader_);
  EXPECT_THAT(report.problems, testing::IsEmpty());
  EXPECT_EQ(report.cells, reader_->trailer().entry_count);
  if (const HFileBloomInfo* bloom = reader_->GeneralBloom()) {
    EXPECT_GE(report.bloom_keys_checked, bloom->key_count);
  }
}

void WriteGolden(const Golden& golden, const HFileReader& reader,
                 const std::string& path) {
  const Dump dump = test::ReadDump(GoldenPath(golden, ".dump.txt.gz"));
  std::unique_ptr<HFileWriter> writer;
  hfile::FileForm options = golden.options;
  if (options.encoding != HFileEncoding::kNone) TakeFromFile(reader, &options);
  ASSERT_THAT(hfile::OpenWriter(options, path, &writer), IsOk());
  for (const HFileCell& cell : dump.cells) {
    ASSERT_THAT(writer->Append(cell.View()), IsOk());
  }
  ASSERT_THAT(writer->Finish(), IsOk());
}

// The payloads of data blocks, decompressed.
std::vector<std::string> DataPayloads(const HFileReader& reader) {
  std::vector<std::string> payloads;
  hfile::BlockWalk walk(static_cast<const hfile::Reader&>(reader));
  while (walk.Next()) {
    EXPECT_THAT(walk.status(), IsOk());
    if (hfile::IsData(walk.block().header.type)) {
      payloads.emplace_back(walk.block().payload);
    }
  }
  return payloads;
}

// The frame around the compressed bytes of each data block: type, sizes, and
// the records' raw lengths. Numbers that depend on compressed lengths are left
// out.
std::vector<std::string> Framing(const std::string& file) {
  std::vector<std::string> blocks;
  size_t at = 0;
  while (at + hfile::kBlockHeaderBytes <= file.size() - 4096) {
    hfile::BlockHeader header;
    const rocksdb::Status status = hfile::ParseBlockHeader(
        std::string_view(file).substr(at, hfile::kBlockHeaderBytes), &header);
    EXPECT_THAT(status, IsOk());
    if (!status.ok()) return blocks;
    std::ostringstream text;
    text << hfile::Magic(header.type) << " payload " << header.payload_bytes
         << " checksum " << static_cast<int>(header.checksum) << "/"
         << header.bytes_per_checksum << " chunks";
    const std::string stored =
        file.substr(at + hfile::kBlockHeaderBytes, header.stored_bytes);
    const auto number = [&](size_t offset) {
      uint32_t value = 0;
      for (size_t i = 0; i < 4; ++i) {
        value = value << 8 | static_cast<uint8_t>(stored[offset + i]);
      }
      return value;
    };
    size_t in = 4;
    size_t chunks = 0;
    while (in + 4 <= stored.size() && number(in) != 0) {
      in += 4 + number(in);
      ++chunks;
    }
    text << " raw " << number(0) << " chunks " << chunks << " then "
         << stored.size() - in << " bytes";
    blocks.push_back(text.str());
    at += header.block_bytes();
  }
  EXPECT_EQ(at, file.size() - 4096);
  return blocks;
}

TEST_P(HFileGolden, IsWrittenAgainByteForByte) {
  const test::TempDir dir;
  const std::string path = dir.File("again.hfile");
  WriteGolden(GetParam(), *reader_, path);
  const std::string expected = test::ReadFile(path_);
  const std::string written = test::ReadFile(path);
  // Snappy 1.2 compresses some blocks to other bytes.
  const bool newer_snappy =
      GetParam().options.compression == HFileCompression::kSnappy &&
      SNAPPY_VERSION >= 0x010200;
  if (GetParam().same_bytes && !newer_snappy) {
    const auto [at, other] = std::mismatch(expected.begin(), expected.end(),
                                           written.begin(), written.end());
    EXPECT_TRUE(expected == written)
        << "expected " << expected.size() << " bytes, written "
        << written.size() << ", first difference at " << at - expected.begin();
    return;
  }
  if (!newer_snappy) {
    const std::vector<std::string> framing = Framing(expected);
    EXPECT_EQ(Framing(written), framing);
    ASSERT_FALSE(framing.empty());
    EXPECT_THAT(framing[0], testing::HasSubstr("chunks 3 then 4 bytes"));
  }
  std::unique_ptr<HFileReader> again;
  ASSERT_THAT(HFileReader::Open({}, path, &again), IsOk());
  EXPECT_TRUE(DataPayloads(*again) == DataPayloads(*reader_));
  EXPECT_EQ(again->file_info(), reader_->file_info());
  EXPECT_EQ(again->trailer().total_uncompressed_bytes,
            reader_->trailer().total_uncompressed_bytes);
  EXPECT_THAT(test::Verified(*again).problems, testing::IsEmpty());
}

std::string TestName(const ::testing::TestParamInfo<Golden>& test) {
  std::string name = test.param.folder + "_" + test.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '.' || c == '/'; },
      '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(HBase, HFileGolden, ::testing::ValuesIn(PlainGolden()),
                         TestName);
INSTANTIATE_TEST_SUITE_P(HBaseEncoded, HFileGolden,
                         ::testing::ValuesIn(EncodedGolden()), TestName);

struct HudiFile {
  std::string name;
  uint64_t cells;
};

class HFileOfHudi : public ::testing::TestWithParam<HudiFile> {};

TEST_P(HFileOfHudi, HasTheRightCells) {
  const std::string folder = test::HudiFolder();
  ROWBLOOM_SKIP_WITHOUT(test::kHudi, !folder.empty());
  const std::string path = folder + "/" + GetParam().name + ".hfile";
  std::unique_ptr<HFileReader> reader;
  ASSERT_THAT(HFileReader::Open({}, path, &reader), IsOk());
  EXPECT_EQ(reader->trailer().entry_count, GetParam().cells);
  EXPECT_EQ(reader->GeneralBloom(), nullptr);
  const auto iterator = reader->NewIterator({.fill_cache = false});
  const auto seeker = reader->NewIterator({});
  uint64_t cells = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++cells) {
    if (cells % 997 != 0) continue;
    seeker->Seek(iterator->cell().key());
    ASSERT_TRUE(seeker->Valid());
    EXPECT_EQ(HFileCell(seeker->cell()), HFileCell(iterator->cell()));
    std::vector<HFileCell> row;
    EXPECT_THAT(reader->GetRow(iterator->cell().row, &row), IsOk());
    EXPECT_THAT(row, testing::ElementsAre(HFileCell(iterator->cell())));
  }
  EXPECT_THAT(iterator->status(), IsOk());
  EXPECT_THAT(test::Verified(*reader).problems, testing::IsEmpty());
  EXPECT_EQ(cells, GetParam().cells);
}

INSTANTIATE_TEST_SUITE_P(
    Hudi, HFileOfHudi,
    ::testing::Values(HudiFile{"hudi_1_0_hbase_2_4_13_1KB_GZ_20000_large_keys",
                               20000},
                      HudiFile{"hudi_1_0_hbase_2_4_9_16KB_GZ_20000", 20000},
                      HudiFile{"hudi_1_0_hbase_2_4_9_16KB_NONE_5000", 5000},
                      HudiFile{"hudi_1_0_hbase_2_4_9_no_entry", 0}),
    [](const ::testing::TestParamInfo<HudiFile>& test) {
      return test.param.name;
    });

}  // namespace
}  // namespace rowbloom
