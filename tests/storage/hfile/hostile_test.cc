// Files that lie: every length, offset and count that a reader could believe.
// Nothing may crash, loop or be taken for what it is not; a sentence says what
// is wrong. Changes have right checksums, except where damage is the subject.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/hfile.h"
#include "storage/format/coding.h"
#include "storage/hfile/block.h"
#include "storage/hfile/codec.h"
#include "storage/hfile/file_form.h"
#include "storage/hfile/file_info.h"
#include "storage/hfile/index_walk.h"
#include "storage/hfile/reader.h"
#include "storage/hfile/trailer.h"
#include "storage/hfile/vlong.h"
#include "tests/storage/hfile/edit_file.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/support/files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

using hfile::BlockType;
using rocksdb::Status;
using test::EditHeader;
using test::EditPayload;
using test::EditTrailer;
using test::IsOk;
using test::Overwrite32;
using test::Overwrite64;
using test::StatusIs;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kCorruption = Status::kCorruption;
constexpr int kNotSupported = Status::kNotSupported;
constexpr int kMemoryLimit = Status::kAborted;

constexpr HFileEncoding kEncodings[] = {
    HFileEncoding::kPrefix, HFileEncoding::kDiff, HFileEncoding::kFastDiff,
    HFileEncoding::kRowIndexV1};

// Rows row000 to row019, one column each; a family delete in row005.
std::vector<HFileCell> FewCells() {
  return test::NumberedRows(20, /*deleted=*/5, /*mvcc=*/1);
}

class HostileHFile : public ::testing::Test {
 protected:
  // The bytes of a sound file.
  std::string File(const hfile::FileForm& options) {
    test::WriteCells(options, path_, FewCells());
    return test::ReadFile(path_);
  }
  std::string File() { return File({}); }
  // A file with three levels of index.
  std::string DeepFile(hfile::FileForm options = {}) {
    options.block_bytes = 1;
    options.index_block_bytes = 60;
    options.index_block_min_entries = 2;
    return File(options);
  }

