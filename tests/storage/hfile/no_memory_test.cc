// Memory runs out at each place of a read or a write of a file. Nothing is
// thrown, and no answer is wrong: it is the right one, or MemoryLimit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/hfile.h"
#include "storage/hfile/block_cache.h"
#include "storage/hfile/file_form.h"
#include "tests/storage/hfile/test_cells.h"
#include "tests/support/failing_new.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

// Protocol Buffers lose a message that they have no memory to keep.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:protobuf::internal::RepeatedPtrFieldBase";
}

namespace rowbloom {
namespace {

using rocksdb::Status;
using test::Attempt;
using test::FailingNew;
using test::IsOk;
using test::WithEachFailure;

// Runs `call` with each failure. Each status is OK or MemoryLimit, and `check`
// is called after each that is OK. Returns the number of calls that failed.
size_t CountFailures(
    const std::function<Status()>& call,
    const std::function<void()>& check = [] {}) {
  size_t failures = 0;
  WithEachFailure([&](Attempt* attempt) {
    attempt->Begin();
    const Status status = call();
    attempt->End();
    if (status.ok()) check();
    if (attempt->failed() && !status.ok()) {
      EXPECT_TRUE(status.IsMemoryLimit()) << status.ToString();
      ++failures;
    } else {
      EXPECT_THAT(status, IsOk());
    }
  });
  return failures;
}

size_t OpenFiles() {
  return static_cast<size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

class NoMemoryForHFile : public ::testing::TestWithParam<HFileEncoding> {
 protected:
  NoMemoryForHFile() {
    test::Random random(1);
    cells_ = test::RandomCells({.rows = 30, .tags = true}, &random);
    form_.encoding = GetParam();
    form_.block_bytes = 500;
    form_.index_block_bytes = 300;
    form_.index_block_min_entries = 2;
    form_.compression = HFileCompression::kLz4;
    form_.bloom_type = BloomType::kRowCol;
    form_.bloom_block_bytes = 128;
    form_.tags = true;
    form_.compress_tags = true;
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.File("a.hfile");
  hfile::FileForm form_;
  std::vector<HFileCell> cells_;
};

TEST_P(NoMemoryForHFile, Reads) {
  test::WriteCells(form_, path_, cells_);
  std::unique_ptr<HFileReader> reader;
  const size_t open_files = OpenFiles();
  EXPECT_GT(CountFailures([&] {
              reader.reset();
              return HFileReader::Open({}, path_, &reader);
            }),
            0U);
  reader.reset();
  EXPECT_EQ(OpenFiles(), open_files);

  // The cache is so small that blocks leave it.
  ASSERT_THAT(HFileReader::Open({.block_cache_bytes = 3000}, path_, &reader),
              IsOk());
  const HFileCell& sought = cells_[cells_.size() / 2];
  std::vector<HFileCell> of_row;
  std::vector<HFileCell> of_column;
  for (const HFileCell& cell : cells_) {
    if (cell.row != sought.row) continue;
    of_row.push_back(cell);
    if (cell.qualifier == sought.qualifier) of_column.push_back(cell);
  }
  std::vector<HFileCell> found;
  EXPECT_GT(CountFailures([&] { return reader->GetRow(sought.row, &found); },
                          [&] { EXPECT_EQ(found, of_row); }),
            0U);
  EXPECT_GT(CountFailures(
                [&] {
                  return reader->GetColumn(sought.row, sought.family,
                                           sought.qualifier, &found);
                },
                [&] { EXPECT_EQ(found, of_column); }),
            0U);
  HFileReport report;
  EXPECT_GT(CountFailures([&] { return reader->Verify(&report); },
                          [&] { EXPECT_EQ(report.cells, cells_.size()); }),
            0U);
  EXPECT_EQ(
      CountFailures([&] {
        EXPECT_TRUE(reader->MayContainRowCol(sought.row, sought.qualifier));
        EXPECT_TRUE(reader->MayContainDeleteFamily(sought.row));
        EXPECT_TRUE(reader->TimeRangeMayContain(sought.timestamp_ms,
                                                sought.timestamp_ms));
        return Status::OK();
      }),
      0U);
}

TEST_P(NoMemoryForHFile, MovesOfAnIterator) {
  test::WriteCells(form_, path_, cells_);
  std::unique_ptr<HFileReader> reader;
  ASSERT_THAT(HFileReader::Open({.block_cache_bytes = 3000}, path_, &reader),
              IsOk());
  std::unique_ptr<HFileIterator> at;
  const auto walk = [&](const std::function<void()>& begin, size_t* count) {
    return [&at, begin, count] {
      *count = 0;
      for (begin(); at->Valid(); at->Next()) ++*count;
      return at->status();
    };
  };
  size_t count = 0;
  for (const bool fill_cache : {false, true}) {
    at = reader->NewIterator({.fill_cache = fill_cache});
    EXPECT_GT(CountFailures(walk([&] { at->SeekToFirst(); }, &count),
                            [&] { EXPECT_EQ(count, cells_.size()); }),
              0U);
    const size_t place = cells_.size() / 3;
    const HFileCell sought = cells_[place];
    EXPECT_GT(
        CountFailures(walk([&] { at->Seek(sought.View().key()); }, &count),
                      [&] { EXPECT_EQ(count, cells_.size() - place); }),
        0U);
  }
}

TEST_P(NoMemoryForHFile, AWriterIsAtItsEnd) {
  size_t appended = 0;
  const auto write = [&](HFileWriter* writer) {
    for (appended = 0; appended < cells_.size(); ++appended) {
      const Status s = writer->Append(cells_[appended].View());
      if (!s.ok()) return s;
    }
    return Status::OK();
  };
  std::unique_ptr<HFileWriter> writer;
  const auto fail = [&](Attempt* attempt) {
    ASSERT_THAT(hfile::OpenWriter(form_, path_, &writer), IsOk());
    attempt->Begin();
    const Status status = write(writer.get());
    attempt->End();
    const bool failed = attempt->failed();
    EXPECT_EQ(status.IsMemoryLimit(), failed) << status.ToString();
    // Neither the cell that failed nor the next one may follow.
    if (failed) {
      EXPECT_TRUE(writer->Append(cells_.back().View()).IsMemoryLimit());
    }
    EXPECT_EQ(writer->Finish().IsMemoryLimit(), failed);
    writer.reset();
    EXPECT_EQ(std::filesystem::exists(path_), !failed);
  };
  EXPECT_GT(WithEachFailure(FailingNew::For::kOneCall, fail), 49U);
}

INSTANTIATE_TEST_SUITE_P(Encodings, NoMemoryForHFile,
                         ::testing::Values(HFileEncoding::kNone,
                                           HFileEncoding::kFastDiff));

TEST(NoMemoryForBlockCache, ABlockThatHasNoPlaceTakesNone) {
  constexpr size_t kCapacityBytes = 10'000;
  const auto block_at = [](uint64_t offset) {
    auto block = std::make_shared<hfile::Block>();
    block->offset = offset;
    char* bytes = nullptr;
    EXPECT_THAT(block->buffer.Reserve(3000, &bytes), IsOk());
    return block;
  };
  const auto insert = [&](Attempt* attempt) {
    HFileBlockCache cache(kCapacityBytes);
    const auto block = block_at(0);
    attempt->Begin();
    try {
      cache.Insert(0, block);
    } catch (const std::bad_alloc&) {
    }
    attempt->End();
    EXPECT_EQ(cache.Find(0, 0) == nullptr, attempt->failed());
    EXPECT_EQ(cache.used_bytes() == 0, attempt->failed());
    for (uint64_t offset = 1; offset < 10; ++offset) {
      cache.Insert(0, block_at(offset));
      EXPECT_LE(cache.used_bytes(), kCapacityBytes);
    }
    cache.Insert(1, block_at(0));
    cache.Erase(0);
    EXPECT_NE(cache.Find(1, 0), nullptr);
    cache.Erase(1);
    EXPECT_EQ(cache.used_bytes(), 0U);
  };
  EXPECT_GT(WithEachFailure(FailingNew::For::kOneCall, insert), 0U);
}

}  // namespace
}  // namespace rowbloom
