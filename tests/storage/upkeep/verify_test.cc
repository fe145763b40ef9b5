// Verify finds all damage there is, names its place, and changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "lib/bytes/integers.h"
#include "rocksdb/file_checksum.h"
#include "storage/cells/cell_versions.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/files.h"
#include "tests/support/record_files.h"
#include "tests/support/stride.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

const std::vector<FamilyDescriptor> kFamilies = {
    {"blobs", {.min_blob_bytes = 100}},
    {"client", {.timestamps = Timestamps::kClient, .max_versions = 2}},
    {"latest", {}},
};
constexpr uint64_t kRows = 400;

// The key of a cell in the layout `escaped`.
std::string KeyOf(const std::string& row, const std::string& qualifier) {
  return row + std::string("\0\1", 2) + qualifier;
}

class Verify : public ::testing::Test {
 protected:
  // Two SSTs for each family, one for the records, two blob files, and a log.
  void SetUp() override {
    const auto store = OpenOrFail({.auto_compaction = false}, path_, kFamilies);
    for (uint64_t i = 0; i < kRows; ++i) {
      const std::string row = std::to_string(1000 + i);
      for (const char* family : {"latest", "blobs"}) {
        ASSERT_THAT(store->Put(row, family, "q", std::string(150, 'v')),
                    IsOk());
      }
      ASSERT_THAT(
          store->Put(row, "client", "q", "v" + row, {.timestamp_ms = i}),
          IsOk());
      if (i % (kRows / 2) == kRows / 2 - 1) {
        ASSERT_THAT(store->Flush(), IsOk());
      }
    }
    ASSERT_THAT(store->DeleteRow("1000"), IsOk());
    WriteBatch batch;
    batch.DeleteFamilyVersion("1001", "client", 1);
    ASSERT_THAT(store->Write(batch), IsOk());
  }

  // Some files.
  std::vector<std::string> Files(const std::string& end) {
    const std::vector<std::string> files = FilesWithEnd(path_, end);
    EXPECT_FALSE(files.empty()) << end;
    return files;
  }

  VerifyReport ReportOf(Store& store, const VerifyOptions& options) {
    VerifyReport report;
    const auto before = Contents(path_);
    EXPECT_THAT(store.Verify(options, &report), IsOk());
    EXPECT_TRUE(Contents(path_) == before);
    return report;
  }
  // The report on the store as it is, opened for reading.
  VerifyReport Find(const VerifyOptions& options = {}) {
    return ReportOf(*OpenOrFail({.read_only = true}, path_, {}), options);
  }

  static std::string Text(const VerifyReport& report) {
    std::string text;
    for (const VerifyProblem& problem : report.problems) {
      text += problem.file + " " + problem.family + " " + problem.row + ":" +
              problem.qualifier + " " + problem.problem + "\n";
    }
    return text;
  }

  TempDir dir_;
  const std::string path_ = dir_.File("db");
};

TEST_F(Verify, FindsNothingInASoundStore) {
  const VerifyReport reading = Find();
  EXPECT_TRUE(reading.ok()) << Text(reading);
  EXPECT_EQ(reading.files, 7u + 2u);
  EXPECT_GE(reading.records, 5u);
  // Row 1000 is deleted in two families; the deletes of 1001 are a cell.
  EXPECT_EQ(reading.cells, 3 * kRows - 2 + 2);
  EXPECT_EQ(reading.row_deletes, 2u);
  const auto store = OpenOrFail({}, path_, {});
  VerifyReport writing;
  ASSERT_THAT(store->Verify({}, &writing), IsOk());
  EXPECT_TRUE(writing.ok()) << Text(writing);
  ASSERT_THAT(store->Verify({.files = false, .records = false, .cells = false},
                            &writing),
              IsOk());
  EXPECT_EQ(writing.files + writing.records + writing.cells, 0u);
  // Files are deleted again afterwards.
  const size_t files = Files(".sst").size();
  ASSERT_THAT(store->Compact(), IsOk());
  EXPECT_TRUE(WaitFor([&] { return Files(".sst").size() < files; }));
}

TEST_F(Verify, NamesEachFileWithAWrongByteWhereverItIs) {
  int refused = 0;
  int found = 0;
  for (const std::string& sst : Files(".sst")) {
    const uint64_t bytes = std::filesystem::file_size(sst);
    for (uint64_t at = 3; at < bytes; at += 131 * Stride(3)) {
      SCOPED_TRACE(sst + " byte " + std::to_string(at));
      FlipBit(sst, at);
      std::unique_ptr<Store> store;
      if (!Store::Open({.read_only = true}, path_, {}, &store).ok()) {
        ++refused;
      } else {
        const VerifyReport report = ReportOf(*store, {.cells = false});
        ASSERT_THAT(report.problems,
                    Contains(Field(&VerifyProblem::file, sst)));
        ASSERT_EQ(report.problem_count, 1u) << Text(report);
        ++found;
      }
      FlipBit(sst, at);
    }
  }
  EXPECT_GT(found, 20);
  EXPECT_GT(refused, 0);
}

