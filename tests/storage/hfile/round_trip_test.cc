// The reader gives the cells that the writer wrote: random cells and options
// against the list of cells itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rowbloom/hfile.h"
#include "storage/format/status_text.h"
#include "storage/hfile/block_cache.h"
#include "storage/hfile/file_form.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

using rocksdb::Status;
using test::CellsOf;
using test::CellSpec;
using test::IsOk;
using test::Random;
using test::StatusIs;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename T>
T OneOf(const std::vector<T>& values, Random* random) {
  return values[random->Below(values.size())];
}

// Every option at random, sizes small enough for many blocks and levels.
hfile::FileForm RandomOptions(Random* random) {
  hfile::FileForm options;
  options.compression = OneOf<HFileCompression>(
      {HFileCompression::kNone, HFileCompression::kGz, HFileCompression::kLz4,
       HFileCompression::kSnappy, HFileCompression::kZstd},
      random);
  options.codec_classes = OneOf<HFileCodecClasses>(
      {HFileCodecClasses::kHadoop, HFileCodecClasses::kHBaseNative,
       HFileCodecClasses::kHBaseAircompressor},
      random);
  options.compression_level = static_cast<int>(random->Below(5)) - 1;
  options.encoding = OneOf<HFileEncoding>(
      {HFileEncoding::kNone, HFileEncoding::kPrefix, HFileEncoding::kDiff,
       HFileEncoding::kFastDiff, HFileEncoding::kRowIndexV1},
      random);
  options.block_bytes = OneOf<uint32_t>({1, 100, 1000, 65536}, random);
  options.checksum = OneOf<hfile::ChecksumType>(
      {hfile::ChecksumType::kNull, hfile::ChecksumType::kCrc32,
       hfile::ChecksumType::kCrc32c},
      random);
  options.bytes_per_checksum = OneOf<uint32_t>({33, 100, 16384}, random);
  options.index_block_bytes = OneOf<uint32_t>({1, 200, 1000, 131072}, random);
  options.index_block_min_entries = OneOf<uint32_t>({2, 3, 16}, random);
  options.index_key_rule = OneOf<hfile::IndexKeyRule>(
      {hfile::IndexKeyRule::kHBase24, hfile::IndexKeyRule::kHBase25}, random);
  options.tags = random->OneIn(2);
  options.compress_tags = random->OneIn(2);
  options.mvcc = random->OneIn(2);
  options.bloom_type =
      OneOf<BloomType>({BloomType::kNone, BloomType::kRow, BloomType::kRowCol,
                        BloomType::kRowPrefixFixedLength},
                       random);
  options.bloom_prefix_bytes = 1 + static_cast<uint32_t>(random->Below(10));
  options.bloom_hash = OneOf<HFileHash>(
      {HFileHash::kJenkins, HFileHash::kMurmur, HFileHash::kMurmur3}, random);
  options.bloom_error_rate = OneOf<float>({0.5F, 0.01F, 0.0001F}, random);
  options.bloom_block_bytes = OneOf<uint32_t>({64, 300, 131072}, random);
  options.bloom_max_fold = static_cast<uint32_t>(random->Below(8));
  options.delete_family_bloom = !random->OneIn(4);
  options.biggest_cell = random->OneIn(2);
  options.time_range = !random->OneIn(4);
  return options;
}

bool KeyLess(const HFileCell& cell, const HFileKey& key) {
  return CompareHFileKeys(cell.View().key(), key) < 0;
}

// Seeks to `key` and compares with the place in `cells`.
void CheckSeek(const std::vector<HFileCell>& cells, const HFileKey& key,
               HFileIterator* iterator) {
  const auto at = std::lower_bound(cells.begin(), cells.end(), key, KeyLess);
  iterator->Seek(key);
  ASSERT_EQ(iterator->Valid(), at != cells.end());
  if (at != cells.end()) {
    EXPECT_EQ(HFileCell(iterator->cell()), *at);
  }
  EXPECT_THAT(iterator->status(), IsOk());
}

