// Files cut, flipped and lied about: the reader never crashes, and each answer
// is right or one clear sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"
#include "tools/sst/sst_file.h"

namespace rowbloom::sst::sst_damage_test {
namespace {

using test::TempDir;
using test::Varint;
using testing::HasSubstr;
using testing::StartsWith;

// The filter blocks of a file, read through the whole path.
rocksdb::Status ReadFilter(const std::string& path,
                           std::vector<std::string>* blocks) {
  blocks->clear();
  std::unique_ptr<SstFile> file;
  rocksdb::Status status = SstFile::Open(path, &file);
  std::vector<FilterPartition> partitions;
  if (status.ok()) status = file->FilterPartitions(&partitions);
  for (size_t i = 0; status.ok() && i < partitions.size(); ++i) {
    status = file->ReadBlock(partitions[i].handle, &blocks->emplace_back());
  }
  return status;
}

class SstDamage : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(test::WriteSst(
        {.policy =
             test::MakeFilterPolicy({.key_layout = KeyLayout::FixedRow(8)}),
         .partitioned = GetParam(),
         .partition_bytes = 128},
        path_, test::NumberedKeys(GetParam() ? 200 : 30)));
    good_ = test::ReadFile(path_);
    ASSERT_TRUE(SstFile::Open(path_, &file_).ok());
    ASSERT_TRUE(ReadFilter(path_, &blocks_).ok());
    ASSERT_EQ(blocks_.size() > 1, GetParam());
  }

  // Reads the filter of the file as it is now: an error that names the file,
  // or what was written.
  rocksdb::Status Check() {
    std::vector<std::string> blocks;
    const rocksdb::Status status = ReadFilter(path_, &blocks);
    if (status.ok()) {
      EXPECT_EQ(blocks, blocks_);
    } else {
      EXPECT_TRUE(status.IsCorruption() || status.IsNotSupported())
          << status.ToString();
      EXPECT_THAT(status.getState(), StartsWith(path_ + ": "));
    }
    return status;
  }

  // Flips each bit of [begin, end). Returns how many flips were refused.
  size_t FlipBits(uint64_t begin, uint64_t end) {
    size_t refused = 0;
    for (uint64_t at = begin; at < end; ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        SCOPED_TRACE("byte " + std::to_string(at) + " bit " +
                     std::to_string(bit));
        test::WriteByte(path_, at, static_cast<char>(good_[at] ^ (1 << bit)));
        if (!Check().ok()) ++refused;
      }
      test::WriteByte(path_, at, good_[at]);
    }
    return refused;
  }

  // Flips each bit of a block, and expects all but `accepted` of its bytes to
  // be refused.
  void FlipBlock(const BlockHandle& block, uint64_t accepted = 0) {
    const uint64_t end =
        block.offset_bytes + block.size_bytes + kBlockTrailerBytes;
    EXPECT_EQ(FlipBits(block.offset_bytes, end),
              8 * (end - block.offset_bytes - accepted));
  }

  // Returns why the filter, which must be damaged, cannot be read.
  std::string Refusal() {
    std::vector<std::string> blocks;
    const rocksdb::Status status = ReadFilter(path_, &blocks);
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    return status.ok() ? "" : status.getState();
  }

  const TempDir dir_;
  const std::string path_ = dir_.File("a.sst");
  std::string good_;
  std::unique_ptr<SstFile> file_;
  std::vector<std::string> blocks_;
};

INSTANTIATE_TEST_SUITE_P(Filter, SstDamage, testing::Bool(),
                         [](const auto& form) {
                           return form.param ? "Partitioned" : "Full";
                         });

class PartitionedSstDamage : public SstDamage {};
INSTANTIATE_TEST_SUITE_P(Filter, PartitionedSstDamage, testing::Values(true));

