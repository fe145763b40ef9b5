// Tables that RocksDB wrote are read entry by entry. With each option that
// changes how blocks are stored, the entries equal the model's and those of
// RocksDB's reader.
#include "tools/sst/data_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/table_properties_collectors.h"
#include "rocksdb/version.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"
#include "tools/sst/sst_file.h"

namespace rowbloom::sst {
namespace {

using rocksdb::BlockBasedTableOptions;
using test::IsOk;
using test::SstSpec;
using test::TempDir;

using Cells = std::map<std::string, std::string>;
using IndexType = BlockBasedTableOptions::IndexType;

struct Case {
  std::string name;
  SstSpec spec;
};

void PrintTo(const Case& test_case, std::ostream* out) {
  *out << test_case.name;
}

const char* NameOf(rocksdb::CompressionType type) {
  switch (type) {
    case rocksdb::kSnappyCompression:
      return "Snappy";
    case rocksdb::kZlibCompression:
      return "Zlib";
    case rocksdb::kLZ4Compression:
      return "Lz4";
    case rocksdb::kLZ4HCCompression:
      return "Lz4hc";
    case rocksdb::kZSTD:
      return "Zstd";
    default:
      return "NoCompression";
  }
}

void AddCompressions(std::vector<Case>* cases) {
  for (const auto type : {rocksdb::kNoCompression, rocksdb::kSnappyCompression,
                          rocksdb::kZlibCompression, rocksdb::kLZ4Compression,
                          rocksdb::kLZ4HCCompression, rocksdb::kZSTD}) {
    for (const uint32_t dictionary_bytes : {0U, 2000U}) {
      for (const uint32_t training_bytes : {0U, 20000U}) {
        if (training_bytes != 0 &&
            (dictionary_bytes == 0 || type != rocksdb::kZSTD)) {
          continue;
        }
        cases->push_back({std::string(NameOf(type)) +
                              (dictionary_bytes != 0 ? "Dictionary" : "") +
                              (training_bytes != 0 ? "Trained" : ""),
                          {.change = [=](auto* options, auto*) {
                            options->compression = type;
                            options->compression_opts.max_dict_bytes =
                                dictionary_bytes;
                            options->compression_opts.zstd_max_train_bytes =
                                training_bytes;
                          }}});
      }
    }
  }
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  AddCompressions(&cases);
  for (uint32_t version = 2; version <= test::kLatestFormatVersion; ++version) {
    for (const auto& [name, type] :
         {std::pair{"BinarySearch", IndexType::kBinarySearch},
          std::pair{"HashSearch", IndexType::kHashSearch},
          std::pair{"TwoLevel", IndexType::kTwoLevelIndexSearch},
          std::pair{"FirstKey", IndexType::kBinarySearchWithFirstKey}}) {
      for (const int interval : {1, 7}) {
        // RocksDB allows no other with a hash index.
        if (type == IndexType::kHashSearch && interval != 1) continue;
        cases.push_back({std::string(name) + "Version" +
                             std::to_string(version) + "Interval" +
                             std::to_string(interval),
                         {.format_version = version,
                          .prefix_extractor =
                              std::shared_ptr<const rocksdb::SliceTransform>(
                                  rocksdb::NewCappedPrefixTransform(2)),
                          .partition_bytes = 256,
                          .index_restart_interval = interval,
                          .change = [index = type](auto* options, auto* table) {
                            options->compression = rocksdb::kLZ4Compression;
                            table->index_type = index;
                          }}});
      }
    }
  }
  for (const auto& [name, type] :
       {std::pair{"ChecksumNone", rocksdb::kNoChecksum},
        std::pair{"ChecksumCrc32c", rocksdb::kCRC32c},
        std::pair{"ChecksumXxHash", rocksdb::kxxHash},
        std::pair{"ChecksumXxHash64", rocksdb::kxxHash64},
        std::pair{"ChecksumXxh3", rocksdb::kXXH3}}) {
    cases.push_back({name, {.format_version = 4, .checksum = type}});
  }
  cases.push_back({"DataBlockHashIndex", {.change = [](auto*, auto* table) {
                     table->data_block_index_type =
                         BlockBasedTableOptions::kDataBlockBinaryAndHash;
                     table->block_size = 4096;
                   }}});
  cases.push_back({"BlockAlign", {.change = [](auto*, auto* table) {
                     table->block_align = true;
                     table->block_size = 4096;
                   }}});
  cases.push_back({"LargeBlocks", {.change = [](auto* options, auto* table) {
                     table->block_size = 1 << 20;
                     table->block_restart_interval = 3;
                     options->compression = rocksdb::kZSTD;
                   }}});
  cases.push_back({"NoDeltaEncoding", {.change = [](auto*, auto* table) {
                     table->use_delta_encoding = false;
                   }}});
  cases.push_back({"UncompressedIndex", {.change = [](auto* options, auto* t) {
                     options->compression = rocksdb::kZlibCompression;
                     t->enable_index_compression = false;
                   }}});
  return cases;
}

// Keys of all lengths, the empty one among them; values that compress, some
// that do not, and some larger than a block.
Cells RandomCells(uint64_t seed) {
  test::Random random(seed);
  Cells cells = {{"", "the empty key"}};
  while (cells.size() < 3000) {
    std::string key = "r" + std::to_string(random.Below(400)) + ":";
    key += random.Bytes(random.Below(random.OneIn(50) ? 300 : 12));
    std::string value;
    switch (random.Below(4)) {
      case 0:
        value = random.Bytes(random.Below(40));
        break;
      case 1:
        value = std::string(random.Below(700), 'v');
        break;
      default:
        value = "a value that is like others " + std::to_string(cells.size());
    }
    cells.insert_or_assign(std::move(key), std::move(value));
  }
  return cells;
}

// From 10.9 on RocksDB does not count the blocks from which it makes one.
constexpr bool kDictionaryBlocksAreCounted =
    ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR < 1009;

class DataCursorOptions : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Sst, DataCursorOptions, testing::ValuesIn(Cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(DataCursorOptions, ReadsWhatRocksDbReads) {
  const Cells cells = RandomCells(test::SeedFromEnv());
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(GetParam().spec, path, cells));

  const auto file = test::OpenSst(path);
  rocksdb::SstFileReader stock(test::MakeOptions(GetParam().spec));
  ASSERT_THAT(stock.Open(path), IsOk());
  rocksdb::ReadOptions all;
  all.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(stock.NewIterator(all));
  iterator->SeekToFirst();

  DataCursor data(*file);
  auto model = cells.begin();
  std::set<uint64_t> blocks;
  while (data.Next()) {
    ASSERT_NE(model, cells.end());
    ASSERT_TRUE(iterator->Valid());
    ASSERT_EQ(data.key().user_key, model->first);
    ASSERT_EQ(data.value(), model->second);
    ASSERT_EQ(data.key().user_key, iterator->key().ToStringView());
    ASSERT_EQ(data.value(), iterator->value().ToStringView());
    ASSERT_EQ(data.key().type, EntryType::kPut);
    ASSERT_EQ(data.key().sequence, 0U);
    blocks.insert(data.block().offset_bytes);
    ++model;
    iterator->Next();
  }
  ASSERT_THAT(data.status(), IsOk());
  EXPECT_EQ(model, cells.end());
  EXPECT_FALSE(iterator->Valid());
  if (kDictionaryBlocksAreCounted ||
      GetParam().name.find("Dictionary") == std::string::npos) {
    EXPECT_EQ(blocks.size(), stock.GetTableProperties()->num_data_blocks);
  }
}

TEST_P(DataCursorOptions, SkipToStartsAtOrBeforeTheKey) {
  const uint64_t seed = test::SeedFromEnv();
  const Cells cells = RandomCells(seed);
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(GetParam().spec, path, cells));
  const auto file = test::OpenSst(path);
  const uint64_t blocks = *file->NumberProperty("rocksdb.num.data.blocks");

