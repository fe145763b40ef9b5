#include "tools/sst/sst_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/table_properties.h"
#include "rowbloom/filter_block.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"
#include "tools/sst/data_cursor.h"
#include "tools/sst/index_cursor.h"

namespace rowbloom::sst::sst_file_test {
namespace {

using test::Fixed;
using test::SstSpec;
using test::TempDir;
using testing::HasSubstr;
using testing::StartsWith;

enum class Policy { kNone, kBloom, kRibbon, kRowbloom };

std::shared_ptr<const rocksdb::FilterPolicy> MakePolicy(Policy policy) {
  switch (policy) {
    case Policy::kNone:
      break;
    case Policy::kBloom:
      return test::StockBloom();
    case Policy::kRibbon:
      return test::StockRibbon();
    case Policy::kRowbloom:
      return test::MakeFilterPolicy({.key_layout = KeyLayout::FixedRow(8)});
  }
  return nullptr;
}

std::shared_ptr<const rocksdb::TableProperties> PropertiesByRocksDb(
    const SstSpec& spec, const std::string& path) {
  rocksdb::SstFileReader reader(test::MakeOptions(spec));
  const rocksdb::Status status = reader.Open(path);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return reader.GetTableProperties();
}

// Every key is at most the index key of its partition and more than that of
// the partition before; rowbloom's partitions answer for their keys.
void CheckPartitions(const SstFile& file, const std::vector<std::string>& keys,
                     bool is_rowbloom) {
  std::vector<FilterPartition> partitions;
  rocksdb::Status status = file.FilterPartitions(&partitions);
  ASSERT_TRUE(status.ok()) << status.ToString();
  uint64_t filter_bytes = 0;
  std::vector<std::string> blocks;
  for (const FilterPartition& partition : partitions) {
    filter_bytes += partition.handle.size_bytes;
    status = file.ReadBlock(partition.handle, &blocks.emplace_back());
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(blocks.back().size(), partition.handle.size_bytes);
    EXPECT_EQ(FilterBlock::IsFilterBlock(blocks.back()), is_rowbloom);
  }
  if (file.filter().form == FilterForm::kPartitioned) {
    filter_bytes += file.filter().handle.size_bytes;
    EXPECT_GT(partitions.size(), 3U);
    EXPECT_TRUE(std::is_sorted(partitions.begin(), partitions.end(),
                               [](const auto& a, const auto& b) {
                                 return a.index_key < b.index_key;
                               }));
    EXPECT_GE(partitions.back().index_key, keys.back());
  }
  EXPECT_EQ(file.NumberProperty("rocksdb.filter.size"), filter_bytes);
  if (!is_rowbloom) return;
  for (const std::string& key : keys) {
    size_t at = 0;
    while (file.filter().form == FilterForm::kPartitioned &&
           partitions[at].index_key < key) {
      ASSERT_LT(++at, partitions.size()) << key;
    }
    const MatchResult answer = FilterBlock::Open(blocks[at]).MayMatch(key);
    EXPECT_EQ(answer.row(), Verdict::kMayMatch) << key;
    EXPECT_EQ(answer.row_col(), Verdict::kMayMatch) << key;
  }
}

TEST(SstFile, AgreesWithRocksDbOnEveryFormat) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  const std::vector<std::string> keys = test::NumberedKeys(1500);
  size_t files = 0;
  for (uint32_t version = 2; version <= test::kLatestFormatVersion; ++version) {
    for (const rocksdb::ChecksumType checksum :
         {rocksdb::kNoChecksum, rocksdb::kCRC32c, rocksdb::kxxHash,
          rocksdb::kxxHash64, rocksdb::kXXH3}) {
      for (const Policy policy : {Policy::kNone, Policy::kBloom,
                                  Policy::kRibbon, Policy::kRowbloom}) {
        for (const bool partitioned : {false, true}) {
          SCOPED_TRACE("format_version " + std::to_string(version) +
                       " checksum " + std::to_string(checksum) + " policy " +
                       std::to_string(static_cast<int>(policy)) +
                       (partitioned ? " partitioned" : " full"));
          const SstSpec spec{.format_version = version,
                             .checksum = checksum,
                             .policy = MakePolicy(policy),
                             .partitioned = partitioned,
                             // Restarts apart: handles are delta-encoded.
                             .index_restart_interval = 4};
          ASSERT_NO_FATAL_FAILURE(test::WriteSst(spec, path, keys));
          const auto file = test::OpenSst(path);
          ++files;

          EXPECT_EQ(file->footer().format_version, version);
          EXPECT_EQ(static_cast<int>(file->footer().checksum_type),
                    static_cast<int>(checksum));
          const auto expected = PropertiesByRocksDb(spec, path);
          ASSERT_NE(expected, nullptr);
          EXPECT_EQ(file->NumberProperty("rocksdb.filter.size"),
                    expected->filter_size);
          EXPECT_EQ(file->NumberProperty("rocksdb.num.filter_entries"),
                    expected->num_filter_entries);
          EXPECT_EQ(file->NumberProperty("rocksdb.num.entries"),
                    expected->num_entries);
          EXPECT_EQ(file->NumberProperty("rocksdb.no.such.name"), std::nullopt);
          for (const auto& [name, value] :
               expected->user_collected_properties) {
            const auto found = file->properties().find(name);
            ASSERT_NE(found, file->properties().end()) << name;
            EXPECT_EQ(found->second, value) << name;
          }

          if (policy == Policy::kNone) {
            EXPECT_EQ(file->filter().form, FilterForm::kNone);
            std::vector<FilterPartition> partitions(3);
            EXPECT_TRUE(file->FilterPartitions(&partitions).ok());
            EXPECT_TRUE(partitions.empty());
            continue;
          }
          EXPECT_EQ(file->properties().find("rocksdb.filter.policy")->second,
                    expected->filter_policy_name);
          EXPECT_EQ(file->filter().form,
                    partitioned ? FilterForm::kPartitioned : FilterForm::kFull);
          EXPECT_EQ(file->filter().compatibility_name,
                    spec.policy->CompatibilityName());
          CheckPartitions(*file, keys, policy == Policy::kRowbloom);
        }
      }
    }
  }
  EXPECT_EQ(files, (test::kLatestFormatVersion - 1) * 5U * 4U * 2U);
}

TEST(SstFile, IndexKeysWithSequenceNumbersLoseThem) {
  const TempDir dir;
  SstSpec spec{.policy = MakePolicy(Policy::kRowbloom), .partitioned = true};
#if ROCKSDB_MAJOR >= 10
  // The filter is cut where the index is, as before.
  spec.change = [](auto*, auto* table) {
    table->decouple_partitioned_filters = false;
  };
#endif
  const auto db = test::NewDb(spec, dir.File("db"));
  // More versions of a key than a data block holds: only sequence numbers tell
  // the index entries apart.
  const std::vector<std::string> keys = test::NumberedKeys(100);
  std::list<rocksdb::ManagedSnapshot> snapshots;
  for (int version = 0; version < 30; ++version) {
    for (const std::string& key : keys) {
      ASSERT_TRUE(db->Put({}, key, "version of the value").ok());
    }
    snapshots.emplace_back(db.get());
  }
  ASSERT_TRUE(db->Flush({}).ok());
  const auto file = test::OpenSst(test::OnlySst(db.get()));
  ASSERT_EQ(file->NumberProperty("rocksdb.index.key.is.user.key"), 0U);
  std::vector<FilterPartition> partitions;
  ASSERT_TRUE(file->FilterPartitions(&partitions).ok());
  EXPECT_GT(partitions.size(), 10U);
  for (const FilterPartition& partition : partitions) {
    EXPECT_LE(partition.index_key.size(), keys[0].size());
    EXPECT_THAT(partition.index_key, StartsWith("k"));
  }
}

TEST(SstFile, IngestedGlobalSequenceNumberIsNoDamage) {
  const TempDir dir;
  const std::string path = dir.File("ingest.sst");
  ASSERT_NO_FATAL_FAILURE(test::WriteSst({}, path, test::NumberedKeys(10)));
  const auto db = test::NewDb({}, dir.File("db"));
  ASSERT_TRUE(db->Put({}, "key000003", "older").ok());
  const rocksdb::ManagedSnapshot snapshot(db.get());
  rocksdb::IngestExternalFileOptions options;
  options.write_global_seqno = true;
  const rocksdb::Status status = db->IngestExternalFile({path}, options);
  ASSERT_TRUE(status.ok()) << status.ToString();

  // The put was flushed to a file of its own.
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  size_t ingested = 0;
  for (const auto& info : files) {
    const auto file = test::OpenSst(info.db_path + info.name);
    const auto number =
        file->properties().find("rocksdb.external_sst_file.global_seqno");
    if (number == file->properties().end()) continue;
    ++ingested;
    EXPECT_EQ(number->second.size(), 8U);
    EXPECT_NE(number->second, std::string(8, '\0'));
  }
  EXPECT_EQ(ingested, 1U);
}

std::string Refusal(const std::string& path, rocksdb::Status::Code code) {
  std::unique_ptr<SstFile> file;
  const rocksdb::Status status = SstFile::Open(path, &file);
  EXPECT_EQ(status.code(), code) << status.ToString();
  EXPECT_EQ(file, nullptr);
  const std::string message = status.ok() ? "" : status.getState();
  EXPECT_THAT(message, StartsWith(path + ": "));
  return message;
}

TEST(SstFile, WhatIsNoSstIsRefused) {
  const TempDir dir;
  EXPECT_THAT(Refusal(dir.File("absent"), rocksdb::Status::kIOError),
              HasSubstr("cannot open: No such file"));
  EXPECT_THAT(Refusal(dir.path().string(), rocksdb::Status::kIOError),
              HasSubstr("a directory, expected a file"));
  ASSERT_EQ(mkfifo(dir.File("pipe").c_str(), 0600), 0);
  EXPECT_THAT(Refusal(dir.File("pipe"), rocksdb::Status::kIOError),
              HasSubstr("a pipe, socket or device, expected a file"));
  test::WriteFile(dir.File("empty"), "");
  EXPECT_THAT(Refusal(dir.File("empty"), rocksdb::Status::kNotSupported),
              HasSubstr("not a RocksDB table: 0 bytes"));
  test::WriteFile(dir.File("text"), std::string(1000, 'a'));
  EXPECT_THAT(Refusal(dir.File("text"), rocksdb::Status::kNotSupported),
              HasSubstr("not a RocksDB table, or cut short: magic "
                        "6161616161616161 at offset 992"));
}

TEST(SstFile, CompressedBlocksAreRefusedByName) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  ASSERT_NO_FATAL_FAILURE(
      test::WriteSst({.policy = MakePolicy(Policy::kRowbloom)}, path,
                     test::NumberedKeys(100)));
  const BlockHandle handle = test::OpenSst(path)->filter().handle;
  std::string bytes = test::ReadFile(path);
  bytes[handle.offset_bytes + handle.size_bytes] = 4;
  test::WriteFile(path, bytes);
  // Makes the checksum cover the compression type as it is now.
  test::ChangeBlock(path, handle, [](std::string*) {});
  std::string contents;
  const rocksdb::Status status =
      test::OpenSst(path)->ReadBlock(handle, &contents);
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_THAT(status.getState(),
              HasSubstr("compressed with LZ4, expected no compression"));
}

