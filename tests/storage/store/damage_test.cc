// A store with a damaged file is refused with one error that names the file,
// and every byte of it stays as it is, for whoever is to repair it. Damage that
// only a read can find is an error of that read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rocksdb/sst_file_reader.h"
#include "rocksdb/version.h"
#include "storage/store/found_store.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/files.h"
#include "tests/support/record_files.h"
#include "tests/support/stride.h"

namespace rowbloom::test::damage_test {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<FamilyDescriptor> kFamilies = {
    {"client", {.timestamps = Timestamps::kClient, .max_versions = 2}},
    {"latest", {}},
};
constexpr uint64_t kRows = 50;

class Damage : public ::testing::Test {
 protected:
  // Two SSTs for each family and one for the records.
  void SetUp() override {
    const auto store = OpenOrFail({}, sound_, kFamilies);
    for (uint64_t i = 0; i < 2 * kRows; ++i) {
      const std::string row = std::to_string(i);
      ASSERT_THAT(store->Put(row, "latest", "q", "v" + row), IsOk());
      ASSERT_THAT(
          store->Put(row, "client", "q", "v" + row, {.timestamp_ms = i}),
          IsOk());
      if (i % kRows == kRows - 1) {
        ASSERT_THAT(store->Flush(), IsOk());
      }
    }
    ASSERT_THAT(store->Put("logged", "latest", "q", "v"), IsOk());
    ASSERT_THAT(store->Put("logged", "client", "q", "v", {.timestamp_ms = 1}),
                IsOk());
    rows_ = RowsOf(*store);
    ASSERT_EQ(rows_.size(), 2 * kRows + 1);
  }

  // The files whose names have `part`, of which there are some.
  std::vector<std::string> Files(const std::string& part) {
    std::vector<std::string> files;
    for (const auto& [name, bytes] : Contents(sound_)) {
      if (name.find(part) != std::string::npos) files.push_back(name);
    }
    EXPECT_FALSE(files.empty()) << part;
    return files;
  }

  std::string Bytes(const std::string& file) { return Contents(sound_)[file]; }

  // A copy of the store in which the file has these bytes.
  void Replace(const std::string& file, const std::string& bytes) {
    store_.reset();
    std::filesystem::remove_all(path_);
    std::filesystem::copy(sound_, path_);
    WriteFile(path_ + "/" + file, bytes);
  }

  // The copy but for RocksDB's info log, in which it says why it refuses a
  // database.
  std::map<std::string, std::string> Data() const {
    std::map<std::string, std::string> files = Contents(path_);
    std::erase_if(
        files, [](const auto& file) { return file.first.starts_with("LOG"); });
    return files;
  }

  // Opens the copy for writing. If that fails, it fails for reading, too, for
  // the same reason, and neither changes data.
  Status Open() {
    const auto before = Data();
    const Status error = OpenStore({}, path_, {}, SystemWallClock, &store_);
    if (error.ok()) return error;
    EXPECT_TRUE(Data() == before) << error.ToString();
    EXPECT_EQ(store_, nullptr);
    const Status reading = Store::Open({.read_only = true}, path_, {}, &store_);
    EXPECT_EQ(reading.ToString(), error.ToString());
    EXPECT_TRUE(Data() == before) << error.ToString();
    return error;
  }

  void ExpectRefusal(const std::string& file) {
    const Status error = Open();
    EXPECT_THAT(error.ToString(), AllOf(HasSubstr(path_), HasSubstr(file)));
    EXPECT_TRUE(error.IsCorruption() || error.IsIOError() ||
                error.IsNotFound() || error.IsInvalidArgument())
        << error.ToString();
  }