  test::Random random(seed + 1);
  std::vector<std::string> wanted = {"", "zzz", "r2"};
  for (int i = 0; i < 20; ++i) {
    wanted.push_back(
        std::next(cells.begin(), random.Below(cells.size()))->first);
    wanted.push_back(wanted.back() + "!");
  }
  for (const std::string& key : wanted) {
    DataCursor data(*file);
    data.SkipTo(key);
    const uint64_t first_block = [&]() -> uint64_t {
      while (data.Next()) {
        if (data.key().user_key >= key) return data.block().offset_bytes;
      }
      return UINT64_MAX;
    }();
    ASSERT_THAT(data.status(), IsOk());
    const auto expected = cells.lower_bound(key);
    if (expected == cells.end()) {
      EXPECT_EQ(first_block, UINT64_MAX);
      continue;
    }
    EXPECT_EQ(data.key().user_key, expected->first);
    // The blocks before it were passed over, but for perhaps one.
    DataCursor again(*file);
    again.SkipTo(key);
    ASSERT_TRUE(again.NextBlock());
    IndexCursor index(*file);
    size_t between = 0;
    while (index.Next()) {
      const uint64_t at = index.handle().offset_bytes;
      if (at >= again.block().offset_bytes && at < first_block) ++between;
    }
    EXPECT_LE(between, 1U) << "of " << blocks;
  }
}

// Before 9.1 RocksDB made a dictionary of blocks that it did not compress, too.
constexpr bool kDictionaryWithoutCompression =
    ROCKSDB_MAJOR < 9 || (ROCKSDB_MAJOR == 9 && ROCKSDB_MINOR < 1);

TEST(DataCursor, FormsAreWhatWasAskedFor) {
  const TempDir dir;
  for (const Case& test_case : Cases()) {
    SCOPED_TRACE(test_case.name);
    const std::string path = dir.File(test_case.name);
    ASSERT_NO_FATAL_FAILURE(
        test::WriteSst(test_case.spec, path, RandomCells(test::SeedFromEnv())));
    const auto file = test::OpenSst(path);
    const auto named = [&](const char* text) {
      return test_case.name.find(text) != std::string::npos;
    };
    EXPECT_EQ(file->index().form == IndexForm::kTwoLevel, named("TwoLevel"));
    EXPECT_EQ(file->index().form == IndexForm::kFirstKey, named("FirstKey"));
    EXPECT_EQ(file->index().form == IndexForm::kHashSearch,
              named("HashSearch"));
    EXPECT_EQ(file->meta_blocks().contains("rocksdb.compression_dict"),
              named("Dictionary") &&
                  (kDictionaryWithoutCompression || !named("NoCompression")));
    DataCursor data(*file);
    std::map<std::string, size_t> compressions;
    bool hash_index = false;
    size_t partitions = 0;
    while (data.NextBlock()) {
      ++compressions[ToString(data.compression())];
      hash_index = hash_index || data.has_hash_index();
      partitions = std::max(partitions, data.index().partition());
      if (file->index().form == IndexForm::kFirstKey) {
        ASSERT_TRUE(data.NextEntry());
        EXPECT_EQ(data.index().first_key(), data.internal_key());
      }
    }
    ASSERT_THAT(data.status(), IsOk());
    EXPECT_EQ(hash_index, named("HashIndex"));
    EXPECT_EQ(partitions > 3, named("TwoLevel"));
    if (named("Zlib")) {
      EXPECT_GT(compressions["zlib"], 10U);
    } else if (named("Lz4") && !named("Lz4hc")) {
      EXPECT_GT(compressions["LZ4"], 10U);
    } else if (named("Zstd")) {
      EXPECT_GT(compressions["ZSTD"], 10U);
    } else if (named("Snappy")) {
      EXPECT_GT(compressions["Snappy"], 10U);
    }
  }
}

// A database's own files: sequence numbers, every type of entry, versions that
// a snapshot keeps, range deletions.
TEST(DataCursor, ReadsVersionsAndTypes) {
  const TempDir dir;
  const auto db = test::NewDb({}, dir.File("db"));
  std::list<rocksdb::ManagedSnapshot> snapshots;
  const auto keep = [&] { snapshots.emplace_back(db.get()); };
  ASSERT_THAT(db->Put({}, "a", "1"), IsOk());
  keep();
  ASSERT_THAT(db->Delete({}, "a"), IsOk());
  keep();
  ASSERT_THAT(db->Put({}, "b", "2"), IsOk());
  keep();
  ASSERT_THAT(db->SingleDelete({}, "b"), IsOk());
  keep();
  ASSERT_THAT(db->DeleteRange({}, db->DefaultColumnFamily(), "c", "f"), IsOk());
  ASSERT_THAT(db->Put({}, "d", "3"), IsOk());
  ASSERT_THAT(db->PutEntity({}, db->DefaultColumnFamily(), "e", {{"x", "y"}}),
              IsOk());
  ASSERT_THAT(db->Flush({}), IsOk());
  const auto file = test::OpenSst(test::OnlySst(db.get()));
  DataCursor data(*file);
  std::vector<std::string> found;
  while (data.Next()) {
    found.push_back(std::string(data.key().user_key) + " " +
                    std::to_string(data.key().sequence) + " " +
                    ToString(data.key().type));
  }
  EXPECT_THAT(data.status(), IsOk());
  EXPECT_THAT(found,
              testing::ElementsAre("a 2 delete", "a 1 put", "b 4 single-delete",
                                   "b 3 put", "d 6 put", "e 7 entity"));
  std::vector<std::string> ranges;
  EXPECT_THAT(
      ForEachRangeDeletion(*file,
                           [&](const RangeDeletion& range) {
                             ranges.push_back(std::string(range.start) + "-" +
                                              std::string(range.end) + " " +
                                              std::to_string(range.sequence));
                           }),
      IsOk());
  EXPECT_THAT(ranges, testing::ElementsAre("c-f 5"));
}

TEST(DataCursor, KeysWithTimestampsAndInReverseOrder) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  const rocksdb::Comparator* with_timestamps = nullptr;
  ASSERT_THAT(rocksdb::Comparator::CreateFromString(
                  {}, "leveldb.BytewiseComparator.u64ts", &with_timestamps),
              IsOk());
  rocksdb::Options options = test::MakeOptions({.comparator = with_timestamps});
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  ASSERT_THAT(writer.Open(path), IsOk());
  const std::string time("\x2a\0\0\0\0\0\0\0", 8);
  for (const std::string& key : test::NumberedKeys(300)) {
    ASSERT_THAT(writer.Put(key, time, "v"), IsOk());
  }
  ASSERT_THAT(writer.Finish(), IsOk());
  auto file = test::OpenSst(path);
  EXPECT_EQ(file->timestamp_bytes(), 8U);
  EXPECT_EQ(file->key_order(), KeyOrder::kBytewise);
  DataCursor data(*file);
  data.SkipTo("key000250");
  size_t count = 0;
  bool found = false;
  while (data.Next()) {
    ++count;
    found = found || data.key().user_key == "key000250" + time;
  }
  EXPECT_THAT(data.status(), IsOk());
  EXPECT_TRUE(found);
  EXPECT_LT(count, 100U);

