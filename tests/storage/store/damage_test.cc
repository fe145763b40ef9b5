// A store with a damaged file is refused with one error that names the file,
// and every byte of it stays as it is, for whoever is to repair it. Damage that
// only a read can find is an error of that read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/store/test_store.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/stride.h"

namespace rowbloom::test::damage_test {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

const std::vector<FamilyDescriptor> kFamilies = {
    {"client", {.timestamps = Timestamps::kClient, .max_versions = 2}},
    {"latest", {}},
};
constexpr uint64_t kRows = 50;

// All cells of a store, or why they cannot be read.
Status ReadAll(Store* store, std::vector<Row>* rows) {
  rows->clear();
  RowScanner scan = ScanOf(*store);
  for (const Row& row : scan) rows->push_back(row);
  return scan.status();
}

class Damage : public ::testing::Test {
 protected:
  // Two SSTs for each family and one for the records.
  void SetUp() override {
    const auto store = OpenOrFail({.env = env_.get()}, sound_, kFamilies);
    ASSERT_NE(store, nullptr);
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
    ASSERT_THAT(ReadAll(store.get(), &rows_), IsOk());
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

  // Opens the copy for writing and for reading. Returns true when both succeed;
  // otherwise both must give the same reason and change no data.
  bool Opens(std::unique_ptr<Store>* store, Status* error) {
    const auto before = Data();
    *error = OpenStore({.env = env_.get()}, path_, {}, SystemWallClock, store);
    if (error->ok()) return true;
    EXPECT_TRUE(Data() == before) << error->ToString();
    EXPECT_EQ(*store, nullptr);
    const Status reading = Store::Open({.read_only = true}, path_, {}, store);
    EXPECT_EQ(reading.ToString(), error->ToString());
    EXPECT_TRUE(Data() == before) << error->ToString();
    return false;
  }

  void ExpectRefusal(const std::string& file) {
    std::unique_ptr<Store> store;
    Status error;
    ASSERT_FALSE(Opens(&store, &error));
    EXPECT_THAT(error.ToString(), AllOf(HasSubstr(path_), HasSubstr(file)));
    EXPECT_TRUE(error.IsCorruption() || error.IsIOError() ||
                error.IsNotFound() || error.IsInvalidArgument())
        << error.ToString();
  }

  FaultPlan no_faults_;
  // Does not wait for the disk.
  const std::unique_ptr<rocksdb::Env> env_ = NewFaultEnv(&no_faults_);
  TempDir dir_;
  const std::string sound_ = dir_.File("sound");
  const std::string path_ = dir_.File("db");
  std::vector<Row> rows_;  // the sound store's
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

TEST_F(Damage, EmptyFilesAreNamed) {
  for (const char* part : {"CURRENT", "MANIFEST-", ".sst"}) {
    for (const std::string& file : Files(part)) {
      SCOPED_TRACE(file);
      Replace(file, "");
      ASSERT_NO_FATAL_FAILURE(ExpectRefusal(file));
    }
  }
}

TEST_F(Damage, OverwrittenFilesAreNamed) {
  for (const char* part : {"CURRENT", "MANIFEST-", ".sst"}) {
    for (const std::string& file : Files(part)) {
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
  int opened = 0;
  const std::string file = Files("MANIFEST-").front();
  const std::string bytes = Bytes(file);
  for (size_t left = 0; left < bytes.size(); left += 5 * Stride(5)) {
    SCOPED_TRACE(file + " cut to " + std::to_string(left));
    Replace(file, bytes.substr(0, left));
    std::unique_ptr<Store> store;
    Status error;
    if (!Opens(&store, &error)) {
      EXPECT_THAT(error,
                  StatusIs(Status::kCorruption, HasSubstr(path_ + "/" + file)));
      continue;
    }
    // The bytes that were cut off held no change.
    ++opened;
    std::vector<Row> rows;
    ASSERT_THAT(ReadAll(store.get(), &rows), IsOk());
    ASSERT_TRUE(rows == rows_);
  }
  EXPECT_LT(opened, 10);
}

// A family has files with what came after the damage of a log that another one
// needs: without the end of the log the two would not fit.
TEST_F(Damage, LogThatEndsBeforeWhatAFileHasIsRefused) {
  std::filesystem::remove_all(sound_);
  {
    const StoreOptions options = {.write_buffer_bytes = size_t{64} << 10,
                                  .env = env_.get()};
    const auto store = OpenOrFail(options, sound_, kFamilies);
    ASSERT_NE(store, nullptr);
    ASSERT_THAT(store->Put("r", "client", "q", "v", {.timestamp_ms = 1}),
                IsOk());
    for (int i = 0; i < 200; ++i) {
      ASSERT_THAT(
          store->Put(std::to_string(i), "latest", "q", std::string(1000, 'v')),
          IsOk());
    }
  }
  const std::string log = Files(".log").front();
  std::string bytes = Bytes(log);
  bytes[bytes.size() / 2] ^= 1;
  Replace(log, bytes);
  std::unique_ptr<Store> store;
  Status error;
  ASSERT_FALSE(Opens(&store, &error));
  EXPECT_THAT(error, StatusIs(Status::kCorruption,
                              AllOf(HasSubstr(path_), HasSubstr("WAL"))));
}

TEST_F(Damage, CurrentWithAWrongByteIsNamed) {
  const std::string bytes = Bytes("CURRENT");
  for (size_t at = 0; at < bytes.size(); ++at) {
    SCOPED_TRACE(at);
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    Replace("CURRENT", damaged);
    std::unique_ptr<Store> store;
    Status error;
    ASSERT_FALSE(Opens(&store, &error));
    // The error may also name the file that CURRENT names now.
    EXPECT_THAT(error.ToString(),
                AnyOf(HasSubstr("CURRENT"), HasSubstr(path_ + "/MANIFEST-")));
  }
}

TEST_F(Damage, CurrentThatNamesAnotherFileIsNamed) {
  for (const std::string& file : Files("")) {
    if (file.starts_with("MANIFEST-")) continue;
    SCOPED_TRACE(file);
    Replace("CURRENT", file + "\n");
    std::unique_ptr<Store> store;
    Status error;
    ASSERT_FALSE(Opens(&store, &error));
    EXPECT_FALSE(error.IsTryAgain());
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
      std::unique_ptr<Store> store;
      Status error;
      if (!Opens(&store, &error)) {
        EXPECT_THAT(error.ToString(), HasSubstr(path_ + "/" + file));
        ++refused;
        continue;
      }
      std::vector<Row> rows;
      error = ReadAll(store.get(), &rows);
      if (error.ok()) {
        EXPECT_TRUE(rows == rows_);
      } else {
        EXPECT_THAT(error, StatusIs(Status::kCorruption, HasSubstr(file)));
        ++failed;
      }
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(failed, 0);
}

TEST_F(Damage, RecordsAreNamed) {
  for (const char* record : {"store", "family/latest", "clock"}) {
    for (const char* value : {"", "{", "[]", "\xff"}) {
      SCOPED_TRACE(std::string(record) + " is " + value);
      Replace("LOCK", "");
      ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "default", record, value));
      std::unique_ptr<Store> store;
      Status error;
      ASSERT_FALSE(Opens(&store, &error));
      EXPECT_THAT(
          error,
          StatusIs(Status::kCorruption,
                   AllOf(HasSubstr(path_),
                         HasSubstr("record \"" + std::string(record) + "\""))));
    }
  }
}

}  // namespace
}  // namespace rowbloom::test::damage_test