TEST_F(Verify, ListsTheDamageOfAllFilesAndReadsTheOtherCells) {
  std::vector<std::string> ssts = Files(".sst");
  const auto size = [](const std::string& sst) {
    return std::filesystem::file_size(sst);
  };
  // The file of the records is the smallest.
  ssts.erase(std::ranges::min_element(ssts, {}, size));
  ASSERT_GE(ssts.size(), 4u);
  for (const std::string& sst : ssts) FlipBit(sst, 100);
  const VerifyReport report = Find();
  for (const std::string& sst : ssts) {
    EXPECT_THAT(report.problems, Contains(Field(&VerifyProblem::file, sst)));
  }
  EXPECT_THAT(report.problems,
              Contains(Field(&VerifyProblem::problem, HasSubstr("checksum"))));
  // The first block of a file is damaged, of several.
  EXPECT_GT(report.cells, kRows / 4);
  EXPECT_LT(report.cells, 3 * kRows);
}

TEST_F(Verify, ListsEachCellThatCannotBeDecoded) {
  const std::string unknown = "\x7f!";
  ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "latest", KeyOf("1005", "q"), "short"));
  ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "latest", KeyOf("1100", "x"), unknown));
  ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "client", KeyOf("1007", "q"), unknown));
  ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "latest", "no row", "v"));
  {
    // The merge operator refuses what is below these two.
    const auto store = OpenOrFail({}, path_, {});
    ASSERT_THAT(store->Flush(), IsOk());
  }
  ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "client", KeyOf("1050", "q"), unknown));
  ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "client", KeyOf("1060", "q"), unknown));
  {
    const auto store = OpenOrFail({.auto_compaction = false}, path_, {});
    ASSERT_THAT(store->Flush(), IsOk());
    for (const char* row : {"1050", "1060"}) {
      ASSERT_THAT(store->Put(row, "client", "q", "v", {.timestamp_ms = 9}),
                  IsOk());
    }
  }
  const VerifyReport report = Find({.files = false});
  std::vector<std::string> rows;
  for (const VerifyProblem& problem : report.problems) {
    rows.push_back(problem.family + "/" + problem.row + ":" +
                   problem.qualifier);
  }
  EXPECT_THAT(rows,
              ::testing::UnorderedElementsAre("latest/1005:q", "latest/1100:x",
                                              "latest/:", "client/1007:q",
                                              "client/1050:q", "client/1060:q"))
      << Text(report);
  EXPECT_THAT(Text(report), HasSubstr("expected a value of at least 9 bytes, "
                                      "found 5"));
  const VerifyReport first = Find({.files = false, .max_problems = 2});
  EXPECT_EQ(first.problems.size(), 2u);
  EXPECT_EQ(first.problem_count, report.problem_count);
}

TEST_F(Verify, FindsADeleteThatTheRecordsDoNotAllow) {
  const std::string path = dir_.File("other");
  {
    const auto store = OpenOrFail({}, path, kFamilies);
    ASSERT_THAT(store->Put("r", "client", "q", "v", {.timestamp_ms = 1}),
                IsOk());
  }
  ASSERT_NO_FATAL_FAILURE(
      PutRaw(path, "client", KeyOf("r", ""),
             EncodeEntries({{ChangeType::kDeleteFamily, 1, {}}})));
  const auto store = OpenOrFail({}, path, {});
  VerifyReport report;
  ASSERT_THAT(store->Verify({}, &report), IsOk());
  ASSERT_EQ(report.problem_count, 1u) << Text(report);
  EXPECT_EQ(report.problems[0].row, "r");
  EXPECT_THAT(report.problems[0].problem, HasSubstr("type 14"));
}

// An opening refuses such a store.
TEST_F(Verify, FindsAManifestThatIsDamagedUnderAnOpenStore) {
  const auto store = OpenOrFail({}, path_, {});
  std::string manifest;
  std::ifstream(path_ + "/CURRENT") >> manifest;
  // RocksDB takes a last record that is too long for the end.
  const size_t last = RecordsOf(ReadFile(path_ + "/" + manifest)).back();
  for (const size_t at : {size_t{20}, last + 5}) {
    FlipBit(path_ + "/" + manifest, at);
    VerifyReport report;
    ASSERT_THAT(store->Verify({.cells = false}, &report), IsOk());
    ASSERT_EQ(report.problem_count, 1u) << Text(report);
    EXPECT_EQ(report.problems[0].file, path_ + "/" + manifest);
    FlipBit(path_ + "/" + manifest, at);
  }
}

