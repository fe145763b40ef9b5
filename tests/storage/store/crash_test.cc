// A creation that is cut short anywhere is completed by the next open, and a
// log that is cut short anywhere loses whole batches only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "storage/store/metadata.h"
#include "tests/storage/store/test_store.h"

namespace rowbloom::test {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;
using rocksdb::Status;
using ::testing::HasSubstr;

// Counts what changes files and, from one such call on, lets nothing change any
// more: the disk as it is when the process dies there. Nothing waits for the
// disk, since it is processes that die here, not machines.
class PowerSwitch {
 public:
  explicit PowerSwitch(uint64_t calls_until_off)
      : calls_left_(calls_until_off) {}

  IOStatus Allow() {
    if (calls_left_ == 0) {
      was_off_ = true;
      return IOStatus::IOError("power is off");
    }
    --calls_left_;
    return IOStatus::OK();
  }
  bool was_off() const { return was_off_; }

 private:
  std::atomic<uint64_t> calls_left_;
  std::atomic<bool> was_off_{false};
};

class MortalDirectory : public rocksdb::FSDirectoryWrapper {
 public:
  MortalDirectory(std::unique_ptr<rocksdb::FSDirectory> directory,
                  PowerSwitch* power)
      : FSDirectoryWrapper(std::move(directory)), power_(power) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return power_->Allow();
  }
  IOStatus FsyncWithDirOptions(const IOOptions&, IODebugContext*,
                               const rocksdb::DirFsyncOptions&) override {
    return power_->Allow();
  }

 private:
  PowerSwitch* const power_;
};

class MortalFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  MortalFile(std::unique_ptr<rocksdb::FSWritableFile> file, PowerSwitch* power)
      : FSWritableFileOwnerWrapper(std::move(file)), power_(power) {}

  IOStatus Append(const Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    const IOStatus s = power_->Allow();
    return s.ok() ? FSWritableFileOwnerWrapper::Append(data, options, debug)
                  : s;
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& verification,
                  IODebugContext* debug) override {
    const IOStatus s = power_->Allow();
    return s.ok() ? FSWritableFileOwnerWrapper::Append(data, options,
                                                       verification, debug)
                  : s;
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    return power_->Allow();
  }

 private:
  PowerSwitch* const power_;
};

class MortalFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit MortalFileSystem(PowerSwitch* power)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), power_(power) {}

  const char* Name() const override { return "MortalFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* debug) override {
    IOStatus s = power_->Allow();
    if (!s.ok()) return s;
    std::unique_ptr<rocksdb::FSWritableFile> target;
    s = FileSystemWrapper::NewWritableFile(name, options, &target, debug);
    if (s.ok()) {
      *file = std::make_unique<MortalFile>(std::move(target), power_);
    }
    return s;
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* directory,
                        IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSDirectory> target;
    const IOStatus s =
        FileSystemWrapper::NewDirectory(name, options, &target, debug);
    if (s.ok()) {
      *directory = std::make_unique<MortalDirectory>(std::move(target), power_);
    }
    return s;
  }
  IOStatus CreateDirIfMissing(const std::string& name, const IOOptions& options,
                              IODebugContext* debug) override {
    const IOStatus s = power_->Allow();
    return s.ok() ? FileSystemWrapper::CreateDirIfMissing(name, options, debug)
                  : s;
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    const IOStatus s = power_->Allow();
    return s.ok() ? FileSystemWrapper::DeleteFile(name, options, debug) : s;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to,
                      const IOOptions& options,
                      IODebugContext* debug) override {
    const IOStatus s = power_->Allow();
    return s.ok() ? FileSystemWrapper::RenameFile(from, to, options, debug) : s;
  }

 private:
  PowerSwitch* const power_;
};

// A disk whose power goes after that many changes.
struct MortalDisk {
  explicit MortalDisk(uint64_t calls_until_off) : power(calls_until_off) {}

  PowerSwitch power;
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<MortalFileSystem>(&power));
  const Surroundings surroundings = {.env = env.get()};
};

constexpr uint64_t kNever = UINT64_MAX;

