// The corpora of the fuzz targets for HFiles and for data blocks: what their
// files are, and that they still are. To write them anew:
//
//   ROWBLOOM_WRITE_CORPUS=1 ctest --preset release -R HFileFuzzCorpus
//
// Files of other names in those folders are inputs that a fuzzer found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "rowbloom/hfile.h"
#include "storage/hfile/block.h"
#include "storage/hfile/data_block.h"
#include "storage/hfile/file_form.h"
#include "tests/storage/hfile/edit_file.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

using hfile::BlockType;
using testing::HasSubstr;

using Files = std::map<std::string, std::string>;

// Fuzzers are slow on large inputs; a trailer alone has 4 KiB.
constexpr size_t kMaxSeedBytes = 12'000;

// The order is that of data_block_fuzz.cc.
constexpr HFileEncoding kBlockEncodings[] = {
    HFileEncoding::kNone, HFileEncoding::kPrefix, HFileEncoding::kDiff,
    HFileEncoding::kFastDiff, HFileEncoding::kRowIndexV1};
constexpr int kTags = 8;
constexpr int kMvcc = 16;
constexpr int kCompressed = 32;

std::string SeedPath(const std::string& name,
                     const std::string& target = "hfile") {
  return std::string(ROWBLOOM_CORPUS_DIR) + "/" + target + "/" + name;
}

void WriteSeeds(const Files& files, const std::string& target) {
  if (std::getenv("ROWBLOOM_WRITE_CORPUS") == nullptr) return;
  std::filesystem::create_directories(SeedPath("", target));
  for (const auto& [name, bytes] : files) {
    test::WriteFile(SeedPath(name, target), bytes);
  }
}

// A file with some of everything, in small blocks.
std::string MakeFile(hfile::FileForm options) {
  const test::TempDir dir;
  test::Random random(7);
  options.create_time_ms = 1;
  options.block_bytes = 250;
  options.index_block_bytes = 60;
  options.index_block_min_entries = 2;
  options.bloom_block_bytes = 16;
  options.bloom_max_fold = 2;
  const auto cells = RandomCells({.rows = 12,
                                  .max_value_bytes = 20,
                                  .tags = options.tags,
                                  .mvcc = options.mvcc},
                                 &random);
  test::WriteCells(options, dir.File("seed"), cells);
  return test::ReadFile(dir.File("seed"));
}

Files MakeSeeds() {
  Files files;
  files["none"] = MakeFile({});
  files["gz"] = MakeFile({{.compression = HFileCompression::kGz}});
  files["lz4"] = MakeFile({{.compression = HFileCompression::kLz4}});
  files["snappy"] = MakeFile({{.compression = HFileCompression::kSnappy}});
  files["zstd_frames"] = MakeFile({{.compression = HFileCompression::kZstd}});
  files["zstd_blocks"] =
      MakeFile({{.compression = HFileCompression::kZstd,
                 .codec_classes = HFileCodecClasses::kHBaseNative}});
  files["tags_rowcol"] =
      MakeFile({{.tags = true, .bloom_type = BloomType::kRowCol}});
  files["prefix_without_mvcc"] =
      MakeFile({{.mvcc = false,
                 .bloom_type = BloomType::kRowPrefixFixedLength,
                 .bloom_prefix_bytes = 3}});
  files["prefix_encoded"] =
      MakeFile({{.encoding = HFileEncoding::kPrefix, .tags = true}});
  files["diff_encoded"] = MakeFile({{.encoding = HFileEncoding::kDiff}});
  files["fast_diff_encoded"] =
      MakeFile({{.encoding = HFileEncoding::kFastDiff}});
  files["fast_diff_encoded_tags"] =
      MakeFile({{.encoding = HFileEncoding::kFastDiff,
                 .tags = true,
                 .compress_tags = true}});
  files["row_index_encoded"] =
      MakeFile({{.encoding = HFileEncoding::kRowIndexV1}});
  const std::string& good = files["none"];
  files["empty"] = "";
  files["trailer_alone"] = good.substr(good.size() - 4096);
  files["wrong_checksum"] = good;
  files["wrong_checksum"][60] ^= 1;
  files["version_2"] = good;
  files["version_2"].back() = 2;
  files["encoded_block"] = good;
  files["encoded_block"][7] = 'E';
  test::ResealBlock(&files["encoded_block"], 0);
  files["index_to_itself"] = good;
  const size_t leaf = test::FindBlock(good, BlockType::kLeafIndex);
  test::EditPayload(&files["index_to_itself"], BlockType::kLeafIndex,
                    [&](std::string* payload) {
                      const size_t entries =
                          4 + 4 * (static_cast<size_t>((*payload)[3]) + 1);
                      test::Overwrite64(payload, entries, leaf);
                    });
  files["bloom_of_64k_hashes"] = good;
  test::EditPayload(
      &files["bloom_of_64k_hashes"], BlockType::kGeneralBloomMeta,
      [](std::string* payload) { test::Overwrite32(payload, 12, 65536); });
  return files;
}