// A file of format_version 6 made here byte by byte, for libraries that do not
// write it: one filter block, a metaindex that names it, the footer.
std::string Version6File(const std::string& filter) {
  constexpr uint32_t kBase = 0x5eed1234;
  const auto with_trailer = [&](const std::string& contents, uint64_t offset) {
    const std::string covered = contents + '\0';
    return covered + Fixed(Checksum(ChecksumType::kXxh3, covered) +
                               ContextModifier(kBase, offset),
                           4);
  };
  const std::string name = "fullfilter.some.policy";
  std::string metaindex("\0", 1);
  metaindex += static_cast<char>(name.size());
  metaindex += '\2';  // the handle's length
  metaindex += name;
  metaindex += '\0';
  metaindex += static_cast<char>(filter.size());
  metaindex += Fixed(0, 4) + Fixed(1, 4);

  std::string file = with_trailer(filter, 0);
  file += with_trailer(metaindex, file.size());
  const auto footer = [&](uint32_t checksum) {
    return '\4' + std::string("\x3e\x00\x7a\x00", 4) + Fixed(checksum, 4) +
           Fixed(kBase, 4) + Fixed(metaindex.size(), 4) +
           std::string(24, '\0') + Fixed(6, 4) + Fixed(0x88e241b785f4cff7, 8);
  };
  return file + footer(Checksum(ChecksumType::kXxh3, footer(0)) +
                       ContextModifier(kBase, file.size()));
}