void CheckGets(const std::vector<HFileCell>& cells, const HFileReader& reader,
               Random* random) {
  for (int i = 0; i < 30; ++i) {
    const HFileCell& wanted = cells[random->Below(cells.size())];
    std::vector<HFileCell> row;
    std::vector<HFileCell> column;
    for (const HFileCell& cell : cells) {
      if (cell.row != wanted.row) continue;
      row.push_back(cell);
      if (cell.qualifier == wanted.qualifier) column.push_back(cell);
    }
    std::vector<HFileCell> found;
    EXPECT_THAT(reader.GetRow(wanted.row, &found), IsOk());
    EXPECT_EQ(found, row);
    EXPECT_THAT(
        reader.GetColumn(wanted.row, wanted.family, wanted.qualifier, &found),
        IsOk());
    EXPECT_EQ(found, column);
    EXPECT_THAT(reader.GetColumn(wanted.row, "g", wanted.qualifier, &found),
                IsOk());
    EXPECT_THAT(found, IsEmpty());
    const bool deleted =
        std::any_of(row.begin(), row.end(), [](const HFileCell& cell) {
          return cell.type == HFileCellType::kDeleteFamily ||
                 cell.type == HFileCellType::kDeleteFamilyVersion;
        });
    EXPECT_TRUE(!deleted || reader.MayContainDeleteFamily(wanted.row));
    EXPECT_TRUE(reader.MayContainScan(wanted.row, wanted.row + "z"));
    EXPECT_TRUE(reader.KeyRangeMayContain(wanted.row, wanted.row));
    EXPECT_TRUE(
        reader.TimeRangeMayContain(wanted.timestamp_ms, wanted.timestamp_ms));
    EXPECT_THAT(reader.GetRow(test::DistinctKey(random->Next(), 1), &found),
                IsOk());
    EXPECT_THAT(found, IsEmpty());
  }
}

// The key of a seek is often made of the cell where the iterator is.
TEST(HFileRoundTrip, AKeyOfTheIteratorsOwnCellIsFound) {
  const test::TempDir dir;
  const std::string path = dir.File("own.hfile");
  std::vector<HFileCell> cells;
  for (int i = 100; i < 140; ++i) {
    const std::string row = "row" + std::to_string(i);
    for (const char* qualifier : {"a", "bc", "d"}) {
      for (const int64_t timestamp_ms : {2, 1}) {
        cells.emplace_back(HFileCellView{.row = row,
                                         .family = "f",
                                         .qualifier = qualifier,
                                         .timestamp_ms = timestamp_ms,
                                         .value = "v"});
      }
    }
  }
  for (const HFileEncoding encoding :
       {HFileEncoding::kNone, HFileEncoding::kPrefix, HFileEncoding::kDiff,
        HFileEncoding::kFastDiff, HFileEncoding::kRowIndexV1}) {
    SCOPED_TRACE(ToString(encoding));
    hfile::FileForm options;
    options.encoding = encoding;
    options.block_bytes = 200;
    ASSERT_NO_FATAL_FAILURE(test::WriteCells(options, path, cells));
    std::unique_ptr<HFileReader> reader;
    ASSERT_THAT(HFileReader::Open({}, path, &reader), IsOk());
    for (const bool fill_cache : {false, true}) {
      const auto iterator = reader->NewIterator({.fill_cache = fill_cache});
      iterator->SeekToFirst();
      // Skips the second version of each column.
      for (size_t i = 0; i < cells.size(); i += 2) {
        ASSERT_TRUE(iterator->Valid());
        ASSERT_EQ(HFileCell(iterator->cell()), cells[i]);
        iterator->Seek(iterator->cell().key());
        ASSERT_TRUE(iterator->Valid());
        ASSERT_EQ(HFileCell(iterator->cell()), cells[i]);
        HFileKey after = iterator->cell().key();
        after.timestamp_ms = std::numeric_limits<int64_t>::min();
        after.type = HFileCellType::kMinimum;
        iterator->Seek(after);
      }
      EXPECT_FALSE(iterator->Valid());
      EXPECT_THAT(iterator->status(), IsOk());
    }
  }
}