// Opens a store on a disk whose power goes after that many changes. Returns
// whether it went before the store was open and closed again.
bool PowerGoesDuringOpen(uint64_t calls_until_off, const std::string& path,
                         const std::vector<FamilyDescriptor>& families) {
  MortalDisk disk(calls_until_off);
  std::unique_ptr<Store> store;
  const Status s = OpenStore({}, path, families, disk.surroundings, &store);
  const bool went = disk.power.was_off();
  if (!went) {
    EXPECT_THAT(s, IsOk());
  }
  store.reset();
  return went;
}

void ExpectUsable(const std::string& path,
                  const std::vector<FamilyDescriptor>& families) {
  MortalDisk disk(kNever);
  const auto store = OpenOrFail({}, path, families, disk.surroundings);
  ASSERT_NE(store, nullptr);
  for (const FamilyDescriptor& family : families) {
    EXPECT_EQ(store->Families().at(family.name), family.options);
    EXPECT_THAT(store->Put("new", family.name, "q", "v"), IsOk());
    std::string value;
    EXPECT_THAT(store->Get("new", family.name, "q", &value), IsOk());
  }
  EXPECT_FALSE(std::filesystem::exists(path + "/" + kCreationMark));
}

TEST(InterruptedCreation, OfAStoreIsCompletedByTheNextOpen) {
  const std::vector<FamilyDescriptor> families = {{"a", {}}, {"b", {}}};
  uint64_t calls = 0;
  for (bool went = true; went; ++calls) {
    SCOPED_TRACE("power off after " + std::to_string(calls) + " changes");
    const TempDir dir;
    const std::string path = dir.File("db");
    went = PowerGoesDuringOpen(calls, path, families);
    ASSERT_NO_FATAL_FAILURE(ExpectUsable(path, families));
  }
  EXPECT_GT(calls, 20u);  // each step of the creation was cut short
}

TEST(InterruptedCreation, OfAStoreMayBeCompletedWithOtherOptions) {
  uint64_t calls = 0;
  for (bool went = true; went; ++calls) {
    SCOPED_TRACE("power off after " + std::to_string(calls) + " changes");
    const TempDir dir;
    const std::string path = dir.File("db");
    went = PowerGoesDuringOpen(calls, path, {{"a", {}}});
    if (!went) break;
    // A reader finds either no store or a whole one.
    std::unique_ptr<Store> reader;
    const Status s = Store::Open({.read_only = true}, path, {}, &reader);
    EXPECT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
    const bool is_complete = s.ok() && reader->Families().contains("a");
    reader.reset();
    if (is_complete) continue;
    ASSERT_NO_FATAL_FAILURE(
        ExpectUsable(path, {{"a", {.bloom_type = BloomType::kRow}}}));
  }
  EXPECT_GT(calls, 20u);
}

TEST(InterruptedCreation, OfAFamilyIsCompletedByTheNextOpen) {
  uint64_t calls = 0;
  for (bool went = true; went; ++calls) {
    SCOPED_TRACE("power off after " + std::to_string(calls) + " changes");
    const TempDir dir;
    const std::string path = dir.File("db");
    MortalDisk disk(kNever);
    {
      const auto store = OpenOrFail({}, path, {{"a", {}}}, disk.surroundings);
      ASSERT_NE(store, nullptr);
      ASSERT_THAT(store->Put("old", "a", "q", "kept"), IsOk());
    }
    went = PowerGoesDuringOpen(calls, path, {{"b", {}}});
    // Whether it is listed or not.
    if (calls % 2 == 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectUsable(path, {}));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectUsable(path, {{"b", {}}}));
    const auto store = OpenOrFail({}, path, {}, disk.surroundings);
    ASSERT_NE(store, nullptr);
    std::string value;
    ASSERT_THAT(store->Get("old", "a", "q", &value), IsOk());
    EXPECT_EQ(value, "kept");
  }
  EXPECT_GT(calls, 20u);
}

