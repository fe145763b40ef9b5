// Arming: files are read in the background, and reads are right meanwhile.
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/sst_file_writer.h"
#include "rowbloom/front_filter.h"
#include "tests/storage/filter_policy/front_filter/all_listed.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace rowbloom {
namespace {

using rocksdb::ColumnFamilyHandle;
using rocksdb::IOStatus;
using rocksdb::Slice;
using test::ExpectOk;

constexpr int kFiles = 20;
constexpr int kRowsOfFile = 10;

std::string RowAt(int row) { return "row" + std::to_string(1'000 + row) + ":"; }

// Each SST of a database is opened twice: by RocksDB, which keeps it open, and
// then by the front filter. The second time waits at a gate, or fails.
class Gate final : public rocksdb::FileSystemWrapper {
 public:
  explicit Gate(std::string folder)
      : FileSystemWrapper(rocksdb::FileSystem::Default()),
        folder_(std::move(folder)) {}
  const char* Name() const override { return "Gate"; }

  IOStatus NewRandomAccessFile(
      const std::string& path, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
      rocksdb::IODebugContext* context) override {
    if (path.starts_with(folder_) && path.ends_with(".sst")) {
      std::unique_lock lock(mutex_);
      if (++opened_[path] == 2) {
        ++read_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_; });
        if (fails_) return IOStatus::IOError(path, "cannot be opened");
      }
    }
    return FileSystemWrapper::NewRandomAccessFile(path, options, file, context);
  }

  // Before a database is opened.
  void Close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
    opened_.clear();
    read_ = 0;
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Fail() {
    const std::lock_guard lock(mutex_);
    fails_ = true;
  }
  // Waits until the front filter reads a file.
  void WaitForReader() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return read_ > 0; });
  }
  // The number of files that the front filter has opened.
  int read() const {
    const std::lock_guard lock(mutex_);
    return read_;
  }

 private:
  const std::string folder_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  bool fails_ = false;
  std::map<std::string, int> opened_;
  int read_ = 0;
};

class ArmingTest : public testing::Test {
 protected:
  ArmingTest() {
    const auto db = test::OpenDb(Options(), path_);
    for (int file = 0; file < kFiles; ++file) {
      for (int i = 0; i < kRowsOfFile; ++i) {
        const std::string row = RowAt(file * kRowsOfFile + i);
        ExpectOk(db->Put({}, row + "a", row));
      }
      ExpectOk(db->Flush({}));
    }
    ExpectOk(db->Close());
    gate_->Close();
  }
  ~ArmingTest() override { gate_->Open(); }

  rocksdb::Options Options() {
    auto options = test::DelimitedDbOptions();
    options.env = env_.get();
    options.max_open_files = -1;
    return options;
  }
  void Open() {
    db_.reset();
    ExpectOk(OpenWithFrontFilter({}, Options(), path_, &db_));
    filter_ = db_->front_filter();
  }
  FrontFilterFamilyStats Family() { return filter_->Stats().families.at(0); }
  bool MayHave(const std::string& row) {
    return filter_->MayHaveRow(db_->DefaultColumnFamily(), row);
  }
  // By each way to ask.
  void ExpectRow(const std::string& row, bool there) {
    SCOPED_TRACE(row);
    const std::string key = row + "a";
    std::string value;
    EXPECT_EQ(db_->Get({}, key, &value).ok(), there);
    const std::vector<Slice> keys = {"absent:a", key};
    std::vector<std::string> values;
    const auto statuses = db_->MultiGet({}, keys, &values);
    EXPECT_TRUE(statuses[0].IsNotFound());
    EXPECT_EQ(statuses[1].ok(), there);
    bool exists = !there;
    ExpectOk(db_->RowExists({}, db_->DefaultColumnFamily(), row, &exists));
    EXPECT_EQ(exists, there);
    const std::unique_ptr<rocksdb::Iterator> it(
        db_->NewIterator(test::SamePrefix()));
    it->Seek(row);
    EXPECT_EQ(it->Valid(), there);
    ExpectOk(it->status());
    EXPECT_TRUE(!there || MayHave(row));
  }