TEST(HFileRoundTrip, RandomCellsWithRandomOptions) {
  Random random(test::SeedFromEnv());
  const test::TempDir dir;
  const std::string path = dir.File("random.hfile");
  uint32_t most_levels = 0;
  for (uint64_t round = 0; round < test::Scaled(40); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const hfile::FileForm options = RandomOptions(&random);
    CellSpec spec;
    spec.rows = 1 + random.Below(200);
    spec.tags = options.tags;
    spec.mvcc = options.mvcc && !random.OneIn(4);
    const std::vector<HFileCell> cells = RandomCells(spec, &random);
    ASSERT_NO_FATAL_FAILURE(test::WriteCells(options, path, cells));

    HFileReaderOptions reader_options;
    reader_options.block_cache_bytes =
        OneOf<size_t>({0, 5000, 1 << 20}, &random);
    std::unique_ptr<HFileReader> reader;
    ASSERT_THAT(HFileReader::Open(reader_options, path, &reader), IsOk());
    ASSERT_EQ(CellsOf(*reader, /*fill_cache=*/false), cells);
    ASSERT_EQ(CellsOf(*reader, /*fill_cache=*/true), cells);
    const HFileReport report = test::Verified(*reader);
    ASSERT_THAT(report.problems, IsEmpty());
    ASSERT_EQ(report.cells, cells.size());
    const auto iterator = reader->NewIterator({});
    for (int i = 0; i < 30; ++i) {
      const HFileCell& cell = cells[random.Below(cells.size())];
      CheckSeek(cells, cell.View().key(), iterator.get());
      CheckSeek(cells, {cell.row}, iterator.get());
      CheckSeek(cells, {cell.row, "f", cell.qualifier + "x", 3},
                iterator.get());
      const std::string other = random.Bytes(random.Below(9));
      CheckSeek(cells, {other, "f", "q", 7}, iterator.get());
    }
    CheckGets(cells, *reader, &random);
    EXPECT_EQ(reader->BloomStats().unusable, 0U);
    most_levels = std::max(most_levels, reader->trailer().data_index_levels);
  }
  // Some files were small, but not all.
  if (test::Scaled(40) >= 40) {
    EXPECT_GE(most_levels, 4U);
  }
}

// The filter must say no: without it, right answers would prove nothing.
TEST(HFileRoundTrip, BloomFiltersSkipAbsentRowsAndColumns) {
  const test::TempDir dir;
  const std::string path = dir.File("bloom.hfile");
  Random random(test::SeedFromEnv());
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                               BloomType::kRowPrefixFixedLength}) {
    SCOPED_TRACE(ToString(type));
    hfile::FileForm options;
    options.bloom_type = type;
    options.bloom_prefix_bytes = 8;
    const auto cells = RandomCells({.rows = 2000}, &random);
    ASSERT_NO_FATAL_FAILURE(test::WriteCells(options, path, cells));
    std::unique_ptr<HFileReader> reader;
    ASSERT_THAT(HFileReader::Open({}, path, &reader), IsOk());
    constexpr uint64_t kAbsent = 2000;
    uint64_t passed = 0;
    for (uint64_t i = 0; i < kAbsent; ++i) {
      passed += reader->MayContainRowCol(test::DistinctKey(i, 9), "q") ? 1 : 0;
    }
    // Expected are 1 % of them, 20; with ROWCOL, of either of two lookups.
    EXPECT_LT(passed, 60U);
    EXPECT_GE(reader->BloomStats().checked, kAbsent);
    EXPECT_GE(reader->BloomStats().absent, kAbsent - passed);
    EXPECT_EQ(reader->BloomStats().unusable, 0U);
  }
}