TEST(InterruptedCreation, FamilyRecordWithoutColumnFamilyIsAnEmptyFamily) {
  const TempDir dir;
  const std::string path = dir.File("db");
  { ASSERT_NE(OpenOrFail({}, path, {{"a", {}}}), nullptr); }
  {
    Database database;
    ASSERT_NO_FATAL_FAILURE(OpenRaw(path, &database));
    ASSERT_THAT(database->DropColumnFamily(database.Find("a")), IsOk());
  }
  // A reader cannot complete it: the family is not there yet.
  {
    const auto reader = OpenOrFail({.read_only = true}, path, {});
    ASSERT_NE(reader, nullptr);
    EXPECT_TRUE(reader->Families().empty());
  }
  ASSERT_NO_FATAL_FAILURE(
      ExpectUsable(path, {{"a", {.compression = Compression::kNone}}}));
}

TEST(InterruptedCreation, MarkedDatabaseWithoutRecordsIsNoForeignOne) {
  const TempDir dir;
  const std::string path = dir.File("db");
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* db = nullptr;
  ASSERT_THAT(rocksdb::DB::Open(options, path, &db), IsOk());
  delete db;
  std::ofstream(path + "/" + kCreationMark).flush();
  std::unique_ptr<Store> store;
  EXPECT_THAT(
      Store::Open({.read_only = true}, path, {}, &store),
      StatusIs(Status::kNotFound, HasSubstr("its creation was interrupted")));
  EXPECT_THAT(
      Store::Open({.create_if_missing = false}, path, {}, &store),
      StatusIs(Status::kNotFound, HasSubstr("its creation was interrupted")));
  ASSERT_NO_FATAL_FAILURE(ExpectUsable(path, {{"a", {}}}));
}

// The log file of a store, which must have one with content.
std::string LogFile(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".log" && entry.file_size() > 0) {
      return entry.path().string();
    }
  }
  ADD_FAILURE() << "no log in " << path;
  return {};
}

TEST(TornLog, LosesWholeBatchesFromTheEndAndNotTheClock) {
  constexpr int kBatches = 12;
  const TempDir dir;
  const std::string path = dir.File("db");
  // Closed once, so that the log has nothing but the batches.
  { ASSERT_NE(OpenOrFail({}, path, {{"a", {}}, {"b", {}}}), nullptr); }
  MortalDisk disk(kNever);
  Surroundings surroundings = disk.surroundings;
  uint64_t now = SystemWallClock();
  surroundings.wall_clock = [&now] { return now; };
  const auto store = OpenOrFail({}, path, {}, surroundings);
  ASSERT_NE(store, nullptr);
  for (int i = 0; i < kBatches; ++i) {
    WriteBatch batch;
    batch.Put(std::to_string(i), "a", "q", "v");
    batch.Put(std::to_string(i), "b", "q", "v");
    ASSERT_THAT(store->Write(batch), IsOk());
    now += 400;  // every third write carries a new bound
  }
  now -= 3'600'000;

  const auto log_bytes = std::filesystem::file_size(LogFile(path));
  int most_batches = 0;
  for (uintmax_t cut = 0; cut <= log_bytes; cut += 17) {
    SCOPED_TRACE("log cut to " + std::to_string(cut) + " bytes");
    const TempDir trial;
    const std::string copy = trial.File("db");
    std::filesystem::copy(path, copy);
    std::filesystem::resize_file(LogFile(copy), cut);
    const auto torn = OpenOrFail({}, copy, {}, surroundings);
    ASSERT_NE(torn, nullptr);
    uint64_t last_timestamp_ms = 0;
    int batches = 0;
    for (int i = 0; i < kBatches; ++i) {
      std::vector<Cell> cells;
      ASSERT_THAT(torn->GetRow(std::to_string(i), &cells), IsOk());
      ASSERT_TRUE(cells.empty() || cells.size() == 2) << cells.size();
      if (cells.empty()) continue;
      ASSERT_EQ(batches, i) << "a batch is missing before this one";
      ++batches;
      last_timestamp_ms = cells.back().timestamp_ms;
    }
    most_batches = std::max(most_batches, batches);
    ASSERT_THAT(torn->Put("new", "a", "q", "v"), IsOk());
    Cell cell;
    ASSERT_THAT(torn->GetCell("new", "a", "q", &cell), IsOk());
    EXPECT_GE(cell.timestamp_ms, last_timestamp_ms);
  }
  EXPECT_GE(most_batches, kBatches - 1);
}

}  // namespace
}  // namespace rowbloom::test