TEST_P(SstDamage, EveryTruncationIsRefused) {
  for (size_t length = good_.size(); length-- > 0;) {
    SCOPED_TRACE(length);
    std::filesystem::resize_file(path_, length);
    EXPECT_FALSE(Check().ok());
  }
}

TEST_P(SstDamage, FlipsInTheFooterAreRefusedOrHarmless) {
  const size_t refused = FlipBits(good_.size() - kFooterBytes, good_.size());
  // Flips in the magic, the version's upper bytes and the metaindex handle are
  // refused for sure.
  EXPECT_GT(refused, 8U * (8 + 3 + 2));
}

TEST_P(SstDamage, EveryFlipInTheMetaindexIsRefused) {
  FlipBlock(file_->footer().metaindex);
}

TEST_P(SstDamage, FlipsInThePropertiesAreRefused) {
  // Ingestion may set the 8 bytes of the global sequence number without
  // touching the checksum, so flips there are accepted.
  FlipBlock(file_->meta_blocks().find("rocksdb.properties")->second,
            /*accepted=*/8);
}

TEST_P(SstDamage, EveryFlipInTheFilterIsRefused) {
  std::vector<FilterPartition> partitions;
  ASSERT_TRUE(file_->FilterPartitions(&partitions).ok());
  FlipBlock(partitions.front().handle);
  if (GetParam()) FlipBlock(file_->filter().handle);
}

// With checksums that fit, every byte of the structures takes some other
// values. Nothing may crash; what is read may then differ.
TEST_P(SstDamage, StructuresThatLieAreSafe) {
  const BlockHandle properties =
      file_->meta_blocks().find("rocksdb.properties")->second;
  std::vector<BlockHandle> targets = {file_->footer().metaindex, properties};
  if (GetParam()) targets.push_back(file_->filter().handle);
  size_t refused = 0;
  for (const BlockHandle& handle : targets) {
    for (uint64_t at = 0; at < handle.size_bytes; ++at) {
      for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
        test::WriteFile(path_, good_);
        ASSERT_NO_FATAL_FAILURE(
            test::ChangeBlock(path_, handle, [&](std::string* contents) {
              (*contents)[at] = static_cast<char>(value);
            }));
        std::vector<std::string> blocks;
        const rocksdb::Status status = ReadFilter(path_, &blocks);
        if (status.ok()) continue;
        ++refused;
        EXPECT_THAT(status.getState(), StartsWith(path_ + ": "));
      }
    }
  }
  EXPECT_GT(refused, 0U);
}

TEST_P(SstDamage, HandlesThatLieAreRefused) {
  const BlockHandle metaindex = file_->footer().metaindex;
  const BlockHandle filter = file_->filter().handle;
  const std::string old_handle =
      Varint(filter.offset_bytes) + Varint(filter.size_bytes);
  const auto message_for = [&](const BlockHandle& claim) {
    test::WriteFile(path_, good_);
    test::ChangeBlock(path_, metaindex, [&](std::string* contents) {
      const size_t at = contents->find(old_handle);
      ASSERT_NE(at, std::string::npos);
      std::string handle =
          Varint(claim.offset_bytes) + Varint(claim.size_bytes);
      ASSERT_LE(handle.size(), old_handle.size());
      handle.resize(old_handle.size());
      contents->replace(at, handle.size(), handle);
    });
    return Refusal();
  };
  // The metaindex itself, one that reaches into it, more than there is.
  EXPECT_THAT(message_for({metaindex.offset_bytes, 1}),
              HasSubstr("expected it to end before the metaindex"));
  EXPECT_THAT(message_for({metaindex.offset_bytes - 4, 0}),
              HasSubstr("expected it to end before the metaindex"));
  ASSERT_LT(good_.size(), 0x3fffU);
  EXPECT_THAT(message_for({0, 0x3fff}),
              HasSubstr("of 16383 bytes at offset 0, expected it to end "
                        "before the metaindex"));
  // All bytes before, of which other names have some, too.
  EXPECT_THAT(message_for({0, metaindex.offset_bytes - kBlockTrailerBytes}),
              HasSubstr("names blocks of "));
  // A place that no block starts at.
  EXPECT_THAT(message_for({filter.offset_bytes + 1, filter.size_bytes - 1}),
              HasSubstr("checksum"));
}