  // A file that is cut short is named, unless the bytes that were cut off held
  // no change. It is cut before each record, in its head and in its contents.
  void ExpectCutsAreNamed(const std::string& file) {
    const std::string bytes = Bytes(file);
    std::vector<size_t> records = RecordsOf(bytes);
    ASSERT_GT(records.size(), 5u);
    records.push_back(bytes.size());
    int opened = 0;
    for (size_t i = 0; i + 1 < records.size(); i += Stride(3)) {
      const size_t middle = (records[i] + records[i + 1]) / 2;
      for (const size_t left : {records[i], records[i] + 3, middle}) {
        SCOPED_TRACE(file + " cut to " + std::to_string(left));
        Replace(file, bytes.substr(0, left));
        const Status error = Open();
        if (!error.ok()) {
          EXPECT_THAT(error, StatusIs(Status::kCorruption,
                                      HasSubstr(path_ + "/" + file)));
          continue;
        }
        ++opened;
        ASSERT_TRUE(RowsOf(*store_) == rows_);
      }
    }
    EXPECT_LT(opened, 10);
  }

  TempDir dir_;
  const std::string sound_ = dir_.File("sound");
  const std::string path_ = dir_.File("db");
  std::vector<Row> rows_;         // the sound store's
  std::unique_ptr<Store> store_;  // the copy
};

TEST_F(Damage, MissingFilesAreNamed) {
  for (const char* part : {"CURRENT", "MANIFEST-", ".sst"}) {
    for (const std::string& file : Files(part)) {
      SCOPED_TRACE(file);
      Replace(file, "");
      std::filesystem::remove(path_ + "/" + file);
      ASSERT_NO_FATAL_FAILURE(ExpectRefusal(file));
    }
  }
}

// RocksDB 9.10 has one for a merge that failed. Files without a number are not
// RocksDB's.
TEST_F(Damage, AnErrorWithoutAMessageIsNamed) {
  WriteFile(sound_ + "/._000012.sst", "no table");
  EXPECT_THAT(
      NamingDamagedFile(rocksdb::Env::Default(), sound_, Status::Corruption()),
      StatusIs(Status::kCorruption,
               AllOf(HasSubstr(sound_), Not(HasSubstr("._")))));
}

TEST_F(Damage, OverwrittenFilesAreNamed) {
  for (const char* part : {"CURRENT", "MANIFEST-", ".sst"}) {
    for (const std::string& file : Files(part)) {
      Replace(file, "");
      ASSERT_NO_FATAL_FAILURE(ExpectRefusal(file)) << file;
      for (const char byte : {'\0', '\n', '\xff'}) {
        SCOPED_TRACE(file + " full of " + std::to_string(byte));
        Replace(file, std::string(Bytes(file).size(), byte));
        ASSERT_NO_FATAL_FAILURE(ExpectRefusal(file));
      }
    }
  }
}

TEST_F(Damage, TruncatedFilesAreNamed) {
  for (const char* part : {"CURRENT", ".sst"}) {
    for (const std::string& file : Files(part)) {
      const std::string bytes = Bytes(file);
      for (const size_t left :
           {bytes.size() - 1, bytes.size() - 10, bytes.size() / 2, size_t{1}}) {
        SCOPED_TRACE(file + " cut to " + std::to_string(left));
        Replace(file, bytes.substr(0, left));
        ASSERT_NO_FATAL_FAILURE(ExpectRefusal(file));
      }
    }
  }
}

// RocksDB takes it for the end that a crash left.
TEST_F(Damage, ManifestWithoutItsEndIsNamed) {
  ExpectCutsAreNamed(Files("MANIFEST-").front());
}

// RocksDB takes a record of a wrong length or type for the end, too. Only the
// MANIFEST knows of the tables of a load.
TEST_F(Damage, RecordOfTheManifestWithAWrongBitIsNamed) {
  {
    const auto store = OpenOrFail({}, sound_, kFamilies);
    const auto load = LoadInto(*store);
    ASSERT_THAT(load->Add({.type = ChangeType::kPut,
                           .row = "loaded",
                           .family = "latest",
                           .qualifier = "q",
                           .value = "v"}),
                IsOk());
    ASSERT_THAT(load->Finish(), IsOk());
  }
  const std::string file = Files("MANIFEST-").front();
  const std::string bytes = Bytes(file);
  const std::vector<size_t> records = RecordsOf(bytes);
  ASSERT_GT(records.size(), 5u);
  for (const size_t record : records) {
    for (size_t bit = 0; bit < 3 * 8; bit += 5 * Stride(2)) {  // length, type
      const size_t at = record + 4 + bit / 8;
      SCOPED_TRACE("byte " + std::to_string(at) + ", bit " +
                   std::to_string(bit % 8));
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit % 8);
      Replace(file, damaged);
      EXPECT_THAT(Open(),
                  StatusIs(Status::kCorruption, HasSubstr(path_ + "/" + file)));
    }
  }
}

