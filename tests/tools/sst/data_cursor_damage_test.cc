// Index and data blocks cut, flipped and lied about: a walk ends, and what it
// gave before is what was written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"
#include "tools/sst/data_cursor.h"

namespace rowbloom::sst::data_cursor_damage_test {
namespace {

using rocksdb::Status;
using test::IsOk;
using test::StatusIs;
using test::TempDir;
using test::Varint;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class DataDamage : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(
        test::WriteSst({.format_version = 3,
                        .partitioned = GetParam(),
                        .partition_bytes = 128,
                        .change =
                            [](auto* options, auto* table) {
                              options->compression = rocksdb::kLZ4Compression;
                              table->enable_index_compression = false;
                            }},
                       path_, test::NumberedKeys(300)));
    good_ = test::ReadFile(path_);
    ASSERT_THAT(SstFile::Open(path_, &file_), IsOk());
    ASSERT_THAT(Walk(), IsOk());
    ASSERT_EQ(entries_, 300U);
  }

  // Opens the file as it is now and walks it.
  Status Walk() {
    entries_ = 0;
    std::unique_ptr<SstFile> file;
    Status status = SstFile::Open(path_, &file);
    if (!status.ok()) return status;
    DataCursor data(*file);
    while (data.Next()) {
      EXPECT_EQ(data.value(), "value of " + std::string(data.key().user_key));
      ++entries_;
    }
    return data.status();
  }

  const TempDir dir_;
  const std::string path_ = dir_.File("a.sst");
  std::string good_;
  std::unique_ptr<SstFile> file_;
  size_t entries_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Index, DataDamage, testing::Bool(),
                         [](const auto& form) {
                           return form.param ? "TwoLevels" : "OneLevel";
                         });

TEST_P(DataDamage, EveryFlippedByteIsFoundBeforeItIsBelieved) {
  test::Random random(test::SeedFromEnv());
  const uint64_t end = file_->footer().index->offset_bytes +
                       file_->footer().index->size_bytes + kBlockTrailerBytes;
  size_t refused = 0;
  for (uint64_t at = 0; at < end; ++at) {
    const char flip = static_cast<char>(1 << random.Below(8));
    test::WriteByte(path_, at, static_cast<char>(good_[at] ^ flip));
    const Status status = Walk();
    test::WriteByte(path_, at, good_[at]);
    if (status.ok()) {
      EXPECT_EQ(entries_, 300U) << at;
      continue;
    }
    ++refused;
    EXPECT_THAT(status,
                StatusIs(Status::kCorruption,
                         AllOf(HasSubstr(path_ + ": "), HasSubstr("offset "),
                               HasSubstr("expected, found"))))
        << at;
  }
  // Damage goes unnoticed only in blocks that the walk does not read.
  EXPECT_GT(refused, end / 2);
}

TEST_P(DataDamage, HandlesThatGoInCirclesAreRefused) {
  // The last entry of the index names the index itself, an earlier block, or
  // what lies behind the index.
  const BlockHandle index = *file_->footer().index;
  int refused = 0;
  for (const uint64_t target : {index.offset_bytes, index.offset_bytes + 1,
                                good_.size(), uint64_t{1} << 62}) {
    SCOPED_TRACE(target);
    const std::string path = dir_.File("circle.sst");
    test::WriteFile(path, good_);
    bool changed = false;
    size_t index_entries = 0;
    BlockReader reader(*file_);
    std::string_view contents;
    ASSERT_THAT(reader.ReadMeta(index, &contents), IsOk());
    ASSERT_EQ(reader.compression(), CompressionType::kNone);
    EntryCursor counted(contents, ValueForm::kSized);
    while (counted.Next()) ++index_entries;
    test::ChangeBlock(path, index, [&](std::string* block) {
      EntryCursor entries(*block, ValueForm::kSized);
      for (size_t left = index_entries; left > 0; --left) {
        ASSERT_TRUE(entries.Next());
      }
      const std::string handle = Varint(target) + Varint(1);
      const size_t room = entries.value().size();
      // A handle as long as the old one: its size padded with 0x80.
      if (handle.size() > room) return;
      std::string padded = Varint(target);
      padded += std::string(room - padded.size() - 1, '\x81') + '\0';
      block->replace(entries.value_offset_bytes(), room, padded);
      changed = true;
    });
    // A handle far away takes more bytes than there are.
    if (!changed) continue;
    ++refused;
    const auto file = test::OpenSst(path);
    DataCursor data(*file);
    while (data.Next()) {
    }
    EXPECT_THAT(data.status(),
                StatusIs(Status::kCorruption,
                         AllOf(HasSubstr(path + ": index at offset "),
                               HasSubstr("expected between offsets"))));
  }
  EXPECT_GE(refused, 2);
}

TEST_P(DataDamage, GoesOnBehindADamagedBlock) {
  IndexCursor index(*file_);
  std::vector<BlockHandle> blocks;
  while (index.Next()) blocks.push_back(index.handle());
  ASSERT_GT(blocks.size(), 5U);
  test::WriteByte(path_, blocks[2].offset_bytes,
                  static_cast<char>(~good_[blocks[2].offset_bytes]));
  DataCursor data(*file_);
  size_t good = 0;
  size_t bad = 0;
  size_t entries = 0;
  while (data.NextBlock()) {
    while (data.NextEntry()) ++entries;
    ++(data.block_status().ok() ? good : bad);
  }
  EXPECT_THAT(data.status(), IsOk());
  EXPECT_EQ(good, blocks.size() - 1);
  EXPECT_EQ(bad, 1U);
  EXPECT_LT(entries, 300U);
  EXPECT_GT(entries, 250U);
}