// Data blocks of all sizes, from a few bytes to more than is read at once.
std::vector<BlockHandle> WriteBlocks(const SstSpec& spec, uint64_t seed,
                                     const std::string& path) {
  test::Random random(seed);
  std::map<std::string, std::string> cells;
  for (const std::string& key : test::NumberedKeys(4000)) {
    cells[key] = random.Bytes(random.OneIn(400) ? 300'000 : 200);
  }
  test::WriteSst(spec, path, cells);
  const auto file = test::OpenSst(path);
  std::vector<BlockHandle> blocks;
  IndexCursor index(*file);
  while (index.Next()) blocks.push_back(index.handle());
  EXPECT_TRUE(index.status().ok()) << index.status().ToString();
  return blocks;
}

// Returns the read system calls that this process has made.
uint64_t ReadCalls() {
  std::ifstream counts("/proc/self/io");
  for (std::string name; counts >> name;) {
    uint64_t count = 0;
    counts >> count;
    if (name == "syscr:") return count;
  }
  return 0;
}

TEST(SstFile, BlocksReadAheadAreThoseReadByThemselves) {
  const uint64_t seed = test::SeedFromEnv();
  const TempDir dir;
  for (const bool padded : {false, true}) {
    const SstSpec spec{.change = [=](auto*, auto* table) {
      table->block_size = padded ? 4096 : 256;
      table->block_align = padded;
    }};
    const std::string path = dir.File("a.sst");
    std::vector<BlockHandle> blocks = WriteBlocks(spec, seed, path);
    ASSERT_GT(blocks.size(), 200U);
    const auto file = test::OpenSst(path);
    test::Random random(seed);
    for (const std::string order : {"forward", "backward", "any"}) {
      SCOPED_TRACE(order);
      if (order == "backward") std::reverse(blocks.begin(), blocks.end());
      if (order == "any") {
        for (size_t i = blocks.size() - 1; i > 0; --i) {
          std::swap(blocks[i], blocks[random.Below(i + 1)]);
        }
      }
      BlockReader reader(*file);
      for (const BlockHandle& handle : blocks) {
        std::string_view ahead;
        std::string alone;
        ASSERT_TRUE(reader.ReadData(handle, &ahead).ok());
        ASSERT_EQ(reader.compression(), CompressionType::kNone);
        ASSERT_TRUE(file->ReadBlock(handle, &alone).ok());
        ASSERT_TRUE(ahead == alone) << "at " << handle.offset_bytes;
      }
    }
  }
}

TEST(SstFile, AWalkReadsManyBlocksAtOnceAndASingleBlockAlone) {
  const uint64_t before = ReadCalls();
  if (before == 0) GTEST_SKIP() << "no /proc/self/io here";
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  test::WriteSst({}, path, test::NumberedKeys(20'000));
  const auto file = test::OpenSst(path);
  DataCursor all(*file);
  const uint64_t start = ReadCalls();
  const uint64_t own = ReadCalls() - start;
  uint64_t blocks = 0;
  while (all.NextBlock()) ++blocks;
  EXPECT_TRUE(all.status().ok());
  EXPECT_GT(blocks, 1000U);
  EXPECT_LT(ReadCalls() - start, blocks / 50);

  DataCursor one(*file);
  one.SkipTo("key010000");
  const uint64_t again = ReadCalls();
  ASSERT_TRUE(one.NextBlock());
  // The index and the block.
  EXPECT_LE(ReadCalls() - again, 2 + own);
}

// A missing end does not matter to the blocks before it.
TEST(SstFile, AFileThatBecomesShorterIsReadUpToThere) {
  const uint64_t seed = test::SeedFromEnv();
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  const std::vector<BlockHandle> blocks = WriteBlocks({}, seed, path);
  const std::string good = test::ReadFile(path);
  for (const size_t cut : {size_t{0}, size_t{1}, blocks.size() / 2}) {
    test::WriteFile(path, good);
    const auto file = test::OpenSst(path);
    const BlockHandle& last = blocks[cut];
    std::filesystem::resize_file(path, last.offset_bytes + 10);
    BlockReader reader(*file);
    for (const BlockHandle& handle : blocks) {
      std::string_view contents;
      const rocksdb::Status status = reader.ReadData(handle, &contents);
      if (handle.offset_bytes < last.offset_bytes) {
        ASSERT_TRUE(status.ok()) << status.ToString();
        continue;
      }
      const bool at_cut = handle == last;
      ASSERT_TRUE(status.IsIOError()) << status.ToString();
      ASSERT_THAT(
          status.ToString(),
          HasSubstr(path + ": became shorter while it was read: " +
                    std::to_string(handle.size_bytes + 5) +
                    " bytes at offset " + std::to_string(handle.offset_bytes) +
                    " expected, found " + (at_cut ? "10" : "0")));
    }
  }
}

TEST(SstFile, Version6BlocksBelongToTheirOffset) {
  const TempDir dir;
  const std::string path = dir.File("six.sst");
  const std::string good = Version6File("filter bytes");
  test::WriteFile(path, good);
  const auto file = test::OpenSst(path);
  EXPECT_EQ(file->footer().format_version, 6U);
  EXPECT_EQ(file->filter().compatibility_name, "some.policy");
  std::string contents;
  const rocksdb::Status status =
      file->ReadBlock(file->filter().handle, &contents);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(contents, "filter bytes");

  // The same bytes one offset further on are not the same block.
  test::WriteFile(path, "x" + good);
  EXPECT_THAT(Refusal(path, rocksdb::Status::kCorruption),
              HasSubstr("footer at offset"));
}

}  // namespace
}  // namespace rowbloom::sst::sst_file_test