// A copy has no log that would tell. It ends with a whole record, and has no
// tables but those of the MANIFEST.
TEST_F(Damage, ManifestOfACopyWithoutItsEndIsNamed) {
  {
    const auto store = OpenOrFail({}, sound_, kFamilies);
    ASSERT_THAT(store->Checkpoint(dir_.File("copy")), IsOk());
  }
  std::filesystem::remove_all(sound_);
  std::filesystem::rename(dir_.File("copy"), sound_);
  for (const auto& [name, bytes] : Contents(sound_)) {
    if (name.ends_with(".log")) GTEST_SKIP() << "RocksDB 11 copies a log";
  }
  const std::string file = Files("MANIFEST-").front();
  ExpectCutsAreNamed(file);
  Replace(file, Bytes(file));
  // macOS leaves such files beside those that it copies.
  WriteFile(path_ + "/._" + Files(".sst").front(), "no table");
  ASSERT_THAT(Open(), IsOk());
}

// A store with logs that the family `client` needs, and the other has in files.
class DamagedLog : public Damage {
 protected:
  void SetUp() override {
    const StoreOptions options = {.write_buffer_bytes = size_t{64} << 10};
    const auto store = OpenOrFail(options, sound_, kFamilies);
    for (uint64_t i = 0; i < 200; ++i) {
      const std::string row = std::to_string(i);
      ASSERT_THAT(store->Put(row, "client", "q", "v", {.timestamp_ms = i}),
                  IsOk());
      ASSERT_THAT(store->Put(row, "latest", "q", std::string(1000, 'v')),
                  IsOk());
    }
    rows_ = RowsOf(*store);
    logs_ = Files(".log");
    ASSERT_GT(logs_.size(), 2u);
  }

  std::vector<std::string> logs_;
};

// Without the end of the log the families would not fit.
TEST_F(DamagedLog, ThatEndsBeforeWhatAFileHasIsRefused) {
  std::string bytes = Bytes(logs_.front());
  bytes[bytes.size() / 2] ^= 1;
  Replace(logs_.front(), bytes);
  ASSERT_NO_FATAL_FAILURE(ExpectRefusal(logs_.front()));
}

// RocksDB would leave out the writes behind its last whole record.
TEST_F(DamagedLog, ThatOthersFollowEndsWithAWholeRecord) {
  for (size_t i = 0; i + 1 < logs_.size(); ++i) {
    const std::string bytes = Bytes(logs_[i]);
    const std::vector<size_t> records = RecordsOf(bytes);
    for (const size_t end : {records[5] + 9, bytes.size() - 1}) {
      SCOPED_TRACE(logs_[i] + " cut to " + std::to_string(end));
      Replace(logs_[i], bytes.substr(0, end));
      ASSERT_NO_FATAL_FAILURE(ExpectRefusal(logs_[i]));
    }
    // RocksDB 11.8.1 reads a log with the second of these for ever.
    if (ROCKSDB_MAJOR > 7) continue;
    for (const size_t at : {records[0] + 6, records[4] + 6, records[4] + 5}) {
      SCOPED_TRACE(logs_[i] + ", byte " + std::to_string(at));
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 4);
      Replace(logs_[i], damaged);
      ASSERT_NO_FATAL_FAILURE(ExpectRefusal(logs_[i]));
    }
  }
}

// RocksDB stops with an assertion (7.8.3 with assertions, as Debian's), or
// names the store (11.8.1).
TEST_F(DamagedLog, InThePlaceOfAnotherIsNamed) {
  Replace(logs_[0], Bytes(logs_[1]));
  WriteFile(path_ + "/" + logs_[1], Bytes(logs_[0]));
  ASSERT_NO_FATAL_FAILURE(ExpectRefusal(logs_[1]));
}