class PartitionedDataDamage : public DataDamage {};
INSTANTIATE_TEST_SUITE_P(Index, PartitionedDataDamage, testing::Values(true));

TEST_P(PartitionedDataDamage, GoesOnBehindADamagedPartition) {
  IndexCursor index(*file_);
  std::map<size_t, BlockHandle> partitions;
  while (index.Next()) partitions[index.partition()] = index.block();
  ASSERT_GT(partitions.size(), 3U);
  const uint64_t at = partitions[2].offset_bytes;
  test::WriteByte(path_, at, static_cast<char>(~good_[at]));
  IndexCursor damaged(*file_);
  std::map<size_t, size_t> found;
  for (int failures = 0; failures < 2; ++failures) {
    while (damaged.Next()) ++found[damaged.partition()];
    if (damaged.status().ok()) break;
    EXPECT_EQ(failures, 0);
    ASSERT_TRUE(damaged.SkipDamagedPartition());
  }
  EXPECT_EQ(found.size(), partitions.size() - 1);
  EXPECT_FALSE(found.contains(2));
}

// The most address space that this process has had, in bytes.
size_t MostMemory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    size_t kib = 0;
    if (word == "VmPeak:" && status >> kib) return kib * 1024;
  }
  return 0;
}

// A frame of ZSTD whose blocks repeat one byte: 4 GiB less one in 128 KiB.
std::string Bomb() {
  constexpr uint64_t kBlockBytes = 128 * 1024;
  std::string frame("\x28\xb5\x2f\xfd\x00\x38", 6);
  for (uint64_t left = UINT32_MAX; left > 0;) {
    const uint64_t bytes = std::min(left, kBlockBytes);
    left -= bytes;
    const uint64_t head = (left == 0 ? 1 : 0) | 1 << 1 | bytes << 3;
    for (int shift = 0; shift < 24; shift += 8) {
      frame += static_cast<char>(head >> shift);
    }
    frame += 'a';
  }
  return frame;
}

// The block has as many bytes as ZSTD needs for its claim.
TEST(DataBomb, AZstdBlockThatClaims4GiBTakesNoMemory) {
  const TempDir dir;
  const std::string path = dir.File("bomb.sst");
  const std::string bomb = Varint(UINT32_MAX) + Bomb();
  test::Random random(1);
  std::string value;
  while (value.size() < bomb.size()) {
    value += static_cast<char>(random.Below(256));
  }
  ASSERT_NO_FATAL_FAILURE(test::WriteSst(
      {.change = [](auto* options,
                    auto*) { options->compression = rocksdb::kNoCompression; }},
      path, std::map<std::string, std::string>{{"key", value}}));
  BlockHandle block;
  {
    const auto file = test::OpenSst(path);
    IndexCursor index(*file);
    ASSERT_TRUE(index.Next());
    block = index.handle();
  }
  test::WriteByte(path, block.offset_bytes + block.size_bytes,
                  static_cast<char>(CompressionType::kZstd));
  test::ChangeBlock(path, block, [&](std::string* contents) {
    contents->replace(0, bomb.size(), bomb);
  });
  const auto file = test::OpenSst(path);
  const size_t before = MostMemory();
  ASSERT_GT(before, 0U);
  DataCursor data(*file);
  ASSERT_TRUE(data.NextBlock());
  EXPECT_TRUE(data.block_status().IsMemoryLimit());
  EXPECT_EQ(data.block_status().getState(),
            path +
                ": block at offset 0: contents of 4294967295 bytes, "
                "expected at most 1879048185");
  EXPECT_LT(MostMemory() - before, size_t{64} << 20);
}

// The starts of range deletions may be kept in memory, as diff does. They could
// share all of their bytes.
TEST(RangeDeletionBomb, StartsTakeNoThousandTimesTheirBlock) {
  const TempDir dir;
  const std::string path = dir.File("ranges.sst");
  {
    const std::string start(512 << 10, 'k');
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions{}, rocksdb::Options{});
    ASSERT_THAT(writer.Open(path), IsOk());
    ASSERT_THAT(writer.DeleteRange(start, start + "l"), IsOk());
    ASSERT_THAT(writer.Finish(), IsOk());
  }
  const BlockHandle block =
      test::OpenSst(path)->meta_blocks().find("rocksdb.range_del")->second;
  test::ChangeBlock(path, block, [](std::string* contents) {
    EntryCursor entries(*contents, ValueForm::kSized);
    ASSERT_TRUE(entries.Next());
    const std::string& key = entries.key();
    std::string made = Varint(0) + Varint(key.size()) + Varint(0) + key;
    for (int i = 0; i < 1000; ++i) {
      made += Varint(key.size()) + Varint(0) + Varint(0);
    }
    made += Varint(key.size()) + Varint(0);
    // One restart and the count. The end of the last range fills the block.
    const std::string restarts = contents->substr(contents->size() - 8);
    const size_t end_bytes =
        contents->size() - made.size() - restarts.size() - 3;
    ASSERT_EQ(Varint(end_bytes).size(), 3U);
    *contents =
        made + Varint(end_bytes) + std::string(end_bytes, 'l') + restarts;
  });
  const auto file = test::OpenSst(path);
  size_t ranges = 0;
  EXPECT_THAT(
      ForEachRangeDeletion(*file,
                           [&ranges](const RangeDeletion&) { ++ranges; }),
      StatusIs(Status::kCorruption, HasSubstr("expected at most 268435456")));
  EXPECT_EQ(ranges, 511U);
}

}  // namespace
}  // namespace rowbloom::sst::data_cursor_damage_test