TEST_F(Verify, NamesAFileThatWentMissing) {
  // Readers have these, and not those that the writer makes from the log.
  std::vector<std::string> left = Files(".sst");
  const auto reader = OpenOrFail({.read_only = true}, path_, {});
  const auto reader_of_cells = OpenOrFail({.read_only = true}, path_, {});
  const auto store = OpenOrFail({.auto_compaction = false}, path_, {});
  const std::string sst = left.front();
  left.erase(left.begin());
  std::filesystem::remove(sst);
  VerifyReport report;
  ASSERT_THAT(store->Verify({}, &report), IsOk());
  EXPECT_THAT(report.problems, Contains(Field(&VerifyProblem::file, sst)));
  EXPECT_EQ(report.problem_count, 1u) << Text(report);
  // The writer of a reader's store may remove files.
  EXPECT_THAT(reader->Verify({}, &report),
              StatusIs(Status::kTryAgain, HasSubstr(sst)));
  EXPECT_EQ(report.problem_count, 0u) << Text(report);
  // The other files are checked all the same.
  for (const std::string& damaged : left) {
    FlipBit(damaged, 20);
    EXPECT_TRUE(reader->Verify({.cells = false}, &report).IsTryAgain());
    EXPECT_THAT(report.problems,
                Contains(Field(&VerifyProblem::file, damaged)));
    FlipBit(damaged, 20);
  }
  const std::string blob = Files(".blob").front();
  std::filesystem::remove(blob);
  // The other reader has the file open.
  EXPECT_THAT(reader_of_cells->Verify({.files = false}, &report),
              StatusIs(Status::kTryAgain, HasSubstr(blob)));
}

TEST_F(Verify, NamesBlobFilesAndValuesThatAreWrong) {
  for (const std::string& blob : Files(".blob")) {
    FlipBit(blob, std::filesystem::file_size(blob) / 2);
  }
  const VerifyReport report = Find();
  for (const std::string& blob : Files(".blob")) {
    EXPECT_THAT(report.problems, Contains(Field(&VerifyProblem::file, blob)));
  }
  EXPECT_THAT(report.problems,
              Contains(AllOf(Field(&VerifyProblem::family, "blobs"),
                             Field(&VerifyProblem::qualifier, "q"))));
}

// Each of them is sound, and has the keys of the other one.
TEST_F(Verify, NamesBlobFilesInEachOthersPlace) {
  const std::string path = dir_.File("twice");
  {
    const auto store = OpenOrFail({.auto_compaction = false}, path, kFamilies);
    for (const char value : {'a', 'b'}) {
      ASSERT_THAT(store->Put("row", "blobs", "q", std::string(150, value)),
                  IsOk());
      ASSERT_THAT(store->Flush(), IsOk());
    }
  }
  const std::vector<std::string> blobs = FilesWithEnd(path, ".blob");
  ASSERT_EQ(blobs.size(), 2u);
  std::filesystem::rename(blobs[0], path + "/kept");
  std::filesystem::rename(blobs[1], blobs[0]);
  std::filesystem::rename(path + "/kept", blobs[1]);
  const auto store = OpenOrFail({.read_only = true}, path, {});
  EXPECT_EQ(ValueOf(*store, "row", "blobs", "q"), std::string(150, 'a'))
      << "reads notice it, too";
  VerifyReport report;
  ASSERT_THAT(store->Verify({}, &report), IsOk());
  EXPECT_EQ(report.problem_count, 2u) << Text(report);
  for (const std::string& blob : blobs) {
    EXPECT_THAT(report.problems, Contains(Field(&VerifyProblem::file, blob)));
  }
}

// The writers of tables are flushes, compactions and loads.
TEST_F(Verify, HasAChecksumForEveryFileThatAWriterMade) {
  auto store = OpenOrFail({.auto_compaction = false}, path_, {});
  ASSERT_THAT(store->Compact({.family = "client"}), IsOk());
  auto load = LoadInto(*store);
  ASSERT_THAT(load->Add("row", "latest", "q", "value"), IsOk());
  ASSERT_THAT(load->Add("row", "client", "q", "value", 5), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  VerifyReport report;
  ASSERT_THAT(store->Verify({}, &report), IsOk());
  EXPECT_TRUE(report.ok()) << Text(report);
  load.reset();
  store.reset();
  Database database;
  rocksdb::DBOptions options;  // for what is in the log
  options.file_checksum_gen_factory =
      rocksdb::GetFileChecksumGenCrc32cFactory();
  ASSERT_NO_FATAL_FAILURE(OpenRaw(path_, &database, options));
  std::vector<rocksdb::LiveFileMetaData> files;
  database->GetLiveFilesMetaData(&files);
  EXPECT_GE(files.size(), 8u);
  for (const rocksdb::LiveFileMetaData& file : files) {
    EXPECT_EQ(file.file_checksum_func_name, "FileChecksumCrc32c") << file.name;
    EXPECT_EQ(file.file_checksum.size(), 4u) << file.name;
  }
}

}  // namespace
}  // namespace rowbloom::test