  test::TempDir dir_;
  const std::string path_ = dir_.File("db");
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>(path_);
  const std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(gate_);
  std::unique_ptr<FrontFilterDB> db_;
  FrontFilter* filter_ = nullptr;  // of db_
};

TEST_F(ArmingTest, OpeningDoesNotWaitForFiles) {
  Open();
  gate_->WaitForReader();
  EXPECT_EQ(Family().state, FrontFilterState::kArming);
  EXPECT_TRUE(MayHave("absent:"));
  for (int row = 0; row < kFiles * kRowsOfFile; row += 7) {
    ExpectRow(RowAt(row), true);
  }
  ExpectRow("absent:", false);
  EXPECT_EQ(Family().state, FrontFilterState::kArming);
  EXPECT_EQ(filter_->Stats().asked, 0);
  EXPECT_EQ(gate_->read(), 1);

  gate_->Open();
  filter_->WaitUntilArmed();
  EXPECT_EQ(Family().state, FrontFilterState::kArmed);
  EXPECT_EQ(Family().files_known, kFiles);
  EXPECT_EQ(gate_->read(), kFiles);
  EXPECT_FALSE(MayHave("absent:"));
  for (int row = 0; row < kFiles * kRowsOfFile; ++row) {
    ExpectRow(RowAt(row), true);
  }
  ExpectRow("absent:", false);
  EXPECT_GT(filter_->Stats().answered, 3);
}

// Whatever happens meanwhile neither waits nor is forgotten.
TEST_F(ArmingTest, TheDatabaseChangesMeanwhile) {
  Open();
  gate_->WaitForReader();
  std::vector<std::string> rows;
  const auto put = [&](const std::string& row) {
    rows.push_back(row);
    ExpectOk(db_->Put({}, row + "a", "v"));
    ExpectRow(row, true);
  };
  for (int i = 0; i < 5; ++i) {
    put("flushed" + std::to_string(i) + ":");
    ExpectOk(db_->Flush({}));
  }
  const std::string end = RowAt(15 * kRowsOfFile - 1);  // of file 15
  const Slice limit(end);
  ExpectOk(db_->CompactRange({}, nullptr, &limit));
  rows.push_back("ingested:");
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), Options());
  ExpectOk(writer.Open(dir_.File("new.sst")));
  ExpectOk(writer.Put("ingested:a", "v"));
  ExpectOk(writer.Finish());
  ExpectOk(db_->IngestExternalFile({dir_.File("new.sst")}, {}));
  put("in a memtable:");
  ColumnFamilyHandle* family = nullptr;
  ExpectOk(db_->CreateColumnFamily(Options(), "other", &family));
  EXPECT_TRUE(filter_->MayHaveRow(family, "absent:"));
  EXPECT_EQ(Family().state, FrontFilterState::kArming);

  gate_->Open();
  filter_->WaitUntilArmed();
  const auto expect_all = [&] {
    for (const std::string& row : rows) ExpectRow(row, true);
    for (int row = 0; row < kFiles * kRowsOfFile; ++row) {
      ExpectRow(RowAt(row), true);
    }
    ExpectRow("absent:", false);
  };
  expect_all();
  test::WaitUntilAllListed(db_.get());
  expect_all();
  EXPECT_EQ(Family().state, FrontFilterState::kArmed);
  EXPECT_FALSE(MayHave("absent:"));
  EXPECT_FALSE(filter_->MayHaveRow(family, "absent:"));
  ExpectOk(db_->DestroyColumnFamilyHandle(family));
}