std::string Outcome(const std::string& path) {
  std::unique_ptr<HFileReader> reader;
  rocksdb::Status status = HFileReader::Open({}, path, &reader);
  HFileReport report;
  if (status.ok()) status = reader->Verify(&report);
  if (!status.ok()) return status.ToString();
  if (!report.problems.empty()) return report.problems.front();
  const auto& info = reader->file_info();
  const auto encoding = info.find("DATA_BLOCK_ENCODING");
  return (encoding == info.end() ? "" : encoding->second + ", ") +
         ToString(reader->trailer().compression) + ", levels " +
         std::to_string(reader->trailer().data_index_levels) + ", cells " +
         (report.cells > 10 ? "yes" : "no");
}

// Compressed bytes differ between versions of the libraries: the outcome
// counts.
TEST(HFileFuzzCorpus, FilesAreWhatTheirNamesSay) {
  WriteSeeds(MakeSeeds(), "hfile");
  const std::map<std::string, std::string> outcomes = {
      {"none", "NONE, levels 3, cells yes"},
      {"gz", "GZ, levels 3, cells yes"},
      {"lz4", "LZ4, levels 3, cells yes"},
      {"snappy", "SNAPPY, levels 3, cells yes"},
      {"zstd_frames", "ZSTD, levels 3, cells yes"},
      {"zstd_blocks", "ZSTD, levels 3, cells yes"},
      {"tags_rowcol", "NONE, levels 4, cells yes"},
      {"prefix_without_mvcc", "NONE, levels 4, cells yes"},
      {"prefix_encoded", "PREFIX, NONE, levels 4, cells yes"},
      {"diff_encoded", "DIFF, NONE, levels 3, cells yes"},
      {"fast_diff_encoded", "FAST_DIFF, NONE, levels 3, cells yes"},
      {"fast_diff_encoded_tags", "FAST_DIFF, NONE, levels 4, cells yes"},
      {"row_index_encoded", "ROW_INDEX_V1, NONE, levels 3, cells yes"},
      {"empty", "not an HFile, or cut short"},
      {"trailer_alone", "expected at most 0"},
      {"wrong_checksum", "checksum 0: expected"},
      {"version_2", "HFile v2"},
      {"encoded_block", "expected, found \"DATABLKE\""},
      {"index_to_itself", "\"DATABLK*\" expected"},
      {"bloom_of_64k_hashes", "65536 hashes per key"},
  };
  for (const auto& [name, outcome] : outcomes) {
    EXPECT_THAT(Outcome(SeedPath(name)), HasSubstr(outcome)) << name;
    EXPECT_LT(std::filesystem::file_size(SeedPath(name)), kMaxSeedBytes)
        << name;
  }
}

// Makes payloads, by name, behind the byte that data_block_fuzz.cc takes for
// their encoding and form.
Files MakeBlocks() {
  Files files;
  for (size_t encoding = 0; encoding < std::size(kBlockEncodings); ++encoding) {
    for (const int form : {0, kTags, kMvcc, kTags | kMvcc | kCompressed}) {
      test::Random random(8);
      const hfile::CellForm cell_form = {
          .tags = (form & kTags) != 0,
          .mvcc = (form & kMvcc) != 0,
          .tags_compressed = (form & kCompressed) != 0};
      const auto builder =
          hfile::NewBlockBuilder(kBlockEncodings[encoding], cell_form);
      for (const HFileCell& cell : test::RandomCells({.rows = 6,
                                   .max_value_bytes = 9,
                                   .tags = cell_form.tags,
                                   .mvcc = cell_form.mvcc},
                                                     &random)) {
        builder->Add(cell.View());
      }
      std::string name(ToString(kBlockEncodings[encoding]));
      if (cell_form.tags) name += "_tags";
      if (cell_form.mvcc) name += "_mvcc";
      if (cell_form.tags_compressed) name += "_compressed";
      files[name] = static_cast<char>(static_cast<int>(encoding) | form);
      files[name] += builder->Finish();
    }
  }
  return files;
}

TEST(HFileFuzzCorpus, BlocksAreWhatTheirNamesSay) {
  const Files blocks = MakeBlocks();
  WriteSeeds(blocks, "data_block");
  for (const auto& [name, bytes] : blocks) {
    EXPECT_TRUE(test::ReadFile(SeedPath(name, "data_block")) == bytes) << name;
    EXPECT_LT(bytes.size(), 2000U) << name;
  }
}

}  // namespace
}  // namespace rowbloom