// RocksDB's reader finds the first of two names, or refuses them.
TEST_P(SstDamage, NamesOutOfOrderAreRefused) {
  struct Case {
    std::string block;
    BlockHandle handle;
    std::string name;  // or the end of one
  };
  for (const Case& tested :
       {Case{"metaindex", file_->footer().metaindex, "rocksdb.properties"},
        Case{"properties",
             file_->meta_blocks().find("rocksdb.properties")->second,
             "entries"}}) {
    SCOPED_TRACE(tested.block);
    test::WriteFile(path_, good_);
    test::ChangeBlock(path_, tested.handle, [&](std::string* contents) {
      const size_t at = contents->find(tested.name);
      ASSERT_NE(at, std::string::npos);
      (*contents)[at] = 'a';
    });
    std::unique_ptr<SstFile> file;
    const rocksdb::Status status = SstFile::Open(path_, &file);
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_THAT(status.ToString(),
                HasSubstr(": " + tested.block + " at offset " +
                          std::to_string(tested.handle.offset_bytes) +
                          ": names out of order"));
  }
}

TEST_P(PartitionedSstDamage, PartitionThatIsItsOwnIndexIsRefused) {
  const BlockHandle index = file_->filter().handle;
  test::ChangeBlock(path_, index, [&](std::string* contents) {
    // shared 0, key length, key, then the first partition's handle.
    const size_t at = 2 + static_cast<unsigned char>((*contents)[1]);
    const std::string handle = Varint(index.offset_bytes) + '\1';
    contents->replace(at, handle.size(), handle);
  });
  EXPECT_THAT(Refusal(), HasSubstr("index of filter partitions at offset " +
                                   std::to_string(index.offset_bytes) +
                                   ": names a block of 1 bytes at offset " +
                                   std::to_string(index.offset_bytes)));
}

TEST_P(PartitionedSstDamage, PartitionsThatOverlapAreRefused) {
  std::vector<FilterPartition> partitions;
  ASSERT_TRUE(file_->FilterPartitions(&partitions).ok());
  const auto encode = [](const BlockHandle& handle) {
    return Varint(handle.offset_bytes) + Varint(handle.size_bytes);
  };
  const std::string second = encode(partitions[1].handle);
  const std::string first = encode(partitions[0].handle);
  ASSERT_EQ(first.size(), second.size());
  test::ChangeBlock(path_, file_->filter().handle, [&](std::string* contents) {
    const size_t at = contents->find(second);
    ASSERT_NE(at, std::string::npos);
    contents->replace(at, first.size(), first);
  });
  EXPECT_THAT(Refusal(),
              HasSubstr(" bytes at offset " +
                        std::to_string(partitions[0].handle.offset_bytes) +
                        ", expected between offsets "));
}

// A file that says it is large: nothing is allocated for what is not there.
TEST_P(SstDamage, ClaimsBeyondTheFileAllocateNothing) {
  std::string contents;
  for (const BlockHandle claim :
       {BlockHandle{0, ~uint64_t{0}}, BlockHandle{~uint64_t{0}, 0},
        BlockHandle{~uint64_t{0}, ~uint64_t{0}}, BlockHandle{0, good_.size()},
        BlockHandle{good_.size() - kFooterBytes - 4, 0}}) {
    const rocksdb::Status status = file_->ReadBlock(claim, &contents);
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_THAT(status.getState(),
                HasSubstr("expected it to end before the footer"));
    EXPECT_LT(contents.capacity(), 1024U);
  }
}

}  // namespace
}  // namespace rowbloom::sst::sst_damage_test