TEST(HFileRoundTrip, MetaBlocksAndFileInfoComeBack) {
  const test::TempDir dir;
  const std::string path = dir.File("meta.hfile");
  for (const auto codec : {HFileCompression::kNone, HFileCompression::kZstd}) {
    hfile::FileForm options;
    options.compression = codec;
    options.file_info["app.name"] = "example";
    options.bulk_load_time_ms = 99;
    options.bulk_load_task = "task_1";
    options.exclude_from_minor_compaction = true;
    std::unique_ptr<HFileWriter> writer;
    ASSERT_THAT(hfile::OpenWriter(options, path, &writer), IsOk());
    EXPECT_THAT(writer->AddMetaBlock("b", std::string(1000, 'x')), IsOk());
    EXPECT_THAT(writer->AddMetaBlock("a", ""), IsOk());
    EXPECT_THAT(writer->AddMetaBlock("a", "again"),
                StatusIs(Status::kInvalidArgument, HasSubstr("\"a\" twice")));
    EXPECT_THAT(writer->AddFileInfo("app.version", std::string("\0\1", 2)),
                IsOk());
    // Each would make the file one that no reader takes, or that lies.
    for (const char* name :
         {"hfile.X", "KEY_VALUE_VERSION", "DATA_BLOCK_ENCODING",
          "INDEX_BLOCK_ENCODING", "TIMERANGE", "DELETE_FAMILY_COUNT",
          "LAST_BLOOM_KEY", "MAX_SEQ_ID_KEY"}) {
      EXPECT_THAT(writer->AddFileInfo(name, "y"),
                  StatusIs(Status::kInvalidArgument,
                           HasSubstr(Concat("\"", name, "\" is reserved"))));
    }
    ASSERT_THAT(writer->Append({.row = "r", .family = "f"}), IsOk());
    ASSERT_THAT(writer->Finish(), IsOk());
    for (const Status& s :
         {writer->AddFileInfo("app.late", "x"), writer->AddMetaBlock("c", ""),
          writer->Append({.row = "s", .family = "f"}), writer->Finish()}) {
      EXPECT_THAT(s, StatusIs(Status::kInvalidArgument, HasSubstr("finished")));
    }
    std::unique_ptr<HFileReader> reader;
    ASSERT_THAT(HFileReader::Open({}, path, &reader), IsOk());
    EXPECT_THAT(reader->MetaBlockNames(), testing::ElementsAre("a", "b"));
    std::string contents;
    EXPECT_THAT(reader->ReadMetaBlock("b", &contents), IsOk());
    EXPECT_EQ(contents, std::string(1000, 'x'));
    EXPECT_THAT(reader->ReadMetaBlock("a", &contents), IsOk());
    EXPECT_EQ(contents, "");
    EXPECT_THAT(reader->ReadMetaBlock("c", &contents),
                StatusIs(Status::kNotFound, HasSubstr("\"c\"")));
    EXPECT_EQ(reader->file_info().at("app.name"), "example");
    EXPECT_EQ(reader->file_info().at("app.version"), std::string("\0\1", 2));
    EXPECT_EQ(reader->file_info().at("BULKLOAD_SOURCE_TASK"), "task_1");
    EXPECT_EQ(reader->file_info().at("EXCLUDE_FROM_MINOR_COMPACTION"), "\xff");
    EXPECT_THAT(test::Verified(*reader).problems, IsEmpty());
  }
}

// A file that was written can be read.
TEST(HFileRoundTrip, FileInfoUpToTheLimit) {
  const test::TempDir dir;
  const std::string path = dir.File("info.hfile");
  constexpr size_t kLimit = size_t{16} << 20;
  for (const size_t bytes : {kLimit - 2000, kLimit}) {
    std::unique_ptr<HFileWriter> writer;
    ASSERT_THAT(HFileWriter::Open({}, path, &writer), IsOk());
    // The last key is in the file info.
    const std::string qualifier(bytes, 'q');
    ASSERT_THAT(
        writer->Append({.row = "r", .family = "f", .qualifier = qualifier}),
        IsOk());
    const Status status = writer->Finish();
    writer.reset();
    if (bytes == kLimit) {
      EXPECT_THAT(status,
                  StatusIs(Status::kInvalidArgument,
                           HasSubstr("file info of more than 16777216 bytes")));
      EXPECT_FALSE(std::filesystem::exists(path));
      continue;
    }
    ASSERT_THAT(status, IsOk());
    std::unique_ptr<HFileReader> reader;
    ASSERT_THAT(HFileReader::Open({}, path, &reader), IsOk());
    EXPECT_EQ(reader->LastKey()->qualifier.size(), bytes);
    std::filesystem::remove(path);
  }
}