  std::vector<std::string> keys = test::NumberedKeys(300);
  std::reverse(keys.begin(), keys.end());
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(
      {.comparator = rocksdb::ReverseBytewiseComparator()}, path, keys));
  file = test::OpenSst(path);
  EXPECT_EQ(file->key_order(), KeyOrder::kReverseBytewise);
  DataCursor reverse(*file);
  reverse.SkipTo("key000049");
  std::vector<std::string> found_keys;
  while (reverse.Next()) found_keys.emplace_back(reverse.key().user_key);
  EXPECT_THAT(reverse.status(), IsOk());
  EXPECT_LT(found_keys.size(), 80U);
  EXPECT_THAT(found_keys, testing::Contains("key000049"));
  EXPECT_EQ(found_keys.back(), "key000000");
}

TEST(DataCursor, AnIngestedFileHasOneSequenceNumber) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  ASSERT_NO_FATAL_FAILURE(
      test::WriteSst(SstSpec{}, path, test::NumberedKeys(10)));
  const auto db = test::NewDb({}, dir.File("db"));
  ASSERT_THAT(db->Put({}, "key000003", "older"), IsOk());
  rocksdb::IngestExternalFileOptions ingest;
  ingest.write_global_seqno = true;
  ASSERT_THAT(db->IngestExternalFile({path}, ingest), IsOk());
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  bool seen = false;
  for (const auto& entry : files) {
    if (entry.num_entries != 10) continue;
    const auto file =
        test::OpenSst(entry.directory + "/" + entry.relative_filename);
    EXPECT_EQ(file->global_sequence(), entry.smallest_seqno);
    EXPECT_GT(file->global_sequence(), 0U);
    DataCursor data(*file);
    while (data.Next()) {
      EXPECT_EQ(data.key().sequence, entry.smallest_seqno);
      seen = true;
    }
    EXPECT_THAT(data.status(), IsOk());
  }
  EXPECT_TRUE(seen);
}

TEST(DataCursor, AFileWithoutEntriesHasNone) {
  const TempDir dir;
  const std::string path = dir.File("a.sst");
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), test::MakeOptions({}));
  ASSERT_THAT(writer.Open(path), IsOk());
  ASSERT_THAT(writer.DeleteRange("a", "b"), IsOk());
  ASSERT_THAT(writer.Finish(), IsOk());
  const auto file = test::OpenSst(path);
  DataCursor data(*file);
  EXPECT_FALSE(data.Next());
  EXPECT_THAT(data.status(), IsOk());
}

}  // namespace
}  // namespace rowbloom::sst