// A second process that writes to the log of the first one leaves such a log.
TEST_F(DamagedLog, WithAChangeTwiceIsNamed) {
  const std::string bytes = Bytes(logs_.back());
  Replace(logs_.back(), bytes + bytes.substr(RecordsOf(bytes).back()));
  ASSERT_NO_FATAL_FAILURE(ExpectRefusal(logs_.back()));
}

// The last log may end anywhere, as after a crash.
TEST_F(DamagedLog, ThatIsTheLastMayLackItsEnd) {
  const std::string bytes = Bytes(logs_.back());
  for (const size_t end : {size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    Replace(logs_.back(), bytes.substr(0, end));
    EXPECT_THAT(Open(), IsOk());
  }
}

TEST_F(Damage, CurrentWithAWrongByteIsNamed) {
  const std::string bytes = Bytes("CURRENT");
  for (size_t at = 0; at < bytes.size(); ++at) {
    SCOPED_TRACE(at);
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    Replace("CURRENT", damaged);
    // The error may also name the file that CURRENT names now.
    EXPECT_THAT(Open().ToString(),
                AnyOf(HasSubstr("CURRENT"), HasSubstr(path_ + "/MANIFEST-")));
  }
}

TEST_F(Damage, CurrentThatNamesAnotherFileIsNamed) {
  for (const std::string& file : Files("")) {
    if (file.starts_with("MANIFEST-")) continue;
    SCOPED_TRACE(file);
    Replace("CURRENT", file + "\n");
    const Status error = Open();
    EXPECT_FALSE(error.IsTryAgain());
    EXPECT_THAT(
        error.ToString(),
        AllOf(HasSubstr(path_), AnyOf(HasSubstr("CURRENT"), HasSubstr(file))));
  }
}

// A wrong bit in an SST is found when the file is opened, or by the read that
// meets it, or hits what nobody reads. No answer is wrong.
TEST_F(Damage, WrongBitInAnSstIsFoundWhereItIsRead) {
  int refused = 0;
  int failed = 0;
  for (const std::string& file : Files(".sst")) {
    const std::string bytes = Bytes(file);
    for (size_t at = 7; at < bytes.size(); at += 173 * Stride(3)) {
      SCOPED_TRACE(file + " byte " + std::to_string(at));
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 16);
      Replace(file, damaged);
      const Status error = Open();
      if (!error.ok()) {
        EXPECT_THAT(error.ToString(), HasSubstr(path_ + "/" + file));
        ++refused;
        continue;
      }
      std::vector<Row> rows;
      RowScanner scan = ScanOf(*store_);
      for (const Row& row : scan) rows.push_back(row);
      if (scan.status().ok()) {
        EXPECT_TRUE(rows == rows_);
      } else {
        EXPECT_THAT(scan.status(),
                    StatusIs(Status::kCorruption, HasSubstr(file)));
        ++failed;
      }
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(failed, 0);
}

// Walks over the cells of a family, and returns why it ended.
Status Walk(Store* store, const CellIteratorOptions& options) {
  std::unique_ptr<CellIterator> cells;
  Status s = store->NewCellIterator(options, &cells);
  while (s.ok() && cells->Valid()) cells->Next();
  return s.ok() ? cells->status() : s;
}

// RocksDB (7.8.3) forgets that it could not read the first block of a file when
// it comes from the file before, and goes on with other levels, unless it is
// told to ignore range deletions.
TEST_F(Damage, FirstBlockOfAFileFailsTheReadOfARow) {
  std::vector<FamilyDescriptor> families = kFamilies;
  for (FamilyDescriptor& family : families) {
    family.options.compression = Compression::kNone;
  }
  std::filesystem::remove_all(sound_);
  {
    const auto store =
        OpenOrFail({.file_bytes = size_t{64} << 10}, sound_, families);
    const std::string value(1000, 'v');
    for (uint64_t i = 0; i < 200; ++i) {
      const std::string qualifier = std::to_string(i);
      ASSERT_THAT(store->Put("row", "latest", qualifier, value), IsOk());
      ASSERT_THAT(
          store->Put("row", "client", qualifier, value, {.timestamp_ms = i}),
          IsOk());
    }
    ASSERT_THAT(store->Compact(), IsOk());
  }
  std::map<std::string, int> files;  // of each family
  for (const std::string& file : Files(".sst")) {
    rocksdb::SstFileReader reader((rocksdb::Options()));
    ASSERT_THAT(reader.Open(sound_ + "/" + file), IsOk());
    const std::string family = reader.GetTableProperties()->column_family_name;
    if (family == "default") continue;  // the records
    SCOPED_TRACE(file);
    ++files[family];
    std::string damaged = Bytes(file);
    damaged[100] = static_cast<char>(damaged[100] ^ 1);
    Replace(file, damaged);
    ASSERT_THAT(Open(), IsOk());
    const auto is_named = StatusIs(Status::kCorruption, HasSubstr(file));
    EXPECT_THAT(Walk(store_.get(), {.family = family}), is_named);
    std::vector<Cell> cells;
    EXPECT_THAT(store_->GetRow("row", &cells), is_named);
    for (const bool reverse : {false, true}) {
      ScanCounts counts;
      EXPECT_THAT(store_->Count({.reverse = reverse}, &counts), is_named);
    }
  }
  EXPECT_GE(files["client"], 2);
  EXPECT_GE(files["latest"], 2);
}

// RocksDB (7.8.3) forgets the damage where it skips the keys of a row delete,
// and goes on with what an older file has. Who copies cells is told, from a
// deleted row on, too, which the file's filter does not have.
TEST_F(Damage, BlockBesideARowDeleteFailsACellIterator) {
  std::filesystem::remove_all(sound_);
  {
    const auto store = OpenOrFail({}, sound_, {{"latest", {}}});
    for (const char* value : {"old", "new"}) {
      for (uint64_t i = 0; i < kRows; ++i) {
        ASSERT_THAT(store->Put(std::to_string(i), "latest", "q", value),
                    IsOk());
      }
      if (value == std::string("new")) {
        ASSERT_THAT(store->DeleteRow("0"), IsOk());
        for (int i = 10; i < 20; ++i) {
          ASSERT_THAT(store->DeleteRow(std::to_string(i)), IsOk());
        }
      }
      ASSERT_THAT(store->Flush(), IsOk());
    }
  }
  std::string file;  // the one with the row delete
  for (const std::string& sst : Files(".sst")) {
    rocksdb::SstFileReader reader((rocksdb::Options()));
    ASSERT_THAT(reader.Open(sound_ + "/" + sst), IsOk());
    if (reader.GetTableProperties()->num_range_deletions > 0) file = sst;
  }
  ASSERT_FALSE(file.empty());
  std::string damaged = Bytes(file);
  damaged[100] = static_cast<char>(damaged[100] ^ 1);
  Replace(file, damaged);
  ASSERT_THAT(Open(), IsOk());
  EXPECT_THAT(Walk(store_.get(), {.family = "latest"}),
              StatusIs(Status::kCorruption, HasSubstr(file)));
  for (int i = 10; i < 20; ++i) {
    EXPECT_THAT(Walk(store_.get(),
                     {.family = "latest", .start_row = std::to_string(i)}),
                StatusIs(Status::kCorruption, HasSubstr(file)));
  }
  // Rows that the file does not have can be copied.
  EXPECT_THAT(Walk(store_.get(), {.family = "latest", .start_row = "a"}),
              IsOk());
}

TEST_F(Damage, RecordsAreNamed) {
  for (const char* record : {"store", "family/latest", "clock"}) {
    for (const char* value : {"", "{", "[]", "\xff"}) {
      SCOPED_TRACE(std::string(record) + " is " + value);
      Replace("LOCK", "");
      ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "default", record, value));
      EXPECT_THAT(
          Open(),
          StatusIs(Status::kCorruption,
                   AllOf(HasSubstr(path_),
                         HasSubstr("record \"" + std::string(record) + "\""))));
    }
  }
}

}  // namespace
}  // namespace rowbloom::test::damage_test