// Larger than a codec's chunk, and than the block size.
TEST(HFileRoundTrip, LargeValuesInEveryCodecAndFraming) {
  const test::TempDir dir;
  const std::string path = dir.File("large.hfile");
  Random random(test::SeedFromEnv());
  std::vector<HFileCell> cells;
  for (size_t i = 0; i < 4; ++i) {
    cells.push_back(test::MakeCell("row" + std::to_string(i), "", 0));
    cells.back().value = random.Bytes(i * 150'000);
    cells.back().value.resize(i * 300'000, 'v');
  }
  for (const auto codec :
       {HFileCompression::kNone, HFileCompression::kGz, HFileCompression::kLz4,
        HFileCompression::kSnappy, HFileCompression::kZstd}) {
    for (const auto classes :
         {HFileCodecClasses::kHadoop, HFileCodecClasses::kHBaseNative,
          HFileCodecClasses::kHBaseAircompressor}) {
      SCOPED_TRACE(ToString(codec) + " " +
                   std::to_string(static_cast<int>(classes)));
      hfile::FileForm options;
      options.compression = codec;
      options.codec_classes = classes;
      options.block_bytes = 1 << 20;
      options.tags = true;
      ASSERT_NO_FATAL_FAILURE(test::WriteCells(options, path, cells));
      std::unique_ptr<HFileReader> reader;
      ASSERT_THAT(HFileReader::Open({}, path, &reader), IsOk());
      ASSERT_EQ(CellsOf(*reader, false), cells);
    }
  }
}

TEST(HFileWriter, RefusesCellsThatDoNotFit) {
  const test::TempDir dir;
  std::unique_ptr<HFileWriter> writer;
  hfile::FileForm options;
  options.mvcc = false;
  ASSERT_THAT(hfile::OpenWriter(options, dir.File("a"), &writer), IsOk());
  const auto refuses = [&](const HFileCellView& cell, const char* why) {
    EXPECT_THAT(writer->Append(cell),
                StatusIs(Status::kInvalidArgument, HasSubstr(why)));
  };
  const std::string long_row(32768, 'r');
  refuses({.row = ""}, "row of 0 bytes, expected 1 to 32767");
  refuses({.row = long_row}, "row of 32768 bytes");
  refuses({.row = "r", .family = std::string_view(long_row).substr(0, 128)},
          "family of 128 bytes, expected at most 127");
  refuses({.row = "r", .tags = "t"}, "tags of 1 bytes, expected at most 0");
  refuses({.row = "r", .mvcc = 1}, "mvcc 1, expected 0");
  refuses({.row = "r", .mvcc = -1}, "mvcc -1, expected 0");
  refuses({.row = "r", .type = HFileCellType::kMaximum}, "type 255, expected");
  EXPECT_THAT(writer->Append({.row = "s", .family = "f", .timestamp_ms = 5}),
              IsOk());
  refuses({.row = "r", .family = "f", .timestamp_ms = 5},
          "sorts before the last cell");
  refuses({.row = "s", .family = "f", .timestamp_ms = 6},
          "timestamp 6, type 4: sorts before the last cell, row \"s\"");
  const std::string qualifier(1'000'000, 'q');
  refuses({.row = "r", .family = "f", .qualifier = qualifier},
          "qqq...\", timestamp 0, type 4: sorts before the last cell");
  EXPECT_THAT(writer->Append({.row = "s", .family = "f", .timestamp_ms = 5}),
              IsOk());
  ASSERT_THAT(writer->Finish(), IsOk());
  EXPECT_EQ(writer->cell_count(), 2U);
  EXPECT_THAT(writer->Finish(),
              StatusIs(Status::kInvalidArgument, HasSubstr("finished")));
  EXPECT_THAT(writer->Append({.row = "t"}),
              StatusIs(Status::kInvalidArgument, HasSubstr("finished")));
  std::unique_ptr<HFileReader> reader;
  ASSERT_THAT(HFileReader::Open({}, dir.File("a"), &reader), IsOk());
  EXPECT_EQ(CellsOf(*reader, false).size(), 2U);
}

TEST(HFileWriter, RefusesOptionsOutOfRange) {
  const test::TempDir dir;
  const auto refuses = [&](const hfile::FileForm& options, int code,
                           const char* why) {
    std::unique_ptr<HFileWriter> writer;
    EXPECT_THAT(hfile::OpenWriter(options, dir.File("a"), &writer),
                StatusIs(code, HasSubstr(why)));
    EXPECT_EQ(writer, nullptr);
  };
  const int invalid = Status::kInvalidArgument;
  refuses({{.compression = HFileCompression::kLzo}}, Status::kNotSupported,
          "LZO");
  refuses({{.compression = HFileCompression::kGz, .compression_level = 10}},
          invalid, "compression_level 10, expected -1 to 9");
  refuses({{.block_bytes = 0}}, invalid, "block_bytes 0");
  // A block could not take another cell of the largest size.
  refuses({{.block_bytes = (1U << 29) + 1}}, invalid,
          "block_bytes 536870913, expected 1 to 536870912");
  refuses({{.bloom_type = BloomType::kRowPrefixFixedLength}}, invalid,
          "bloom_prefix_bytes 0, expected 1 to 32767");
  refuses({{.bloom_error_rate = 0}}, invalid, "bloom_error_rate");
  refuses({{.bloom_error_rate = 1}}, invalid, "bloom_error_rate");
  refuses({{.bloom_error_rate = 0.7F}}, invalid,
          "chunks of 0 keys and 0 hashes, expected at least 1 key");
  refuses({{.file_info = {{"hfile.LASTKEY", "x"}}}}, invalid, "reserved");
  refuses({{.file_info = {{"TIMERANGE", "x"}}}}, invalid, "reserved");
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(HFileWriter, RowColFilesHaveOneFamilyInARow) {
  const test::TempDir dir;
  hfile::FileForm options;
  options.bloom_type = BloomType::kRowCol;
  std::unique_ptr<HFileWriter> writer;
  ASSERT_THAT(hfile::OpenWriter(options, dir.File("a"), &writer), IsOk());
  EXPECT_THAT(writer->Append({.row = "r", .family = "f"}), IsOk());
  EXPECT_THAT(
      writer->Append({.row = "r", .family = "g", .qualifier = "q"}),
      StatusIs(Status::kInvalidArgument, HasSubstr("a second family in row")));
}

// The file is there when it is complete, and nothing is left when it is not.
TEST(HFileWriter, PutsTheFileInPlaceAtOnce) {
  const test::TempDir dir;
  const std::string path = dir.File("a.hfile");
  test::WriteFile(path, "old");
  std::unique_ptr<HFileWriter> writer;
  ASSERT_THAT(HFileWriter::Open({}, path, &writer), IsOk());
  EXPECT_THAT(writer->Append({.row = "r", .family = "f"}), IsOk());
  EXPECT_EQ(test::ReadFile(path), "old");
  writer.reset();
  EXPECT_EQ(test::ReadFile(path), "old");
  const auto entries = [&] {
    return std::distance(std::filesystem::directory_iterator(dir.path()),
                         std::filesystem::directory_iterator());
  };
  EXPECT_EQ(entries(), 1);
  ASSERT_NO_FATAL_FAILURE(test::WriteCells({}, path, {}));
  EXPECT_EQ(entries(), 1);
  std::unique_ptr<HFileReader> reader;
  ASSERT_THAT(HFileReader::Open({}, path, &reader), IsOk());
  EXPECT_THAT(CellsOf(*reader, false), IsEmpty());
  EXPECT_FALSE(reader->FirstKey().has_value());
  EXPECT_THAT(HFileWriter::Open({}, dir.File("no/such/a"), &writer),
              StatusIs(Status::kIOError, HasSubstr("cannot create")));
}

TEST(HFileReader, ManyThreadsShareOneReaderAndItsCache) {
  const test::TempDir dir;
  const std::string path = dir.File("a.hfile");
  Random random(test::SeedFromEnv());
  hfile::FileForm options;
  options.block_bytes = 500;
  options.index_block_bytes = 300;
  options.compression = HFileCompression::kZstd;
  const auto cells = RandomCells({.rows = 300, .mvcc = true}, &random);
  ASSERT_NO_FATAL_FAILURE(test::WriteCells(options, path, cells));
  HFileReaderOptions reader_options;
  reader_options.block_cache = NewHFileBlockCache(20'000);
  std::unique_ptr<HFileReader> reader;
  ASSERT_THAT(HFileReader::Open(reader_options, path, &reader), IsOk());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random own(t);
      std::vector<HFileCell> row;
      for (int i = 0; i < 200; ++i) {
        const HFileCell& cell = cells[own.Below(cells.size())];
        if (!reader->GetRow(cell.row, &row).ok() ||
            std::find(row.begin(), row.end(), cell) == row.end()) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(reader_options.block_cache->used_bytes(), 0U);
  EXPECT_LE(reader_options.block_cache->used_bytes(), 20'000U);
  reader.reset();
  EXPECT_EQ(reader_options.block_cache->used_bytes(), 0U);
}

// Cells of one key are in one block. The limit counts its decoded bytes, too:
// the stored ones have the value once.
TEST(HFileWriter, BlocksAreNoLargerThanTheLimitWhenTheyAreDecoded) {
  const test::TempDir dir;
  const std::string value(size_t{64} << 20, 'v');
  HFileCellView cell{.row = "r", .family = "f", .value = value};
  std::unique_ptr<HFileWriter> writer;
  ASSERT_THAT(HFileWriter::Open({.encoding = HFileEncoding::kFastDiff,
                                 .bloom_type = BloomType::kNone},
                                dir.File("a.hfile"), &writer),
              IsOk());
  for (size_t i = 0; i < kHFileMaxBlockBytes / value.size(); ++i) {
    ASSERT_THAT(writer->Append(cell), IsOk());
  }
  const auto is_too_large = StatusIs(Status::kInvalidArgument,
                                     HasSubstr("expected at most 1879048185"));
  EXPECT_THAT(writer->Append(cell), is_too_large);
  EXPECT_THAT(writer->Finish(), is_too_large);
}

// They are longer than those of any file. The filter does not rule them out.
TEST(HFileReader, LongNamesAreAbsent) {
  const test::TempDir dir;
  const std::string path = dir.File("a.hfile");
  const HFileCell cell = test::MakeCell("r", "", 0);
  for (const BloomType type : {BloomType::kNone, BloomType::kRowCol}) {
    hfile::FileForm form;
    form.bloom_type = type;
    ASSERT_NO_FATAL_FAILURE(test::WriteCells(form, path, {cell}));
    std::unique_ptr<HFileReader> reader;
    ASSERT_THAT(HFileReader::Open({}, path, &reader), IsOk());
    std::vector<HFileCell> found;
    const std::string row(kHFileMaxRowBytes + 1, 'a');
    const std::string family(kHFileMaxFamilyBytes + 1, 'a');
    EXPECT_THAT(reader->GetRow(row, &found), IsOk());
    EXPECT_THAT(reader->GetColumn(row, "f", "", &found), IsOk());
    EXPECT_THAT(reader->GetColumn("r", family, "", &found), IsOk());
    EXPECT_THAT(found, IsEmpty());
    const auto iterator = reader->NewIterator({});
    iterator->Seek({.row = row});
    EXPECT_FALSE(iterator->Valid());
    EXPECT_THAT(iterator->status(),
                StatusIs(Status::kInvalidArgument,
                         HasSubstr(path + ": key with a row of 32768")));
  }
}

TEST(HFileReader, AnswersNoLargerThanTheLimit) {
  const test::TempDir dir;
  const std::string path = dir.File("a.hfile");
  const HFileCell cell =
      test::MakeCell("r", "", 0, HFileCellType::kPut, std::string(1000, 'v'));
  ASSERT_NO_FATAL_FAILURE(test::WriteCells({}, path, {cell, cell}));
  HFileReaderOptions options;
  options.max_get_bytes = 2000;
  std::unique_ptr<HFileReader> reader;
  ASSERT_THAT(HFileReader::Open(options, path, &reader), IsOk());
  std::vector<HFileCell> found;
  EXPECT_THAT(reader->GetRow("r", &found),
              StatusIs(Status::kAborted, HasSubstr("more than 2000 bytes")));
  options.max_get_bytes = 3000;
  options.max_block_bytes = 1500;
  ASSERT_THAT(HFileReader::Open(options, path, &reader), IsOk());
  EXPECT_THAT(reader->GetRow("r", &found),
              StatusIs(Status::kAborted, HasSubstr("expected at most 1500")));
  // Data blocks may have more than others.
  options.max_data_block_bytes = 2000;
  ASSERT_THAT(HFileReader::Open(options, path, &reader), IsOk());
  EXPECT_THAT(reader->GetRow("r", &found),
              StatusIs(Status::kAborted, HasSubstr("expected at most 2000")));
  options.max_data_block_bytes = 3000;
  ASSERT_THAT(HFileReader::Open(options, path, &reader), IsOk());
  EXPECT_THAT(reader->GetRow("r", &found), IsOk());
  EXPECT_EQ(found.size(), 2u);
  options.max_block_bytes = 10;
  EXPECT_THAT(HFileReader::Open(options, path, &reader),
              StatusIs(Status::kAborted, HasSubstr("expected at most 10")));
}

}  // namespace
}  // namespace rowbloom