  Status Open(const std::string& file) {
    test::WriteFile(path_, file);
    return OpenPath();
  }
  Status OpenPath() {
    reader_.reset();
    return HFileReader::Open({}, path_, &reader_);
  }
  // Returns the status of opening the file and reading all cells.
  Status ReadAll(const std::string& file) {
    test::WriteFile(path_, file);
    return ReadPath();
  }
  Status ReadPath() {
    Status status = OpenPath();
    if (!status.ok()) return status;
    const auto iterator = reader_->NewIterator({});
    cells_.clear();
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      cells_.emplace_back(iterator->cell());
      if (cells_.size() > 10'000) return Status::Aborted("an endless loop");
    }
    return iterator->status();
  }
  void Refuses(const std::string& file, int code, const std::string& why) {
    const Status status = ReadAll(file);
    EXPECT_THAT(status, StatusIs(code, HasSubstr(why)));
    EXPECT_THAT(status.ToString(), HasSubstr(path_));
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.File("hostile.hfile");
  std::unique_ptr<HFileReader> reader_;
  std::vector<HFileCell> cells_;
};

// ------------------------------------------------------- 1: size and trailer

TEST_F(HostileHFile, TooShortForATrailer) {
  const std::string good = File();
  Refuses("", kCorruption, "not an HFile, or cut short: 0 bytes");
  Refuses("abc", kCorruption, "not an HFile, or cut short: 3 bytes");
  Refuses(good.substr(good.size() - 4095), kCorruption,
          "4095 bytes, expected a trailer of 4096");
  Refuses(good.substr(0, good.size() - 1), kCorruption, "not an HFile");
  Refuses(std::string(10'000, 'x'), kCorruption, "not an HFile");
  // A trailer alone: its offsets are outside.
  Refuses(good.substr(good.size() - 4096), kCorruption, "offset");
  EXPECT_THAT(HFileReader::Open({}, dir_.path(), &reader_),
              StatusIs(Status::kIOError, HasSubstr("a directory")));
  EXPECT_THAT(HFileReader::Open({}, dir_.File("absent"), &reader_),
              StatusIs(Status::kIOError, HasSubstr("cannot open")));
}

// A compaction leaves such a file when all cells have expired.
TEST_F(HostileHFile, AFileWithoutCellsOfHBase1IsRead) {
  test::WriteCells({}, path_, {});
  std::string file = test::ReadFile(path_);
  EditTrailer(&file, [](HFileTrailer* trailer) {
    EXPECT_EQ(trailer->load_on_open_offset, 0U);
    trailer->last_data_block_offset = 0;
  });
  test::EditFileInfo(&file, [](hfile::FileInfo* info) {
    (*info)["TIMERANGE"] = std::string(16, '\xff');
  });
  EXPECT_THAT(ReadAll(file), IsOk());
  EXPECT_EQ(reader_->trailer().last_data_block_offset, std::nullopt);
  EXPECT_THAT(cells_, IsEmpty());
  EXPECT_THAT(test::Verified(*reader_).problems, IsEmpty());
}

// Rows of hbase:meta have the order of their start rows, "a" and "a!".
TEST_F(HostileHFile, FilesOfHBaseMetaAreWalked) {
  const std::vector<HFileCell> cells = {
      HFileCell({.row = "t,a,5", .family = "info", .qualifier = "q"}),
      HFileCell({.row = "t,b!,4", .family = "info", .qualifier = "q"})};
  for (const char* comparator :
       {"KeyValue$MetaKeyComparator", "KeyValue$MetaComparator",
        "MetaCellComparator", "KeyValue$KVComparator"}) {
    SCOPED_TRACE(comparator);
    hfile::FileForm form;
    form.bloom_type = BloomType::kNone;
    form.comparator = std::string("org.apache.hadoop.hbase.") + comparator;
    test::WriteCells(form, path_, cells);
    std::string file = test::ReadFile(path_);
    EditPayload(&file, BlockType::kData, [](std::string* payload) {
      payload->at(payload->find("t,b!") + 2) = 'a';
    });
    if (form.comparator.find("Meta") == std::string::npos) {
      Refuses(file, kCorruption, "key before that of the cell before it");
      continue;
    }
    EXPECT_THAT(ReadAll(file), IsOk());
    ASSERT_EQ(cells_.size(), 2U);
    EXPECT_EQ(cells_[1].row, "t,a!,4");
    EXPECT_THAT(reader_->GetRow("t,a,5", &cells_),
                StatusIs(kNotSupported, HasSubstr("order of hbase:meta")));
  }
}

TEST_F(HostileHFile, OtherVersionsAreRefusedByName) {
  const std::string good = File();
  for (const uint32_t major : {1U, 2U, 4U}) {
    std::string file = good;
    Overwrite32(&file, file.size() - 4, 3U << 24 | major);
    Refuses(file, kNotSupported,
            "HFile v" + std::to_string(major) + ", expected v3");
  }
  // Trailers of the sizes that those versions have, at the end of small files.
  for (const auto& [major, bytes] : {std::pair(1U, 60U), std::pair(2U, 212U)}) {
    std::string file = "TRABLK\"$" + std::string(bytes - 8, '\0');
    Overwrite32(&file, file.size() - 4, major);
    Refuses(file, kNotSupported,
            "HFile v" + std::to_string(major) + ", expected v3");
  }
}

// HBase 0.98 writes v2 with the blocks of v3.
TEST_F(HostileHFile, FilesOfVersion2AreReadFromTheMinorVersionThatHBase2Reads) {
  for (std::string file : {File(), DeepFile()}) {
    EditTrailer(&file, [](HFileTrailer* t) {
      t->total_uncompressed_bytes -=
          hfile::kTrailerBytes - hfile::kTrailerBytesV2;
    });
    file.resize(file.size() - hfile::kTrailerBytes + hfile::kTrailerBytesV2);
    Overwrite32(&file, file.size() - 4, 3U << 24 | 2);
    ASSERT_THAT(ReadAll(file), IsOk());
    EXPECT_EQ(cells_, FewCells());
    EXPECT_FALSE(reader_->MayContainRow("absent"));
    EXPECT_THAT(test::Verified(*reader_).problems, IsEmpty());
    const size_t trailer_at = file.size() - hfile::kTrailerBytesV2;
    const std::string place =
        "trailer at offset " + std::to_string(trailer_at) + ": ";
    std::string damaged = file;
    damaged.replace(trailer_at + 8, 3, "\xff\xff\x03");
    Refuses(damaged, kCorruption, place + "trailer of 65535 bytes");
    Overwrite32(&file, file.size() - 4, 2U << 24 | 2);
    Refuses(file, kNotSupported, place + "HFile v2, expected v3");
  }
}

TEST_F(HostileHFile, TrailerLengthAndContents) {
  const std::string good = File();
  const size_t length_at = good.size() - hfile::kTrailerBytes + 8;
  std::string file = good;
  file.replace(length_at, 3, "\xff\xff\x03");
  Refuses(file, kCorruption, "trailer of 65535 bytes, expected at most");
  file = good;
  file.replace(length_at, 10, std::string(10, '\xff'));
  Refuses(file, kCorruption, "trailer of");
  file = good;
  file.replace(length_at + 1, 4, "\xff\xff\xff\xff");
  Refuses(file, kCorruption, "malformed");
}

TEST_F(HostileHFile, TrailerNumbersOutsideTheFile) {
  const std::string good = File();
  const auto refuses = [&](const std::function<void(HFileTrailer*)>& change,
                           const std::string& why) {
    std::string file = good;
    EditTrailer(&file, change);
    Refuses(file, kCorruption, why);
  };
  static constexpr uint64_t kFar = uint64_t{1} << 62;
  refuses([](HFileTrailer* t) { t->load_on_open_offset = kFar; },
          "load-on-open offset 4611686018427387904, expected at most");
  refuses([](HFileTrailer* t) { t->file_info_offset = kFar; },
          "file info offset");
  refuses([](HFileTrailer* t) { t->first_data_block_offset = kFar; },
          "data block offset");
  refuses(
      [](HFileTrailer* t) {
        t->last_data_block_offset = t->load_on_open_offset;
      },
      "data block offset");
  refuses([](HFileTrailer* t) { t->data_index_levels = 0; }, "0 index levels");
  refuses([](HFileTrailer* t) { t->data_index_levels = 17; },
          "17 index levels, expected 1 to 16");
  refuses([](HFileTrailer* t) { t->data_index_levels = 0xffffffff; },
          "4294967295 index levels");
  refuses([](HFileTrailer* t) { t->data_index_count = 1000; },
          "1000 index entries, expected at most");
  refuses([](HFileTrailer* t) { t->data_index_count = 2; },
          "index entry 1 of 2 is cut off");
  refuses([](HFileTrailer* t) { t->meta_index_count = 0xffffffff; },
          "meta index at offset");
  refuses([](HFileTrailer* t) { t->load_on_open_offset = 0; },
          "data block offset 0, expected below 0");
  refuses([](HFileTrailer* t) { --t->load_on_open_offset; },
          "unknown block magic");
  refuses([](HFileTrailer* t) { t->data_index_levels = 2; },
          "0 bytes after the 1 entries that the trailer counts, expected 16");
  refuses([](HFileTrailer* t) { t->entry_count = 0; },
          "0 cells, but 1 entries in the data index");
  refuses([](HFileTrailer* t) { t->data_index_count = 0; },
          "21 cells, but 0 entries in the data index");
  refuses([](HFileTrailer* t) { t->entry_count = t->data_index_count = 0; },
          "bytes after the 0 entries that the trailer counts, expected 0");
}

// The trailer is the one part of a file that no checksum covers.
TEST_F(HostileHFile, NoFlippedBitOfATrailerHidesCells) {
  hfile::FileForm blocks;
  blocks.block_bytes = 100;
  for (const std::string& good : {File(), File(blocks), DeepFile()}) {
    const size_t start = good.size() - hfile::kTrailerBytes;
    const size_t zeros = good.find_last_not_of('\0', good.size() - 5);
    int refused = 0;
    for (size_t bit = 8 * start; bit < 8 * good.size(); ++bit) {
      if (bit / 8 > zeros && bit / 8 < good.size() - 4) continue;
      std::string file = good;
      file[bit / 8] = static_cast<char>(file[bit / 8] ^ 1 << bit % 8);
      if (!ReadAll(file).ok()) {
        ++refused;
        continue;
      }
      EXPECT_EQ(cells_, FewCells()) << "bit " << bit - 8 * start;
    }
    EXPECT_GT(refused, 100);
  }
}

// ------------------------------------------------------------ 2: block headers

TEST_F(HostileHFile, BlockHeaders) {
  const std::string good = File();
  const auto refuses = [&](size_t at, uint32_t value, const std::string& why,
                           BlockType type = BlockType::kData) {
    std::string file = good;
    EditHeader(&file, type, at, value);
    Refuses(file, kCorruption, why);
  };
  constexpr uint32_t kNegative = 0x80000000;
  refuses(0, 0x41414141, "unknown block magic \"AAAABLK*\"");
  refuses(8, kNegative, "with the header, expected");
  refuses(8, 0x7fffffff, "checksums of");
  refuses(12, kNegative, "payload of 2147483648 bytes");
  refuses(12, 1, "claim contents of 1, expected");
  refuses(25, 0, "0 bytes per checksum, expected 1 to");
  refuses(25, kNegative, "bytes per checksum");
  refuses(25, 33, "checksums of 4 bytes, expected");
  refuses(29, 32, "32 bytes with the header, expected 33 to");
  refuses(29, kNegative, "with the header, expected 33 to");
  // The end of a load-on-open block.
  refuses(8, 0x7fffffff, "block", BlockType::kFileInfo);
  refuses(29, 0, "with the header", BlockType::kRootIndex);
  std::string file = good;
  file[test::FindBlock(file, BlockType::kData) + 24] = 3;
  Refuses(file, kCorruption, "checksum type 3, expected 0 to 2");
}

TEST_F(HostileHFile, IndexAndHeaderDisagreeOnTheSize) {
  std::string file = File();
  EditPayload(&file, BlockType::kRootIndex,
              [](std::string* payload) { ++(*payload)[11]; });
  Refuses(file, kCorruption, "bytes expected by the index, found");
}

TEST_F(HostileHFile, BlocksThatClaimToBeFarLargerThanTheyAre) {
  for (const auto codec :
       {HFileCompression::kGz, HFileCompression::kLz4,
        HFileCompression::kSnappy, HFileCompression::kZstd}) {
    hfile::FileForm options;
    options.compression = codec;
    std::string file = File(options);
    for (const uint32_t claimed : {200'000'000U, 2'000'000'000U}) {
      EditHeader(&file, BlockType::kData, 12, claimed);
      Refuses(file, kCorruption,
              "claim contents of " + std::to_string(claimed) +
                  ", expected at most");
    }
  }
  // The codec could make so many bytes, but did not.
  hfile::FileForm options;
  options.compression = HFileCompression::kZstd;
  std::string file = File(options);
  EditHeader(&file, BlockType::kData, 12, 2'000'000);
  Refuses(file, kCorruption, "ZSTD stream");
}

TEST_F(HostileHFile, DamageIsFoundByChecksums) {
  for (const auto checksum :
       {hfile::ChecksumType::kCrc32, hfile::ChecksumType::kCrc32c}) {
    hfile::FileForm options;
    options.checksum = checksum;
    options.bytes_per_checksum = 100;
    std::string file = File(options);
    file[test::FindBlock(file, BlockType::kData) + 300] ^= 1;
    Refuses(file, kCorruption, "checksum 3: expected");
    HFileReaderOptions unchecked;
    unchecked.verify_checksums = false;
    ASSERT_THAT(HFileReader::Open(unchecked, path_, &reader_), IsOk());
    // The damage is behind this row, in the same block.
    std::vector<HFileCell> row;
    EXPECT_THAT(reader_->GetRow("row000", &row), IsOk());
  }
}

// ------------------------------------------------------------ 3: block streams

TEST(HostileHFileStream, BlockStreamsOfEveryCodec) {
  for (const auto codec : {HFileCompression::kLz4, HFileCompression::kSnappy,
                           HFileCompression::kZstd}) {
    SCOPED_TRACE(ToString(codec));
    hfile::FileForm options;
    options.compression = codec;
    options.codec_classes = HFileCodecClasses::kHBaseNative;
    const std::string payload(1000, 'p');
    std::string stream;
    ASSERT_THAT(hfile::PayloadCompressor(options).Compress(payload, &stream),
                IsOk());
    std::string out(1000, '\0');
    const auto decompress = [&](const std::string& in, size_t out_bytes) {
      out.assign(out_bytes, '\0');
      return hfile::DecompressPayload(codec, in, out.data(), out_bytes);
    };
    EXPECT_THAT(decompress(stream, 1000), IsOk());
    EXPECT_EQ(out, payload);
    // Several records, and bytes behind the last, are what HBase reads, too.
    EXPECT_THAT(decompress(stream + stream + "rest", 2000), IsOk());
    EXPECT_EQ(out, payload + payload);

    const auto refuses = [&](const std::string& in, size_t out_bytes,
                             const char* why) {
      EXPECT_THAT(decompress(in, out_bytes),
                  StatusIs(kCorruption, HasSubstr(why)));
    };
    refuses("", 1000, "ends after 0 of 1000 bytes");
    refuses(stream, 1001, "ends after 1000 of 1001 bytes");
    refuses(std::string(8, '\0'), 1000, "ends after 0 of 1000");
    refuses(stream, 999, "record of 1000 bytes, expected at most 999");
    std::string changed = stream;
    Overwrite32(&changed, 0, 0xffffffff);
    refuses(changed, 1000, "record of 4294967295 bytes");
    Overwrite32(&changed, 0, 900);
    refuses(changed, 1000, "malformed chunk");
    changed = stream;
    Overwrite32(&changed, 4, 0xffffffff);
    refuses(changed, 1000, "chunk of 4294967295 bytes, expected at most");
    // Chunks of nothing, without end.
    Overwrite32(&changed, 4, 0);
    refuses(changed, 1000, "malformed chunk of 0 bytes");
    changed = stream;
    for (size_t i = 8; i < changed.size(); ++i) changed[i] = '\xff';
    refuses(changed, 1000, "malformed chunk");
    refuses(stream.substr(0, stream.size() - 1), 1000, "chunk of");
  }
}

TEST(HostileHFileStream, GzipAndPlainZstd) {
  for (const auto codec : {HFileCompression::kGz, HFileCompression::kZstd}) {
    hfile::FileForm options;
    options.compression = codec;
    const std::string payload(1000, 'p');
    std::string stream;
    ASSERT_THAT(hfile::PayloadCompressor(options).Compress(payload, &stream),
                IsOk());
    std::string out(2000, '\0');
    const auto decompress = [&](const std::string& in, size_t out_bytes) {
      return hfile::DecompressPayload(codec, in, out.data(), out_bytes);
    };
    EXPECT_THAT(decompress(stream, 1000), IsOk());
    EXPECT_THAT(decompress(stream, 1001),
                StatusIs(kCorruption, HasSubstr("of 1001 bytes")));
    EXPECT_THAT(decompress(stream.substr(0, 12), 1000),
                StatusIs(kCorruption, HasSubstr("stream:")));
    EXPECT_THAT(decompress(std::string("\x28\xb5\x2f\xfd\x01", 5), 1000),
                StatusIs(kCorruption, HasSubstr("stream:")));
  }
}

// HBase's own class compresses with a dictionary if it is told to.
TEST(HostileHFileStream, ZstdWithADictionaryIsNamed) {
  // A frame of 5 bytes, with dictionary 7.
  const std::string frame("\x28\xb5\x2f\xfd\x21\x07\x05\x29\0\0value", 15);
  std::string stream("\0\0\0\x05\0\0\0\x0f", 8);
  stream += frame;
  std::string out(5, '\0');
  for (const std::string& payload : {frame, stream}) {
    EXPECT_THAT(
        hfile::DecompressPayload(HFileCompression::kZstd, payload, out.data(),
                                 out.size()),
        StatusIs(kNotSupported,
                 HasSubstr("ZSTD stream: compressed with a dictionary")));
  }
}

// ------------------------------------------------------------------- 4: cells

TEST_F(HostileHFile, Cells) {
  hfile::FileForm options;
  options.tags = true;
  const std::string good = File(options);
  const auto refuses = [&](const std::function<void(std::string*)>& change,
                           const std::string& why) {
    std::string file = good;
    EditPayload(&file, BlockType::kData, change);
    Refuses(file, kCorruption, why);
  };
  // The first cell: lengths 20 and 5, row length at 8, row at 10, family length
  // at 16, value at 28, tags at 33, mvcc at 35.
  refuses([](std::string* p) { Overwrite32(p, 0, 11); },
          "row and family do not fit");
  refuses([](std::string* p) { Overwrite32(p, 0, 0xffffffff); },
          "cell with a key of 4294967295 and a value of 5 bytes");
  refuses([](std::string* p) { Overwrite32(p, 0, 0x7fffffff); },
          "longer than what is left");
  refuses([](std::string* p) { Overwrite32(p, 4, 0xffffffff); },
          "longer than what is left");
  refuses([](std::string* p) { p->replace(8, 2, "\xff\xff"); },
          "row and family do not fit");
  refuses([](std::string* p) { p->replace(8, 2, std::string("\0\x09", 2)); },
          "row and family do not fit");
  refuses([](std::string* p) { (*p)[16] = '\xff'; },
          "row and family do not fit");
  refuses([](std::string* p) { p->replace(33, 2, "\xff\xff"); },
          "tags are longer");
  refuses([](std::string* p) { p->back() = '\x80'; }, "mvcc number is cut off");
  refuses([](std::string* p) { (*p)[10] = 's'; },
          "key before that of the cell before it");
}

TEST_F(HostileHFile, DataBlocksWithoutCells) {
  std::string file = File();
  const size_t offset = test::FindBlock(file, BlockType::kData);
  std::string empty(hfile::kBlockHeaderBytes, '\0');
  hfile::BlockHeader header;
  header.checksum = hfile::ChecksumType::kCrc32c;
  header.bytes_per_checksum = 16384;
  hfile::SealBlock(header, &empty);
  file.replace(offset, empty.size(), empty);
  // The blocks behind it are no longer found by their neighbours, only by
  // offset: the index is changed in place.
  const size_t root = file.find("IDXROOT2");
  Overwrite32(&file, root + hfile::kBlockHeaderBytes + 8,
              static_cast<uint32_t>(empty.size()));
  test::ResealBlock(&file, root);
  Refuses(file, kCorruption, "at least one cell expected, found none");
}

// ---------------------------------------------------- 5 and 6: non-root, root

TEST_F(HostileHFile, NonRootIndexes) {
  const std::string good = DeepFile();
  ASSERT_THAT(ReadAll(good), IsOk());
  ASSERT_GE(reader_->trailer().data_index_levels, 3U);
  ASSERT_EQ(cells_, FewCells());
  const auto refuses = [&](const std::function<void(std::string*)>& change,
                           const std::string& why) {
    for (const BlockType type :
         {BlockType::kLeafIndex, BlockType::kIntermediateIndex}) {
      std::string file = good;
      EditPayload(&file, type, change);
      Refuses(file, kCorruption, why);
    }
  };
  const auto entries_at = [](const std::string& payload) {
    return 4 + 4 * (LoadBig<uint32_t>(payload.data()) + 1);
  };
  refuses([](std::string* p) { Overwrite32(p, 0, 0); }, "index of 0 entries");
  refuses([](std::string* p) { Overwrite32(p, 0, 0xffffffff); },
          "index of 4294967295 entries");
  refuses([](std::string* p) { Overwrite32(p, 0, 1000); }, "index of 1000");
  refuses([](std::string* p) { Overwrite32(p, 4, 1); },
          "index entry 0 starts at 1, expected 0");
  refuses([](std::string* p) { Overwrite32(p, 8, 0xffffffff); },
          "index entry 0 from 0 to 4294967295");
  refuses([](std::string* p) { Overwrite32(p, 8, 11); },
          "index entry 0 from 0 to 11, expected at least 12");
  refuses([](std::string* p) { Overwrite32(p, 8, 20); },
          "index entry 0: key of 8 bytes is not that of a cell");
  refuses(
      [&](std::string* p) {
        Overwrite64(p, entries_at(*p), uint64_t{1} << 63);
      },
      "index entry 0: block of");
  refuses([&](std::string* p) { Overwrite32(p, entries_at(*p) + 8, 32); },
          "index entry 0: block of 32 bytes");
  refuses(
      [&](std::string* p) { Overwrite32(p, entries_at(*p) + 8, 0x7fffffff); },
      "index entry 0: block of 2147483647 bytes");
  refuses([&](std::string* p) { (*p)[entries_at(*p) + 14] = 'z'; },
          "key before that of entry 0");
}

// Keys of another comparator need not be those of cells, at any level.
TEST_F(HostileHFile, IndexesOfRawKeysAreWalked) {
  hfile::FileForm options;
  options.bloom_type = BloomType::kNone;
  options.comparator = "org.apache.hadoop.hbase.KeyValue$RawBytesComparator";
  std::string file = DeepFile(options);
  for (const BlockType type :
       {BlockType::kLeafIndex, BlockType::kIntermediateIndex}) {
    EditPayload(&file, type, [](std::string* p) {
      const uint32_t count = LoadBig<uint32_t>(p->data());
      // The length of the first key's row.
      Overwrite32(p, 4 + 4 * (count + 1) + 12, 0xffffffff);
    });
  }
  ASSERT_THAT(Open(file), IsOk());
  EXPECT_THAT(reader_->CellsStatus(),
              StatusIs(kNotSupported, HasSubstr("RawBytesComparator")));
  size_t entries = 0;
  EXPECT_THAT(hfile::ForEachDataIndexEntry(
                  static_cast<const hfile::Reader&>(*reader_),
                  [&entries](const hfile::DataIndexEntry&) { ++entries; }),
              IsOk());
  EXPECT_EQ(entries, FewCells().size());
}

// An index must order the blocks below as it says, because seeks rely on it.
TEST_F(HostileHFile, IndexKeysAfterWhatTheyStandFor) {
  const std::string good = DeepFile();
  const auto refuses = [&](BlockType type, const std::string& why) {
    // The last entry's key, which may be after all others: its row's second
    // byte.
    std::string file = good;
    EditPayload(&file, type, [](std::string* p) {
      const uint32_t count = LoadBig<uint32_t>(p->data());
      const size_t at = 4 + 4 * (count + 1) +
                        LoadBig<uint32_t>(p->data() + 4 + 4 * (count - 1));
      (*p)[at + 12 + 3] = 'z';
    });
    Refuses(file, kCorruption, why);
  };
  refuses(BlockType::kLeafIndex, "key before that of the block in the index");
  refuses(BlockType::kIntermediateIndex,
          "its first key is before the key above it");
}

// An index whose children are itself, its parent, or data seen before.
TEST_F(HostileHFile, IndexesThatRunInCircles) {
  const std::string good = DeepFile();
  const size_t leaf = test::FindBlock(good, BlockType::kLeafIndex);
  const size_t middle = test::FindBlock(good, BlockType::kIntermediateIndex);
  Status last;
  const auto point = [&](BlockType from, size_t to, size_t entry) {
    std::string file = good;
    hfile::BlockHeader header;
    ASSERT_THAT(
        hfile::ParseBlockHeader(std::string_view(file).substr(to, 33), &header),
        IsOk());
    EditPayload(&file, from, [&](std::string* p) {
      const uint32_t count = LoadBig<uint32_t>(p->data());
      const size_t at =
          4 + 4 * (count + 1) + LoadBig<uint32_t>(p->data() + 4 + 4 * entry);
      Overwrite64(p, at, to);
      Overwrite32(p, at + 8, static_cast<uint32_t>(header.block_bytes()));
    });
    last = ReadAll(file);
  };
  point(BlockType::kIntermediateIndex, middle, 0);
  EXPECT_THAT(last, StatusIs(kCorruption, HasSubstr("\"IDXLEAF2\" expected, "
                                                    "found \"IDXINTE2\"")));
  point(BlockType::kLeafIndex, leaf, 0);
  EXPECT_THAT(last, StatusIs(kCorruption, HasSubstr("\"DATABLK*\" expected")));
  point(BlockType::kLeafIndex, 0, 1);
  EXPECT_THAT(last, StatusIs(kCorruption, HasSubstr("or behind")));
  // A leaf again.
  point(BlockType::kIntermediateIndex, leaf, 1);
  EXPECT_THAT(last, StatusIs(kCorruption,
                             HasSubstr("first key is before the key above")));
}

TEST_F(HostileHFile, RootIndex) {
  const std::string good = DeepFile();
  const auto refuses = [&](const std::function<void(std::string*)>& change,
                           const std::string& why) {
    std::string file = good;
    EditPayload(&file, BlockType::kRootIndex, change);
    Refuses(file, kCorruption, why);
  };
  refuses([](std::string* p) { (*p)[12] = '\xff'; }, "index entry 0 of");
  refuses([](std::string* p) { (*p)[12] = '\x7f'; }, "is cut off");
  refuses(
      [](std::string* p) {
        p->replace(12, 9, "\x88\x7f\xff\xff\xff\xff\xff\xff\xff");
      },
      "is cut off");
  refuses([](std::string* p) { Overwrite64(p, 0, uint64_t{1} << 40); },
          "index entry 0: block of");
  refuses([](std::string* p) { p->replace(13, 2, "\x7f\xff"); },
          "is not that of a cell");
}

// ------------------------------------------------------------- 7: Bloom
// filters

// A filter that cannot be trusted says "may contain", and the cells can be
// read.
TEST_F(HostileHFile, BloomFiltersThatCannotBeTrusted) {
  const std::string good = File();
  ASSERT_THAT(Open(good), IsOk());
  EXPECT_FALSE(reader_->MayContainRow("absent"));
  EXPECT_FALSE(reader_->MayContainDeleteFamily("row001"));
  const auto unusable = [&](const std::function<void(std::string*)>& change,
                            const std::string& why) {
    std::string file = good;
    EditPayload(&file, BlockType::kGeneralBloomMeta, change);
    EditPayload(&file, BlockType::kDeleteFamilyBloomMeta, change);
    ASSERT_THAT(ReadAll(file), IsOk());
    EXPECT_EQ(cells_, FewCells());
    EXPECT_TRUE(reader_->MayContainRow("absent"));
    EXPECT_TRUE(reader_->MayContainRowCol("absent", "q"));
    EXPECT_TRUE(reader_->MayContainScan("absent", "absent"));
    EXPECT_TRUE(reader_->MayContainDeleteFamily("row001"));
    EXPECT_EQ(reader_->BloomStats().unusable, 4U);
    EXPECT_EQ(reader_->GeneralBloom(), nullptr);
    EXPECT_THAT(reader_->BloomStatus().ToString(), HasSubstr(why));
    const HFileReport report = test::Verified(*reader_);
    // A filter of a kind that is not read may be sound.
    if (reader_->BloomStatus().IsNotSupported()) {
      EXPECT_THAT(report.problems, Not(Contains(HasSubstr(why))));
    } else {
      EXPECT_THAT(report.problems, Contains(HasSubstr(why)));
    }
  };
  unusable([](std::string* p) { p->resize(3); }, "cut short");
  unusable([](std::string* p) { p->resize(30); }, "cut short");
  unusable([](std::string* p) { Overwrite32(p, 0, 2); }, "version 2");
  unusable([](std::string* p) { Overwrite32(p, 12, 0); }, "0 hashes per key");
  unusable([](std::string* p) { Overwrite32(p, 12, 65); }, "65 hashes");
  unusable([](std::string* p) { Overwrite32(p, 12, 0x7fffffff); }, "hashes");
  unusable([](std::string* p) { Overwrite32(p, 16, 3); }, "hash type 3");
  unusable([](std::string* p) { Overwrite32(p, 36, 1000); },
           "1000 index entries");
  unusable([](std::string* p) { Overwrite32(p, 36, 0xffffffff); },
           "4294967295 index entries");
  unusable([](std::string* p) { (*p)[40] = '\xf0'; }, "cut short");
  // A name may be as long as a block. Its text would have four times as many
  // bytes, several times over.
  unusable(
      [](std::string* p) {
        std::string name;
        hfile::PutByteArray(&name, std::string(10'000, 'x') + "MetaComparator");
        p->replace(40, 1, name);
      },
      "comparator of hbase:meta");
  EXPECT_LT(reader_->BloomStatus().ToString().size(), 1000U);
  unusable([](std::string* p) { Overwrite64(p, 41, uint64_t{1} << 63); },
           "index entry 0: block of");
}

TEST_F(HostileHFile, ABloomFilterThatIsNotReadHidesNoDamageOfTheOther) {
  std::string file = File();
  EditPayload(&file, BlockType::kGeneralBloomMeta,
              [](std::string* p) { p->resize(3); });
  EditPayload(&file, BlockType::kDeleteFamilyBloomMeta,
              [](std::string* p) { Overwrite32(p, 0, 2); });  // a version
  ASSERT_THAT(Open(file), IsOk());
  EXPECT_THAT(reader_->BloomStatus(),
              StatusIs(kCorruption, HasSubstr("cut short")));
  EXPECT_THAT(test::Verified(*reader_).problems,
              Contains(HasSubstr("cut short")));
}

TEST_F(HostileHFile, BloomChunksThatCannotBeTrusted) {
  const std::string good = File();
  // The chunk is the data block: another magic.
  std::string file = good;
  EditPayload(&file, BlockType::kGeneralBloomMeta, [&](std::string* p) {
    hfile::BlockHeader header;
    ASSERT_THAT(hfile::ParseBlockHeader(good.substr(0, 33), &header), IsOk());
    Overwrite64(p, 41, 0);
    Overwrite32(p, 49, static_cast<uint32_t>(header.block_bytes()));
  });
  ASSERT_THAT(Open(file), IsOk());
  EXPECT_TRUE(reader_->MayContainRow("row0010"));
  EXPECT_EQ(reader_->BloomStats().unusable, 1U);
  EXPECT_EQ(reader_->BloomStats().checked, 0U);
  // A damaged chunk.
  file = good;
  file[test::FindBlock(file, BlockType::kBloomChunk) + 33] ^= 1;
  ASSERT_THAT(Open(file), IsOk());
  EXPECT_TRUE(reader_->MayContainRow("row0010"));
  EXPECT_EQ(reader_->BloomStats().unusable, 1U);
  std::vector<HFileCell> row;
  EXPECT_THAT(reader_->GetRow("row007", &row), IsOk());
  EXPECT_EQ(row.size(), 1U);
  // A chunk of nothing, whose bits would be divided by.
  file = good;
  const size_t at = test::FindBlock(file, BlockType::kBloomChunk);
  std::string empty(hfile::kBlockHeaderBytes, '\0');
  hfile::BlockHeader header;
  header.type = BlockType::kBloomChunk;
  header.checksum = hfile::ChecksumType::kCrc32c;
  header.bytes_per_checksum = 16384;
  hfile::SealBlock(header, &empty);
  file.replace(at, empty.size(), empty);
  const size_t meta = file.find("BLMFMET2");
  Overwrite32(&file, meta + hfile::kBlockHeaderBytes + 49,
              static_cast<uint32_t>(empty.size()));
  test::ResealBlock(&file, meta);
  ASSERT_THAT(Open(file), IsOk());
  EXPECT_TRUE(reader_->MayContainRow("row0010"));
  EXPECT_EQ(reader_->BloomStats().unusable, 1U);
}

TEST_F(HostileHFile, BloomChunksOutOfOrder) {
  hfile::FileForm options;
  options.bloom_block_bytes = 4;
  options.bloom_max_fold = 0;
  std::string file = File(options);
  EditPayload(&file, BlockType::kGeneralBloomMeta,
              [](std::string* p) { (*p)[54] = 'z'; });
  ASSERT_THAT(Open(file), IsOk());
  EXPECT_THAT(reader_->BloomStatus().ToString(),
              HasSubstr("key before that of entry 0"));
  EXPECT_TRUE(reader_->MayContainRow("absent"));
}

TEST_F(HostileHFile, BlocksWithoutEndAfterTheFileInfo) {
  std::string file = File();
  const size_t at = test::FindBlock(file, BlockType::kGeneralBloomMeta);
  std::string block(hfile::kBlockHeaderBytes, '\0');
  hfile::BlockHeader header;
  header.type = BlockType::kMeta;
  header.checksum = hfile::ChecksumType::kCrc32c;
  header.bytes_per_checksum = 16384;
  hfile::SealBlock(header, &block);
  std::string many;
  for (int i = 0; i < 101; ++i) many += block;
  file.insert(at, many);
  ASSERT_THAT(ReadAll(file), IsOk());
  EXPECT_EQ(cells_, FewCells());
  EXPECT_THAT(reader_->BloomStatus().ToString(),
              HasSubstr("more than 100 blocks after the file info"));
  EXPECT_TRUE(reader_->MayContainRow("absent"));
}

// ---------------------------------------------------------------- 8: file info

// The file with other file info.
std::string WithFileInfo(std::string file,
                         const std::function<void(hfile::FileInfo*)>& change) {
  test::EditFileInfo(&file, change);
  return file;
}

TEST_F(HostileHFile, FileInfoLengths) {
  const std::string good = File();
  const auto refuses = [&](const std::function<void(std::string*)>& change,
                           const std::string& why) {
    std::string file = good;
    EditPayload(&file, BlockType::kFileInfo, change);
    Refuses(file, kCorruption, why);
  };
  refuses([](std::string* p) { (*p)[0] = 'x'; }, "\"PBUF\"");
  refuses([](std::string* p) { p->resize(4); }, "file info of");
  refuses([](std::string* p) { p->replace(4, 2, "\xff\x7f"); },
          "file info of 16383 bytes, expected at most");
  refuses([](std::string* p) { p->replace(7, 1, "\x7f"); }, "malformed");
  refuses([](std::string* p) { p->resize(p->size() - 1); }, "file info of");
}

// A missing field is the caller's to report: libprotobuf would print it.
TEST_F(HostileHFile, FileInfoWithoutAFieldPrintsNothing) {
  std::string file = File();
  EditPayload(&file, BlockType::kFileInfo, [](std::string* p) {
    *p = std::string("PBUF\x05\x0a\x03\x0a\x01k", 10);
  });
  testing::internal::CaptureStderr();
  Refuses(file, kCorruption, "file info of 5 bytes is malformed");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(HostileHFile, FileInfoThatOccursTwiceCountsOnce) {
  std::string file = File();
  EditPayload(&file, BlockType::kFileInfo, [](std::string* p) {
    const std::string pair("\x0a\x06\x0a\x01k\x12\x01", 7);
    std::string_view cursor = std::string_view(*p).substr(4);
    uint64_t length = 0;
    ASSERT_TRUE(GetVarint(&cursor, &length));
    const std::string pairs = std::string(cursor) + pair + "1" + pair + "2";
    p->resize(4);
    PutVarint(p, pairs.size());
    *p += pairs;
  });
  ASSERT_THAT(ReadAll(file), IsOk());
  EXPECT_EQ(reader_->file_info().at("k"), "2");
}

TEST_F(HostileHFile, FileInfoOfWrongSizes) {
  const std::string good = File();
  for (const char* name : {"KEY_VALUE_VERSION", "MAX_MEMSTORE_TS_KEY",
                           "hfile.AVG_KEY_LEN", "hfile.AVG_VALUE_LEN"}) {
    for (const size_t bytes : {0U, 3U, 9U}) {
      Refuses(WithFileInfo(good,
                           [&](hfile::FileInfo* info) {
                             (*info)[name] = std::string(bytes, '\0');
                           }),
              kCorruption, std::string("file info ") + name + " of ");
    }
  }
  Refuses(WithFileInfo(good,
                       [](hfile::FileInfo* info) {
                         info->erase("MAX_MEMSTORE_TS_KEY");
                       }),
          kCorruption, "MAX_MEMSTORE_TS_KEY is missing");
  Refuses(WithFileInfo(good,
                       [](hfile::FileInfo* info) {
                         (*info)["hfile.LASTKEY"] = "short";
                       }),
          kCorruption, "hfile.LASTKEY of 5 bytes is not the key of a cell");
  Refuses(WithFileInfo(good,
                       [](hfile::FileInfo* info) {
                         (*info)["hfile.TAGS_COMPRESSED"] = "";
                       }),
          kCorruption, "hfile.TAGS_COMPRESSED of 0 bytes");
  // These only decide whether to look: they say "may contain".
  ASSERT_THAT(ReadAll(WithFileInfo(good,
                                   [](hfile::FileInfo* info) {
                                     (*info)["TIMERANGE"] = "x";
                                     (*info)["DELETE_FAMILY_COUNT"] = "x";
                                   })),
              IsOk());
  EXPECT_TRUE(reader_->TimeRangeMayContain(1'000'000, 2'000'000));
  EXPECT_TRUE(reader_->MayContainDeleteFamily("row001"));
}

TEST_F(HostileHFile, FileInfoOfBloomFilters) {
  const auto unusable = [&](const hfile::FileForm& options,
                            const std::function<void(hfile::FileInfo*)>& change,
                            const std::string& why) {
    ASSERT_THAT(ReadAll(WithFileInfo(File(options), change)), IsOk());
    EXPECT_EQ(cells_, FewCells());
    EXPECT_THAT(reader_->BloomStatus().ToString(), HasSubstr(why));
    EXPECT_TRUE(reader_->MayContainRowCol("absent", "q"));
  };
  unusable(
      {}, [](hfile::FileInfo* info) { info->erase("BLOOM_FILTER_TYPE"); },
      "no BLOOM_FILTER_TYPE");
  unusable(
      {}, [](hfile::FileInfo* info) { (*info)["BLOOM_FILTER_TYPE"] = "COL"; },
      "BLOOM_FILTER_TYPE \"COL\"");
  hfile::FileForm prefix;
  prefix.bloom_type = BloomType::kRowPrefixFixedLength;
  prefix.bloom_prefix_bytes = 5;
  for (const uint32_t value : {0U, 0xffffffffU, 0x80000000U}) {
    unusable(
        prefix,
        [&](hfile::FileInfo* info) {
          (*info)["BLOOM_FILTER_PARAM"] = hfile::U32Bytes(value);
        },
        "BLOOM_FILTER_PARAM");
  }
  unusable(
      prefix, [](hfile::FileInfo* info) { info->erase("BLOOM_FILTER_PARAM"); },
      "BLOOM_FILTER_PARAM is missing");
  hfile::FileForm row_col;
  row_col.bloom_type = BloomType::kRowCol;
  unusable(
      row_col, [](hfile::FileInfo* info) { info->erase("LAST_BLOOM_KEY"); },
      "LAST_BLOOM_KEY of a ROWCOL filter is missing");
  unusable(
      row_col, [](hfile::FileInfo* info) { (*info)["LAST_BLOOM_KEY"] = "x"; },
      "LAST_BLOOM_KEY of a ROWCOL filter is missing or malformed");
}

// ------------------------------------------- 9: what only a full scan can find

TEST_F(HostileHFile, VerifyFindsMetadataThatIsSilentlyWrong) {
  const std::string good = File();
  const auto finds = [&](const std::string& file, const std::string& what) {
    ASSERT_THAT(Open(file), IsOk());
    const HFileReport report = test::Verified(*reader_);
    EXPECT_THAT(report.problems, Contains(HasSubstr(what)));
    EXPECT_EQ(report.cells, FewCells().size());
  };
  ASSERT_THAT(Open(good), IsOk());
  EXPECT_THAT(test::Verified(*reader_).problems, IsEmpty());
  const auto with = [&](const char* name, const std::string& value) {
    return WithFileInfo(good,
                        [&](hfile::FileInfo* info) { (*info)[name] = value; });
  };
  finds(with("LAST_BLOOM_KEY", "row010"),
        "LAST_BLOOM_KEY: expected row019, found row010");
  finds(with("TIMERANGE", hfile::U64Bytes(8) + hfile::U64Bytes(9)),
        "TIMERANGE, from: expected 0, found 8");
  finds(with("EARLIEST_PUT_TS", hfile::U64Bytes(8)),
        "EARLIEST_PUT_TS: expected 7, found 8");
  finds(with("EARLIEST_PUT_TS", "x"), "EARLIEST_PUT_TS of 1 bytes");
  finds(with("DELETE_FAMILY_COUNT", hfile::U64Bytes(0)),
        "DELETE_FAMILY_COUNT: expected 1, found 0");
  finds(with("hfile.AVG_VALUE_LEN", hfile::U32Bytes(99)),
        "hfile.AVG_VALUE_LEN: expected 4, found 99");
  finds(with("MAX_MEMSTORE_TS_KEY", hfile::U64Bytes(5)),
        "MAX_MEMSTORE_TS_KEY: expected 1, found 5");
  std::string last_key = reader_->file_info().at("hfile.LASTKEY");
  last_key[7] = '0';
  finds(with("hfile.LASTKEY", last_key), "hfile.LASTKEY: expected");
  finds(WithFileInfo(
            good, [](hfile::FileInfo* info) { info->erase("hfile.LASTKEY"); }),
        "hfile.LASTKEY is missing");
  std::string file = good;
  EditTrailer(&file, [](HFileTrailer* t) { t->entry_count = 3; });
  finds(file, "trailer: cells: expected 21, found 3");
  file = DeepFile();
  const size_t second = test::FindBlock(file, BlockType::kData, 1);
  Overwrite64(&file, second + 16, 77);
  test::ResealBlock(&file, second);
  finds(file, "offset of the DATABLK* block before it: expected 0, found 77");
  // A Bloom filter without the bits of its keys.
  file = good;
  EditPayload(&file, BlockType::kBloomChunk,
              [](std::string* p) { p->assign(p->size(), '\0'); });
  finds(file, "no for key \"row000\", which is there");
}

// A hundred problems are kept, and a qualifier may be as long as a block.
TEST_F(HostileHFile, VerifyKeepsTheBeginningsOfLongKeys) {
  hfile::FileForm form;
  form.bloom_type = BloomType::kRowCol;
  test::WriteCells(form, path_,
                   {test::MakeCell("r", std::string(1'000'000, 'q'), 0)});
  std::string file = test::ReadFile(path_);
  EditPayload(&file, BlockType::kBloomChunk,
              [](std::string* p) { p->assign(p->size(), '\0'); });
  test::EditFileInfo(&file, [](hfile::FileInfo* info) {
    info->at("hfile.LASTKEY").back() = 8;  // the type
  });
  ASSERT_THAT(Open(file), IsOk());
  const HFileReport report = test::Verified(*reader_);
  ASSERT_EQ(report.problems.size(), 2U);
  EXPECT_THAT(report.problems[0], HasSubstr("qqq...\", which is there"));
  EXPECT_LT(report.problems[0].size(), 100'000U);
  EXPECT_THAT(report.problems[1], HasSubstr("hfile.LASTKEY: expected "));
  EXPECT_LT(report.problems[1].size(), 200'000U);
}

// HBase 1 flushes a memstore with the times of all cells that it ever had. A
// bulk load splits a file into halves that have its times.
TEST_F(HostileHFile, VerifyTakesTimesOfMoreCells) {
  const std::string file = WithFileInfo(File(), [](hfile::FileInfo* info) {
    (*info)["TIMERANGE"] =
        hfile::U64Bytes(static_cast<uint64_t>(-1)) + hfile::U64Bytes(100);
    (*info)["EARLIEST_PUT_TS"] = hfile::U64Bytes(2);
  });
  ASSERT_THAT(Open(file), IsOk());
  EXPECT_THAT(test::Verified(*reader_).problems, IsEmpty());
}

// Early versions of HBase 2 write the times as a protocol buffer.
TEST_F(HostileHFile, TimesInAProtocolBufferAreRead) {
  const auto with_times = [this](std::string times) {
    return WithFileInfo(File(), [&times](hfile::FileInfo* info) {
      (*info)["TIMERANGE"] = std::move(times);
    });
  };
  // Numbers may have leading zeros: the file info keeps its size.
  ASSERT_THAT(Open(with_times({"PBUF\x08\x80\x80\x80\x80\0"
                               "\x10\x89\x80\x80\x80\0",
                               16})),
              IsOk());
  EXPECT_THAT(test::Verified(*reader_).problems, IsEmpty());
  EXPECT_TRUE(reader_->TimeRangeMayContain(9, 9));
  EXPECT_FALSE(reader_->TimeRangeMayContain(10, 20));
  ASSERT_THAT(Open(with_times("PBUF\x08")), IsOk());
  EXPECT_THAT(test::Verified(*reader_).problems,
              Contains(HasSubstr("TIMERANGE of 5 bytes is malformed")));
  EXPECT_TRUE(reader_->TimeRangeMayContain(10, 20));
}

TEST_F(HostileHFile, VerifyGoesOnBehindDamage) {
  std::string file = DeepFile();
  const size_t data = test::FindBlock(file, BlockType::kData, 3);
  const size_t leaf = test::FindBlock(file, BlockType::kLeafIndex, 3);
  for (const size_t at : {data, leaf}) {
    file[at + hfile::kBlockHeaderBytes + 3] ^= 1;
  }
  ASSERT_THAT(Open(file), IsOk());
  HFileReport report;
  EXPECT_THAT(reader_->Verify(&report),
              StatusIs(kCorruption, HasSubstr(path_)));
  // Both are told once. Totals, of which a part is missing, are not told.
  EXPECT_EQ(report.problem_count, 2U);
  EXPECT_EQ(report.problems.size(), 2U);
  EXPECT_EQ(report.damaged_blocks, 2U);
  // One cell in the data block, two or three below the leaf.
  EXPECT_LT(report.cells, FewCells().size());
  EXPECT_GE(report.cells, FewCells().size() - 4);
}

// The key of the second block in the index is shortened.
TEST_F(HostileHFile, VerifyGoesOnBehindTheFirstBlock) {
  std::string file = DeepFile();
  file[test::FindBlock(file, BlockType::kData) + hfile::kBlockHeaderBytes] ^= 1;
  ASSERT_THAT(Open(file), IsOk());
  HFileReport report;
  EXPECT_THAT(reader_->Verify(&report),
              StatusIs(kCorruption, HasSubstr("checksum 0")));
  EXPECT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(report.cells, FewCells().size() - 1);
}

// An index whose entries all lead to one place must not be followed for ever.
TEST_F(HostileHFile, VerifyDoesNotGoRoundAndRound) {
  std::string file = DeepFile();
  const size_t first_leaf = test::FindBlock(file, BlockType::kLeafIndex);
  for (size_t nth = 0; nth < 2; ++nth) {
    EditPayload(
        &file, BlockType::kIntermediateIndex,
        [&](std::string* p) {
          const uint32_t entries = LoadBig<uint32_t>(p->data());
          const size_t start = 4 + 4 * (entries + 1);
          for (uint32_t i = 0; i < entries; ++i) {
            const uint32_t at = LoadBig<uint32_t>(p->data() + 4 + 4 * i);
            p->replace(start + at, 12, p->substr(start, 12));
            Overwrite64(p, start + at, first_leaf);
          }
        },
        nth);
  }
  ASSERT_THAT(Open(file), IsOk());
  HFileReport report;
  EXPECT_THAT(reader_->Verify(&report),
              StatusIs(kCorruption, HasSubstr(path_)));
  EXPECT_LE(report.cells, FewCells().size());
  EXPECT_GT(report.problem_count, 0U);
}

// ------------------------------------------------------------------- encodings

TEST_F(HostileHFile, FilesOfOtherFormsAnswerBloomQuestionsAndRefuseCells) {
  const std::string good = File();
  const auto refuses_cells = [&](const std::string& file,
                                 const std::string& why) {
    EXPECT_THAT(ReadAll(file), StatusIs(kNotSupported, HasSubstr(why)));
    ASSERT_NE(reader_, nullptr);
    EXPECT_THAT(reader_->CellsStatus(),
                StatusIs(kNotSupported, HasSubstr(why)));
    std::vector<HFileCell> row;
    EXPECT_THAT(reader_->GetRow("row007", &row),
                StatusIs(kNotSupported, HasSubstr(why)));
    EXPECT_EQ(reader_->trailer().entry_count, FewCells().size());
    EXPECT_TRUE(reader_->MayContainRow("row007"));
  };
  refuses_cells(WithFileInfo(good,
                             [](hfile::FileInfo* info) {
                               (*info)["DATA_BLOCK_ENCODING"] = "COPY_KEY";
                             }),
                "unsupported encoding COPY_KEY of data blocks");
  EXPECT_FALSE(reader_->MayContainRow("absent"));
  EXPECT_EQ(reader_->FirstKey()->row, "row000");
  refuses_cells(WithFileInfo(good,
                             [](hfile::FileInfo* info) {
                               (*info)["INDEX_BLOCK_ENCODING"] = "PREFIX_TREE";
                             }),
                "unsupported encoding PREFIX_TREE of index blocks");
  EXPECT_FALSE(reader_->MayContainRow("absent"));
  std::string file = good;
  EditTrailer(&file, [](HFileTrailer* t) {
    t->compression = HFileCompression::kBzip2;
  });
  refuses_cells(file, "compressed with BZIP2");
  EditTrailer(&file, [](HFileTrailer* t) {
    t->compression = static_cast<HFileCompression>(9);
  });
  refuses_cells(file, "compressed with codec 9");
  EXPECT_TRUE(reader_->MayContainRow("absent"));
  // An encryption key, behind the other fields.
  file = good;
  const size_t length_at = file.size() - hfile::kTrailerBytes + 8;
  const auto length = static_cast<uint8_t>(file[length_at]);
  ASSERT_LT(length, 120);
  file[length_at] = static_cast<char>(length + 3);
  file.replace(length_at + 1 + length, 3, "\x6a\x01k");
  refuses_cells(file, "the file is encrypted");
  EXPECT_TRUE(reader_->MayContainDeleteFamily("absent"));
}

TEST_F(HostileHFile, FileInfoAndBlocksDisagreeOnTheEncoding) {
  const std::string good = File();
  std::string file = good;
  file[test::FindBlock(file, BlockType::kData) + 7] = 'E';
  test::ResealBlock(&file, 0);
  Refuses(file, kCorruption, "\"DATABLK*\" expected, found \"DATABLKE\"");
  for (const HFileEncoding encoding : kEncodings) {
    const auto encode = [&](hfile::FileInfo* info) {
      (*info)["DATA_BLOCK_ENCODING"] = ToString(encoding);
    };
    Refuses(WithFileInfo(good, encode), kCorruption,
            "\"DATABLKE\" expected, found \"DATABLK*\"");
    hfile::FileForm options;
    options.encoding = encoding;
    EXPECT_THAT(ReadAll(File(options)), IsOk());
    EXPECT_EQ(cells_, FewCells());
    file = File(options);
    EditPayload(&file, BlockType::kEncodedData,
                [](std::string* p) { (*p)[1] = 6; });
    Refuses(file, kCorruption, "byte 0 of its payload: encoding 6, expected");
    EditPayload(&file, BlockType::kEncodedData,
                [](std::string* p) { (*p)[0] = 1; });
    Refuses(file, kCorruption, "encoding 262, expected");
  }
}

// Blocks that say that they are far larger than they are, once decoded.
TEST_F(HostileHFile, EncodedCellsBeyondTheLimit) {
  for (const HFileEncoding encoding :
       {HFileEncoding::kPrefix, HFileEncoding::kDiff,
        HFileEncoding::kFastDiff}) {
    hfile::FileForm options;
    options.encoding = encoding;
    std::string file = File(options);
    EditPayload(&file, BlockType::kEncodedData,
                [](std::string* p) { Overwrite32(p, 2, 0x7fffffff); });
    Refuses(file, kMemoryLimit,
            "cells of 2147483647 bytes, expected at most 268435456");
  }
}

// ------------------------------------------------------------- any damage at
// all

// Every byte flipped: an error, or, in what was not read, the cells as they
// were, and Verify finds it. The trailer has no checksum.
TEST_F(HostileHFile, EveryFlippedByteOfABlockIsFound) {
  std::vector<hfile::FileForm> all(2);
  all[1].compression = HFileCompression::kLz4;
  for (const HFileEncoding encoding : kEncodings) {
    all.emplace_back().encoding = encoding;
  }
  for (hfile::FileForm& options : all) {
    SCOPED_TRACE(ToString(options.encoding));
    options.block_bytes = 300;
    options.index_block_bytes = 100;
    options.index_block_min_entries = 2;
    const std::string good = File(options);
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    const auto put = [&file](size_t at, char byte) {
      file.seekp(static_cast<std::streamoff>(at));
      file.put(byte).flush();
    };
    const size_t blocks_end = good.size() - hfile::kTrailerBytes;
    // The rest of the trailer is padding.
    const size_t end = blocks_end + 110;
    uint64_t left_to_verify = 0;
    for (size_t at = 0; at < end; ++at) {
      put(at, static_cast<char>(good[at] ^ 0x41));
      const Status status = ReadPath();
      if (!status.ok()) {
        EXPECT_TRUE(status.IsCorruption() || status.IsNotSupported() ||
                    status.IsMemoryLimit())
            << status.ToString();
      } else if (at < blocks_end) {
        EXPECT_EQ(cells_, FewCells()) << "byte " << at;
        EXPECT_TRUE(reader_->MayContainRow("row007")) << "byte " << at;
        HFileReport report;
        EXPECT_TRUE(!reader_->Verify(&report).ok() || !report.problems.empty())
            << "byte " << at;
        ++left_to_verify;
      }
      put(at, good[at]);
    }
    EXPECT_LT(left_to_verify, end / 2);
  }
}

TEST_F(HostileHFile, EveryShorterFileIsRefused) {
  const std::string good = File();
  for (size_t size = 0; size < good.size(); size += 61) {
    const Status status = Open(good.substr(0, size));
    EXPECT_TRUE(status.IsCorruption()) << size << ": " << status.ToString();
  }
}

}  // namespace
}  // namespace rowbloom