// No other event comes than that files are deleted.
TEST_F(ArmingTest, FilesThatAreDeletedMeanwhileGo) {
  Open();
  gate_->WaitForReader();
  ExpectOk(db_->CompactRange({}, nullptr, nullptr));
  gate_->Open();
  filter_->WaitUntilArmed();
  test::WaitUntilAllListed(db_.get());

  gate_->Close();
  Open();
  gate_->WaitForReader();
  ExpectOk(rocksdb::DeleteFilesInRange(
      db_->GetRootDB(), db_->DefaultColumnFamily(), nullptr, nullptr));
  gate_->Open();
  filter_->WaitUntilArmed();
  test::WaitUntilAllListed(db_.get());
  ExpectRow(RowAt(0), false);
  EXPECT_FALSE(MayHave(RowAt(0)));
}

// However it ends, no file is read but the one that was begun.
TEST_F(ArmingTest, EndsWithoutTheOtherFiles) {
  const std::pair<const char*, void (*)(FrontFilter*, FrontFilterDB*)> ways[] =
      {{"detached",
        [](FrontFilter* filter, FrontFilterDB*) { filter->Detach(); }},
       {"closed",
        [](FrontFilter*, FrontFilterDB* db) { ExpectOk(db->Close()); }},
       {"closed below", [](FrontFilter*, FrontFilterDB* db) {
          ExpectOk(db->GetRootDB()->Close());
        }}};
  for (const auto& [name, end] : ways) {
    SCOPED_TRACE(name);
    gate_->Close();
    Open();
    gate_->WaitForReader();
    std::thread waiting([this] { filter_->WaitUntilArmed(); });
    std::thread ending([this, end = end] { end(filter_, db_.get()); });
    EXPECT_TRUE(test::WaitFor(
        [this] { return Family().state == FrontFilterState::kDisarmed; }));
    waiting.join();
    gate_->Open();
    ending.join();
    EXPECT_EQ(gate_->read(), 1);
    EXPECT_EQ(filter_->Stats().bytes, 0);
    EXPECT_EQ(Family().why, "its handle is gone");
    db_.reset();
  }
}

// Nor are files of families that are read after this one.
TEST_F(ArmingTest, EndsWithoutTheFilesOfOtherFamilies) {
  gate_->Open();
  std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {"default", Options()}};
  auto db = test::OpenDb(Options(), path_);
  for (const std::string name : {"one", "two", "three", "four"}) {
    ColumnFamilyHandle* handle = nullptr;
    ExpectOk(db->CreateColumnFamily(Options(), name, &handle));
    ExpectOk(db->Put({}, handle, "row:a", "v"));
    ExpectOk(db->Flush({}, handle));
    ExpectOk(db->DestroyColumnFamilyHandle(handle));
    families.emplace_back(name, Options());
  }
  db.reset();
  gate_->Close();
  std::vector<ColumnFamilyHandle*> handles;
  ExpectOk(OpenWithFrontFilter({}, Options(), path_, families, &handles, &db_));
  filter_ = db_->front_filter();
  gate_->WaitForReader();
  std::thread ending([this] { filter_->Detach(); });
  EXPECT_TRUE(test::WaitFor(
      [this] { return Family().state == FrontFilterState::kDisarmed; }));
  gate_->Open();
  ending.join();
  EXPECT_EQ(gate_->read(), 1);
  for (ColumnFamilyHandle* handle : handles) {
    ExpectOk(db_->DestroyColumnFamilyHandle(handle));
  }
}

TEST_F(ArmingTest, FilesThatCannotBeReadAreUnknown) {
  gate_->Open();
  gate_->Fail();
  Open();
  filter_->WaitUntilArmed();
  EXPECT_EQ(Family().state, FrontFilterState::kArmed);
  EXPECT_EQ(Family().files_unknown, kFiles);
  ExpectRow(RowAt(3), true);
  EXPECT_TRUE(MayHave("row1003x:"));
  EXPECT_FALSE(MayHave("zzz:"));
}

}  // namespace
}  // namespace rowbloom
