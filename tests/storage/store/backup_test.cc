// Checkpoints, and backups with all that becomes of them.
#include "rowbloom/backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "rocksdb/version.h"
#include "storage/format/held_lock.h"
#include "storage/format/staging.h"
#include "storage/store/record_files.h"
#include "tests/storage/store/calling_store.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

std::vector<Row> AllRows(Store* store) {
  return RowsOf(*store, {.row = {.max_versions = 100}});
}

std::vector<Row> RowsAt(const std::string& path) {
  return AllRows(OpenOrFail({}, path, {}).get());
}

class StoreBackup : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenOrFail({.auto_compaction = false}, dir_.File("db"),
                        {{"a", {}}, {"b", {.max_versions = 3}}});
  }

  // Rows that no call has written before.
  void WriteSome(uint64_t rows = 200) {
    for (uint64_t i = 0; i < rows; ++i) {
      WriteBatch batch;
      const std::string row = DistinctKey(next_row_++);
      batch.Put(row, "a", "q", random_.Bytes(100));
      batch.Put(row, "b", "q", random_.Bytes(100));
      ASSERT_THAT(store_->Write(batch), IsOk());
    }
  }

  std::vector<BackupInfo> List() {
    std::vector<BackupInfo> list;
    EXPECT_THAT(ListBackups(backups_, &list), IsOk());
    return list;
  }
  std::vector<uint32_t> Ids() {
    std::vector<uint32_t> ids;
    for (const BackupInfo& backup : List()) ids.push_back(backup.id);
    return ids;
  }

  // The tables that backups share.
  std::vector<std::string> SharedFiles() {
    return FilesWithEnd(backups_ + "/shared_checksum", ".sst");
  }
  // Their size.
  uint64_t SharedBytes() {
    uint64_t bytes = 0;
    for (const std::string& file : SharedFiles()) {
      bytes += std::filesystem::file_size(file);
    }
    return bytes;
  }

  TempDir dir_;
  const std::string backups_ = dir_.File("backups");
  FaultPlan plan_;
  const std::unique_ptr<rocksdb::Env> faulty_ = NewFaultEnv(&plan_);
  const std::shared_ptr<CallingFileSystem> files_ =
      std::make_shared<CallingFileSystem>();
  const std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(files_);
  std::unique_ptr<Store> store_;
  Random random_{SeedFromEnv()};
  uint64_t next_row_ = 0;
};

TEST_F(StoreBackup, CheckpointIsAStoreOfItsOwn) {
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->Put("skipped log", "a", "q", "v",
                          {.durability = Durability::kSkipWal}),
              IsOk());
  const std::vector<Row> then = AllRows(store_.get());
  const std::string copy = dir_.File("copy");
  ASSERT_THAT(store_->Checkpoint(copy), IsOk());
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->DropFamily("b"), IsOk());
  EXPECT_EQ(RowsAt(copy), then);
  {
    const auto other = OpenOrFail({}, copy, {});
    EXPECT_THAT(other->DeleteRow("skipped log"), IsOk());
    EXPECT_THAT(other->Compact(), IsOk());
  }
  EXPECT_TRUE(ValueOf(*store_, "skipped log", "a", "q"));
  EXPECT_THAT(store_->Checkpoint(copy),
              StatusIs(Status::kInvalidArgument, HasSubstr(copy + " exists")));
  EXPECT_THAT(store_->Checkpoint(dir_.File("no/such/parent")),
              StatusIs(Status::kIOError, HasSubstr("no/such/parent")));
  // RocksDB would remove X.tmp for a checkpoint X.
  for (const char* name : {"x.tmp", "x.checkpointing"}) {
    const std::filesystem::path own = dir_.File(name);
    std::filesystem::create_directory(own);
    std::ofstream(own / "letter") << "kept";
  }
  EXPECT_THAT(store_->Checkpoint(dir_.File("x/")),
              StatusIs(Status::kInvalidArgument,
                       HasSubstr("was not left by an interruption")));
  std::filesystem::remove_all(dir_.File("x.checkpointing"));
  EXPECT_THAT(store_->Checkpoint(dir_.File("x/")), IsOk());
  EXPECT_TRUE(std::filesystem::exists(dir_.File("x.tmp/letter")));
  EXPECT_EQ(RowsAt(dir_.File("x")).size(), AllRows(store_.get()).size());
  store_.reset();
  store_ = OpenOrFail({.read_only = true}, dir_.File("db"), {});
  EXPECT_TRUE(store_->Checkpoint(dir_.File("other")).IsNotSupported());
  EXPECT_TRUE(store_->Backup(backups_).IsNotSupported());
}

TEST_F(StoreBackup, CheckpointHasTheTableThatALinkLeadsTo) {
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->Flush(), IsOk());
  const std::vector<Row> rows = AllRows(store_.get());
  store_.reset();
  const std::string table = FilesWithEnd(dir_.File("db"), ".sst").front();
  const std::string moved = dir_.File("moved.sst");
  std::filesystem::rename(table, moved);
  std::filesystem::create_symlink(moved, table);
  store_ = OpenOrFail({.auto_compaction = false}, dir_.File("db"), {});
  ASSERT_TRUE(std::filesystem::is_symlink(table));
  const std::string copy = dir_.File("copy");
  ASSERT_THAT(store_->Checkpoint(copy), IsOk());
  std::filesystem::remove(moved);
  EXPECT_EQ(RowsAt(copy), rows);
}

TEST_F(StoreBackup, EachIsAsTheStoreWas) {
  std::map<uint32_t, std::vector<Row>> then;
  for (int i = 0; i < 3; ++i) {
    ASSERT_NO_FATAL_FAILURE(WriteSome());
    ASSERT_THAT(store_->DeleteRow(DistinctKey(i * 10)), IsOk());
    if (i == 2) {
      ASSERT_THAT(store_->CreateFamily("c", {}), IsOk());
      ASSERT_THAT(store_->Put("r", "c", "q", "v"), IsOk());
    }
    BackupInfo info;
    ASSERT_THAT(store_->Backup(backups_, &info), IsOk());
    then[info.id] = AllRows(store_.get());
    EXPECT_GT(info.bytes, 0u);
    EXPECT_GT(info.timestamp_s, 1'700'000'000u);
    EXPECT_EQ(List().back(), info);
  }
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3));
  ASSERT_THAT(store_->DeleteRow(DistinctKey(100)), IsOk());
  for (const auto& [id, rows] : then) {
    EXPECT_THAT(VerifyBackup(backups_, id), IsOk());
    const std::string path = dir_.File("restored" + std::to_string(id));
    ASSERT_THAT(RestoreBackup(backups_, id, path), IsOk());
    EXPECT_TRUE(RowsAt(path) == rows) << id;
  }
  const std::string newest = dir_.File("newest");
  std::filesystem::create_directory(newest);
  ASSERT_THAT(RestoreBackup(backups_, std::nullopt, newest + "/"), IsOk());
  EXPECT_TRUE(RowsAt(newest) == then[3]);
  // A restored store is backed up on, where the original is.
  const auto restored = OpenOrFail({}, newest, {});
  EXPECT_THAT(restored->Backup(backups_), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3, 4));
}

TEST_F(StoreBackup, CopiesOnlyWhatIsNew) {
  ASSERT_NO_FATAL_FAILURE(WriteSome(2000));
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  const uint64_t first = SharedBytes();
  ASSERT_NO_FATAL_FAILURE(WriteSome(20));
  BackupInfo second;
  ASSERT_THAT(store_->Backup(backups_, &second), IsOk());
  EXPECT_GT(second.bytes, first);
  EXPECT_LT(SharedBytes() - first, first / 10);
  ASSERT_THAT(DeleteBackup(backups_, 1), IsOk());
  EXPECT_GE(SharedBytes(), first);
  EXPECT_THAT(VerifyBackup(backups_, 2), IsOk());
}

// A file that was away makes them whole when it is back.
TEST_F(StoreBackup, DamagedOnesKeepTheirFiles) {
  ASSERT_NO_FATAL_FAILURE(WriteSome(20));
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  const std::vector<std::string> of_first = SharedFiles();
  ASSERT_NO_FATAL_FAILURE(WriteSome(20));
  ASSERT_THAT(store_->Compact(), IsOk());
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  // One that the second backup does not have.
  const std::string away = dir_.File("away");
  std::string missing;
  for (const std::string& file : of_first) {
    std::filesystem::rename(file, away);
    if (!List().back().damaged) {
      missing = file;
      break;
    }
    std::filesystem::rename(away, file);
  }
  ASSERT_FALSE(missing.empty());
  ASSERT_TRUE(List().front().damaged);
  const std::vector<uint32_t> before = Ids();
  const auto is_refused =
      StatusIs(Status::kCorruption, HasSubstr("backups are damaged: 1."));
  EXPECT_THAT(PurgeBackups(backups_, 0), is_refused);
  EXPECT_THAT(PurgeBackups(backups_, 1), is_refused);
  EXPECT_THAT(DeleteBackup(backups_, before.back()), is_refused);
  // RocksDB collects garbage when a backup fails, at whichever of its calls ...
  Status s;
  uint64_t calls = 0;
  do {
    store_.reset();
    store_ = OpenOrFail({.env = faulty_.get()}, dir_.File("db"), {});
    plan_.FailCall(++calls, /*for_good=*/true, FaultPlan::Kind::kNoSpace);
    s = store_->Backup(backups_);
    plan_.FailNoCall();
  } while (!s.ok());
  EXPECT_GT(calls, 5u);
  // ... and when there are remains of one that was killed.
  const std::string remains = backups_ + "/private/4";
  std::filesystem::create_directory(remains);
  std::ofstream(remains + "/000001.log") << "half";
  EXPECT_THAT(store_->Backup(backups_), IsOk());
  EXPECT_FALSE(std::filesystem::exists(remains + "/000001.log"));
  std::filesystem::rename(away, missing);
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3, 4));
  for (const uint32_t id : Ids()) {
    EXPECT_THAT(VerifyBackup(backups_, id), IsOk());
  }
  std::filesystem::remove(missing);
  EXPECT_THAT(DeleteBackup(backups_, 1), IsOk());
  EXPECT_THAT(PurgeBackups(backups_, 0), IsOk());
  EXPECT_TRUE(List().empty());
}

TEST_F(StoreBackup, OldOnesAreDeletedAndPurged) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_NO_FATAL_FAILURE(WriteSome(20));
    ASSERT_THAT(store_->Backup(backups_), IsOk());
  }
  const std::vector<Row> then = AllRows(store_.get());
  ASSERT_THAT(DeleteBackup(backups_, 2), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1, 3, 4, 5));
  EXPECT_THAT(DeleteBackup(backups_, 2),
              StatusIs(Status::kNotFound, HasSubstr("no backup 2 in")));
  EXPECT_THAT(VerifyBackup(backups_, 2),
              StatusIs(Status::kNotFound, HasSubstr("no backup 2 in")));
  EXPECT_THAT(RestoreBackup(backups_, 2, dir_.File("x")),
              StatusIs(Status::kNotFound, HasSubstr("no backup 2 in")));
  ASSERT_THAT(PurgeBackups(backups_, 2), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(4, 5));
  ASSERT_THAT(store_->Compact(), IsOk());
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  const uint64_t before = SharedBytes();
  ASSERT_THAT(PurgeBackups(backups_, 1), IsOk());
  EXPECT_LT(SharedBytes(), before);
  const std::string path = dir_.File("restored");
  ASSERT_THAT(RestoreBackup(backups_, std::nullopt, path), IsOk());
  EXPECT_TRUE(RowsAt(path) == then);
  ASSERT_THAT(PurgeBackups(backups_, 0), IsOk());
  EXPECT_TRUE(List().empty());
  EXPECT_EQ(SharedBytes(), 0u);
  EXPECT_THAT(RestoreBackup(backups_, std::nullopt, dir_.File("x")),
              StatusIs(Status::kNotFound, HasSubstr("no backup in")));
}

TEST_F(StoreBackup, NoEnvironmentIsTheDefaultOne) {
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  rocksdb::Env* const env = StoreOptions().env;
  std::vector<BackupInfo> list;
  EXPECT_THAT(ListBackups(backups_, &list, env), IsOk());
  EXPECT_THAT(VerifyBackup(backups_, 1, env), IsOk());
  EXPECT_THAT(RestoreBackup(backups_, 1, dir_.File("restored"), env), IsOk());
  EXPECT_THAT(PurgeBackups(backups_, 1, env), IsOk());
  EXPECT_THAT(DeleteBackup(backups_, 1, env), IsOk());
}

// RocksDB deletes the files of the backup nevertheless.
TEST_F(StoreBackup, OneWhoseListCannotBeDeletedStaysWhole) {
  ASSERT_NO_FATAL_FAILURE(WriteSome(20));
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  ASSERT_NO_FATAL_FAILURE(WriteSome(20));
  ASSERT_THAT(store_->Compact(), IsOk());
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  files_->On(FileCall::kDelete, [this](const std::string& path) {
    return path == backups_ + "/meta/1" ? rocksdb::IOStatus::IOError("injected")
                                        : rocksdb::IOStatus::OK();
  });
  EXPECT_TRUE(DeleteBackup(backups_, 1, env_.get()).IsIOError());
  EXPECT_TRUE(PurgeBackups(backups_, 1, env_.get()).IsIOError());
  EXPECT_THAT(Ids(), ElementsAre(1, 2));
  EXPECT_THAT(VerifyBackup(backups_, 1), IsOk());
  EXPECT_THAT(PurgeBackups(backups_, 1), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(2));
  EXPECT_THAT(VerifyBackup(backups_, 2), IsOk());
}

TEST_F(StoreBackup, DamageIsNamedAndKeepsFromRestoring) {
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  const std::string file = SharedFiles().at(0);
  const auto size = std::filesystem::file_size(file);
  {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(size / 2));
    bytes.put('\x5a');
    bytes.put('\xa5');
  }
  EXPECT_FALSE(List().front().damaged);  // a list reads no files
  EXPECT_THAT(VerifyBackup(backups_, 1),
              StatusIs(Status::kCorruption, HasSubstr(file)));
  const std::string path = dir_.File("restored");
  for (const auto id : {std::optional(1u), std::optional<uint32_t>()}) {
    EXPECT_THAT(RestoreBackup(backups_, id, path),
                StatusIs(Status::kCorruption,
                         AllOf(HasSubstr(backups_ + ": backup 1: "),
                               HasSubstr(file), HasSubstr("checksum"))));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".restoring"));

  std::filesystem::resize_file(file, size / 2);
  EXPECT_TRUE(VerifyBackup(backups_, 1).IsCorruption());
  std::filesystem::remove(file);
  EXPECT_TRUE(List().front().damaged);
  EXPECT_THAT(
      RestoreBackup(backups_, std::nullopt, path),
      StatusIs(Status::kCorruption, HasSubstr(backups_ + ": backup 1: ")));
  EXPECT_THAT(VerifyBackup(backups_, 1),
              StatusIs(Status::kCorruption,
                       HasSubstr(std::filesystem::path(file).filename())));
  // Later ones are whole, and the newest of those is the one to restore.
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  EXPECT_THAT(VerifyBackup(backups_, 2), IsOk());
  ASSERT_THAT(RestoreBackup(backups_, std::nullopt, path), IsOk());
  EXPECT_TRUE(RowsAt(path) == AllRows(store_.get()));
  // RocksDB tells of an empty line, and not of which list.
  WriteFile(backups_ + "/meta/1", "\n");
  EXPECT_THAT(
      VerifyBackup(backups_, 1),
      StatusIs(Status::kCorruption, HasSubstr(backups_ + ": backup 1: ")));
}

TEST_F(StoreBackup, DamageOfTheStoreIsNamedAndNotCopied) {
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->Flush(), IsOk());
  const std::filesystem::path table =
      FilesWithEnd(dir_.File("db"), ".sst").at(0);
  FlipBit(table, 100);
  EXPECT_THAT(store_->Backup(backups_),
              StatusIs(Status::kCorruption, HasSubstr(table.stem())));
  EXPECT_THAT(List(), IsEmpty());
  FlipBit(table, 100);
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  EXPECT_THAT(VerifyBackup(backups_, 1), IsOk());
}

// An open database does not read its MANIFEST again, and RocksDB copies it
// without a checksum.
TEST_F(StoreBackup, ADamagedManifestIsNamedAndNotCopied) {
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  std::string manifest;
  ASSERT_THAT(ReadCurrent(rocksdb::Env::Default(), dir_.File("db"), &manifest),
              IsOk());
  FlipBit(dir_.File("db") + "/" + manifest, 100);
  const auto is_named = StatusIs(
      Status::kCorruption,
      AllOf(HasSubstr(dir_.File("db")), HasSubstr(manifest + ": offset ")));
  EXPECT_THAT(store_->Backup(backups_), is_named);
  EXPECT_THAT(Ids(), ElementsAre(1u));
  EXPECT_THAT(store_->Checkpoint(dir_.File("copy")), is_named);
  EXPECT_FALSE(std::filesystem::exists(dir_.File("copy")));
  FlipBit(dir_.File("db") + "/" + manifest, 100);
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  EXPECT_THAT(Ids(), ElementsAre(1u, 2u));
  EXPECT_THAT(VerifyBackup(backups_, 2), IsOk());
  EXPECT_THAT(store_->Checkpoint(dir_.File("copy")), IsOk());
  EXPECT_TRUE(RowsAt(dir_.File("copy")) == AllRows(store_.get()));
}

// RocksDB before 9.5 reads the first record of every log that is kept, and its
// error names no file. Later versions read none.
TEST_F(StoreBackup, DamageOfAKeptLogIsFoundInTheInfoLog) {
  store_.reset();
  store_ = OpenOrFail({.kept_log_seconds = 3600}, dir_.File("db"), {});
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->Flush(), IsOk());
  const std::string archive = dir_.File("db") + "/archive";
  std::vector<std::string> kept;
  ASSERT_TRUE(WaitFor([&] {
    std::error_code missing;
    if (std::filesystem::exists(archive, missing)) {
      kept = FilesWithEnd(archive, ".log");
    }
    return !kept.empty();
  }));
  FlipBit(kept.at(0), 100);
  if (ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 905) {
    EXPECT_THAT(store_->Backup(backups_), IsOk());
    EXPECT_THAT(store_->Checkpoint(dir_.File("copy")), IsOk());
    EXPECT_TRUE(RowsAt(dir_.File("copy")) == AllRows(store_.get()));
    return;
  }
  const auto is_named =
      StatusIs(Status::kCorruption,
               AllOf(HasSubstr(dir_.File("db")),
                     HasSubstr("the first record of a log, which LOG names")));
  EXPECT_THAT(store_->Backup(backups_), is_named);
  EXPECT_THAT(store_->Checkpoint(dir_.File("copy")), is_named);
  std::string info_log;
  ASSERT_THAT(ReadFileToString(rocksdb::Env::Default(),
                               dir_.File("db") + "/LOG", &info_log),
              IsOk());
  EXPECT_THAT(info_log, HasSubstr(kept.at(0)));
  std::filesystem::remove(kept.at(0));
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  EXPECT_THAT(store_->Checkpoint(dir_.File("copy")), IsOk());
  EXPECT_TRUE(RowsAt(dir_.File("copy")) == AllRows(store_.get()));
}

// Its numbers would go to other changes, which streams from the copy's number
// on would not have.
TEST(Copies, HaveNoChangeThatAPowerCutTakesFromTheStore) {
  uint64_t changes_after_the_flush = 0;
  for (int round = 0; round < 6; ++round) {
    const bool is_backup = round % 2 == 1;
    SCOPED_TRACE(is_backup ? "backup" : "checkpoint");
    const TempDir dir;
    const std::string power = dir.File("power");
    std::filesystem::create_directory(power);
    Disk disk(power);
    FaultPlan plan;
    const auto env = NewFaultEnv(&plan, &disk);
    auto store = OpenOrFail({.env = env.get()}, power + "/db", {{"f", {}}});
    std::atomic<bool> stop{false};
    std::atomic<int> written{0};
    std::thread writer([&] {
      while (!stop) {
        EXPECT_THAT(store->Put(std::to_string(++written), "f", "q", "v"),
                    IsOk());
      }
    });
    EXPECT_TRUE(WaitFor([&] { return written > 100; }));
    const uint64_t before = store->LatestNumber();
    ASSERT_THAT(is_backup ? store->Backup(dir.File("backups"))
                          : store->Checkpoint(dir.File("copy")),
                IsOk());
    stop = true;
    writer.join();
    plan.CutPowerAt(1);
    store.reset();
    disk.Restart(SeedFromEnv() + static_cast<uint64_t>(round));
    if (is_backup) {
      ASSERT_THAT(RestoreBackup(dir.File("backups"), 1, dir.File("copy")),
                  IsOk());
    }
    const uint64_t in_copy =
        OpenOrFail({.read_only = true}, dir.File("copy"), {})->LatestNumber();
    EXPECT_GE(OpenOrFail({}, power + "/db", {})->LatestNumber(), in_copy);
    changes_after_the_flush += in_copy - before;
  }
  EXPECT_GT(changes_after_the_flush, 0u);
}

TEST_F(StoreBackup, RestoreKeepsThePermissionsOfAnEmptyDirectory) {
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  const std::string path = dir_.File("private");
  const auto of_owner = std::filesystem::perms::owner_all;
  std::filesystem::create_directory(path);
  std::filesystem::permissions(path, of_owner);
  const auto written = std::filesystem::last_write_time(path);
  EXPECT_TRUE(RestoreBackup(backups_, 99, path).IsNotFound());
  EXPECT_EQ(std::filesystem::last_write_time(path), written);
  EXPECT_EQ(std::filesystem::status(path).permissions(), of_owner);
  ASSERT_THAT(RestoreBackup(backups_, 1, path), IsOk());
  EXPECT_EQ(std::filesystem::status(path).permissions(), of_owner);
}

TEST_F(StoreBackup, DirectoryWhoseParentIsClosedIsChanged) {
  ASSERT_NO_FATAL_FAILURE(WriteSome(1));
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  files_->CloseFolder(dir_.path().string());
  EXPECT_THAT(PurgeBackups(backups_, 1, env_.get()), IsOk());
}

// The disk is full.
TEST_F(StoreBackup, RestoreThatFailsKeepsAnEmptyDirectory) {
  class Full : public rocksdb::EnvWrapper {
   public:
    Full() : EnvWrapper(rocksdb::Env::Default()) {}
    const char* Name() const override { return "Full"; }
    Status CreateDir(const std::string& /*directory*/) override {
      return Status::NoSpace();
    }
  };
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  const std::string path = dir_.File("empty");
  std::filesystem::create_directory(path);
  Full full;
  EXPECT_TRUE(RestoreBackup(backups_, 1, path, &full).IsNoSpace());
  EXPECT_TRUE(std::filesystem::is_empty(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".restoring"));
  EXPECT_THAT(RestoreBackup(backups_, 1, path), IsOk());
}

TEST_F(StoreBackup, CopiesOfAPrivateStoreArePrivate) {
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  namespace fs = std::filesystem;
  const auto of_owner = fs::perms::owner_all;
  fs::permissions(dir_.File("db"), of_owner);
  ASSERT_THAT(store_->Checkpoint(dir_.File("checkpoint")), IsOk());
  CopyReport report;
  ASSERT_THAT(store_->CopyTo(dir_.File("copy"), {}, &report), IsOk());
  fs::permissions(dir_.File("db"),
                  fs::perms::owner_read | fs::perms::owner_exec);
  ASSERT_THAT(OpenOrFail({.read_only = true}, dir_.File("db"), {})
                  ->CopyTo(dir_.File("by a reader"), {}, &report),
              IsOk());
  fs::permissions(dir_.File("db"), of_owner);
  for (const char* made : {"checkpoint", "copy", "by a reader"}) {
    EXPECT_EQ(fs::status(dir_.File(made)).permissions(), of_owner) << made;
  }
  // Nobody else can read what is restored to a directory that is private.
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  const std::string path = dir_.File("restored");
  fs::create_directory(path);
  fs::permissions(path, of_owner);
  int seen = 0;
  files_->On(FileCall::kMake, [&](const std::string& file) {
    if (!file.ends_with(".sst")) return;
    ++seen;
    EXPECT_EQ(fs::status(path + ".restoring").permissions(), of_owner);
  });
  ASSERT_THAT(RestoreBackup(backups_, 1, path, env_.get()), IsOk());
  EXPECT_GT(seen, 0);
  EXPECT_EQ(fs::status(path).permissions(), of_owner);
}

// Somebody deletes it once its list was read.
TEST_F(StoreBackup, OneThatIsDeletedWhileItIsReadIsNoDamagedOne) {
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  const std::string kept = dir_.File("kept");
  std::filesystem::copy(backups_, kept,
                        std::filesystem::copy_options::recursive);
  const auto no_backup =
      StatusIs(Status::kNotFound, HasSubstr("no backup 1 in "));
  for (const bool restores : {false, true}) {
    std::filesystem::remove_all(backups_);
    std::filesystem::copy(kept, backups_,
                          std::filesystem::copy_options::recursive);
    std::atomic<bool> deleted{false};
    files_->On(FileCall::kOpen, [&](const std::string& path) {
      if (path.find("/private/1/") != path.npos && !deleted.exchange(true)) {
        EXPECT_THAT(DeleteBackup(backups_, 1), IsOk());
      }
    });
    EXPECT_THAT(
        restores ? RestoreBackup(backups_, 1, dir_.File("restored"), env_.get())
                 : VerifyBackup(backups_, 1, env_.get()),
        no_backup);
    EXPECT_TRUE(deleted);
    EXPECT_FALSE(std::filesystem::exists(dir_.File("restored")));
  }
}

// Somebody deletes it before its list is read.
TEST_F(StoreBackup, OneThatIsDeletedMeanwhileIsNoObstacleForOthers) {
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  std::atomic<bool> deleted{false};
  files_->On(FileCall::kOpen, [&](const std::string& path) {
    if (path == backups_ + "/meta/1" && !deleted.exchange(true)) {
      EXPECT_THAT(DeleteBackup(backups_, 1), IsOk());
    }
  });
  EXPECT_THAT(VerifyBackup(backups_, 2, env_.get()), IsOk());
  EXPECT_TRUE(deleted);
  EXPECT_THAT(Ids(), ElementsAre(2));
  // A list that is there and cannot be read is an error still.
  const std::string list = backups_ + "/meta/2";
  std::filesystem::remove(list);
  std::filesystem::create_symlink(dir_.File("nothing"), list);
  EXPECT_TRUE(VerifyBackup(backups_, 2).IsIOError());
}

// Somebody moved it to a larger disk, or wants to have other files removed.
TEST_F(StoreBackup, RemainsThatAreLinksAreRemovedAlone) {
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  namespace fs = std::filesystem;
  const std::string other = dir_.File("other");
  fs::create_directory(other);
  WriteFile(other + "/file", "text");
  const std::string staging = dir_.File("copy.checkpointing");
  fs::create_directory(staging);
  WriteFile(staging + "/" + kStagingMark, "");
  WriteFile(staging + "/plain", "");
  fs::create_directory_symlink(other, staging + "/contents");
  ASSERT_THAT(store_->Checkpoint(dir_.File("copy")), IsOk());
  EXPECT_FALSE(fs::exists(staging));
  EXPECT_EQ(ReadFile(other + "/file"), "text");

  store_.reset();
  const std::string load = dir_.File("db") + "/ROWBLOOM_LOAD-0";
  fs::create_directory_symlink(other, load);
  store_ = OpenOrFail({}, dir_.File("db"), {});
  EXPECT_FALSE(fs::is_symlink(load));
  EXPECT_EQ(ReadFile(other + "/file"), "text");
}

// In a directory of several users it would show them the store's files.
TEST_F(StoreBackup, NoCopyIsMadeInADirectoryOfAnotherUser) {
  const std::string staging = dir_.File("copy.checkpointing");
  std::filesystem::create_directory(staging);
  constexpr uid_t kNobody = 65534;
  if (chown(staging.c_str(), kNobody, static_cast<gid_t>(-1)) != 0) {
    GTEST_SKIP() << "only root gives a directory away";
  }
  EXPECT_THAT(store_->Checkpoint(dir_.File("copy")),
              StatusIs(Status::kInvalidArgument, HasSubstr("another user's")));
  EXPECT_TRUE(std::filesystem::is_empty(staging));
}

TEST_F(StoreBackup, GarbageBehindALinkIsKept) {
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  namespace fs = std::filesystem;
  const std::string other = dir_.File("other");
  fs::create_directory(other);
  WriteFile(other + "/file", "text");
  // The second is one of old versions, and is still searched for garbage.
  for (const char* name : {"/private/7", "/shared"}) {
    fs::remove(backups_ + name);
    fs::create_directory_symlink(other, backups_ + name);
    ASSERT_THAT(PurgeBackups(backups_, 1), IsOk());
    EXPECT_EQ(ReadFile(other + "/file"), "text") << name;
  }
}

// Somebody makes a copy there, or a program that copies is interrupted.
TEST_F(StoreBackup, OneWithATemporaryFileBesideItKeepsItsFiles) {
  ASSERT_NO_FATAL_FAILURE(WriteSome(20));
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  WriteFile(backups_ + "/private/1.tmp", "");
  ASSERT_THAT(PurgeBackups(backups_, 1), IsOk());
  EXPECT_THAT(VerifyBackup(backups_, 1), IsOk());
}

TEST_F(StoreBackup, RestoreOverwritesNothing) {
  ASSERT_NO_FATAL_FAILURE(WriteSome());
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  const auto refused = StatusIs(Status::kInvalidArgument, HasSubstr("exists"));
  EXPECT_THAT(RestoreBackup(backups_, 1, dir_.File("db")), refused);
  const std::string file = dir_.File("file");
  std::ofstream(file) << "text";
  EXPECT_THAT(RestoreBackup(backups_, 1, file), refused);
  EXPECT_TRUE(RestoreBackup(backups_, 1, "").IsInvalidArgument());

  // Remains of a restore that was cut short are no store, and no obstacle.
  const std::string path = dir_.File("restored");
  std::filesystem::create_directories(path + ".restoring/contents");
  std::ofstream(path + ".restoring/contents/000099.sst") << "half";
  const auto is_other =
      StatusIs(Status::kInvalidArgument, HasSubstr(kStagingMark));
  EXPECT_THAT(RestoreBackup(backups_, 1, path), is_other);
  std::ofstream(path + ".restoring/" + kStagingMark) << "";
  ASSERT_THAT(RestoreBackup(backups_, 1, path), IsOk());
  EXPECT_TRUE(RowsAt(path) == AllRows(store_.get()));
  EXPECT_FALSE(std::filesystem::exists(path + "/000099.sst"));
  EXPECT_FALSE(std::filesystem::exists(path + ".restoring"));

  // A store cannot take the place of a link, whatever it leads to.
  const std::string link = dir_.File("link");
  std::filesystem::create_directory(dir_.File("empty"));
  std::filesystem::create_directory_symlink(dir_.File("empty"), link);
  const auto is_link =
      StatusIs(Status::kInvalidArgument, HasSubstr("is a link"));
  EXPECT_THAT(RestoreBackup(backups_, 1, link), is_link);
  EXPECT_TRUE(std::filesystem::is_empty(link));
  std::filesystem::create_symlink(dir_.File("nothing"), dir_.File("dangling"));
  EXPECT_THAT(RestoreBackup(backups_, 1, dir_.File("dangling")), is_link);
  EXPECT_THAT(store_->Checkpoint(dir_.File("dangling")), is_link);
  EXPECT_THAT(RestoreBackup(backups_, 1, dir_.File("empty")), IsOk());

  // A store of that name is not what a restore leaves.
  const std::string other = dir_.File("x.restoring");
  const auto kept = OpenOrFail({}, other, {{"a", {}}});
  EXPECT_THAT(RestoreBackup(backups_, 1, dir_.File("x")), is_other);
  EXPECT_THAT(kept->Put("r", "a", "q", "v"), IsOk());
}

TEST_F(StoreBackup, OtherDirectoriesAreLeftAlone) {
  const auto is_none =
      StatusIs(Status::kNotFound, HasSubstr("no directory of backups at"));
  std::vector<BackupInfo> list;
  EXPECT_THAT(ListBackups(backups_, &list), is_none);
  EXPECT_THAT(VerifyBackup(backups_, 1), is_none);
  EXPECT_THAT(DeleteBackup(backups_, 1), is_none);
  EXPECT_THAT(PurgeBackups(backups_, 1), is_none);
  EXPECT_THAT(RestoreBackup(backups_, 1, dir_.File("x")), is_none);
  EXPECT_FALSE(std::filesystem::exists(backups_));

  const auto is_empty =
      StatusIs(Status::kInvalidArgument, HasSubstr("path of the backups"));
  EXPECT_THAT(store_->Backup(""), is_empty);
  EXPECT_THAT(ListBackups("", &list), is_empty);

  const auto is_other =
      StatusIs(Status::kInvalidArgument, HasSubstr("is no directory of"));
  EXPECT_THAT(store_->Backup(dir_.File("db")), is_other);
  EXPECT_THAT(PurgeBackups(dir_.File("db"), 0), is_other);
  EXPECT_THAT(ListBackups(dir_.File("db"), &list), is_other);
  // RocksDB takes any file in such folders for the remains of a backup.
  for (const char* file :
       {"private/letter", "shared/letter", "meta/letter", "meta/.letter"}) {
    const std::filesystem::path own = dir_.File("own");
    const std::filesystem::path letter = own / file;
    std::filesystem::create_directories(letter.parent_path());
    std::ofstream(letter) << "kept";
    EXPECT_THAT(store_->Backup(own), is_other) << file;
    EXPECT_THAT(PurgeBackups(own, 0), is_other) << file;
    EXPECT_TRUE(std::filesystem::exists(letter)) << file;
    std::filesystem::remove_all(own);
  }
}

// NFS has such files while a deleted list is read, and macOS makes them.
TEST_F(StoreBackup, HiddenFilesBesideTheListsAreNoObstacle) {
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  for (const char* name : {".nfs0000000000000001", ".DS_Store"}) {
    const std::string file = backups_ + "/meta/" + name;
    std::ofstream(file) << "kept";
    EXPECT_THAT(store_->Backup(backups_), IsOk());
    EXPECT_THAT(RestoreBackup(backups_, std::nullopt, dir_.File(name)), IsOk());
    EXPECT_THAT(PurgeBackups(backups_, 1), IsOk());
    EXPECT_EQ(List().size(), 1u);
    EXPECT_TRUE(std::filesystem::exists(file));
  }
}

TEST_F(StoreBackup, OneChangeAtATime) {
  ASSERT_THAT(store_->Backup(backups_), IsOk());
  rocksdb::Env* env = rocksdb::Env::Default();
  rocksdb::FileLock* lock = nullptr;
  ASSERT_THAT(env->LockFile(backups_ + "/LOCK", &lock), IsOk());
  const auto busy = StatusIs(Status::kBusy, HasSubstr(backups_));
  EXPECT_THAT(store_->Backup(backups_), busy);
  EXPECT_THAT(DeleteBackup(backups_, 1), busy);
  EXPECT_THAT(PurgeBackups(backups_, 0), busy);
  EXPECT_THAT(VerifyBackup(backups_, 1), IsOk());
  ASSERT_THAT(env->UnlockFile(lock), IsOk());
  EXPECT_THAT(store_->Backup(backups_), IsOk());
  HeldLock held(env);
  ASSERT_THAT(held.Take(backups_ + "/LOCK", "held"), IsOk());
  EXPECT_THAT(PurgeBackups(backups_ + "/", 0), busy) << "by another path";
}

// Another process deleted the file of the lock when it gave it up.
TEST(LockFile, ThatIsDeletedWhileItIsTakenIsBusy) {
  class Deleting : public rocksdb::EnvWrapper {
   public:
    Deleting() : EnvWrapper(rocksdb::Env::Default()) {}
    const char* Name() const override { return "Deleting"; }
    Status LockFile(const std::string& file,
                    rocksdb::FileLock** lock) override {
      const Status s = EnvWrapper::LockFile(file, lock);
      std::filesystem::remove(file);
      return s;
    }
  };
  const TempDir dir;
  Deleting env;
  {
    HeldLock lock(&env);
    EXPECT_THAT(lock.Take(dir.File("LOCK"), "in use"),
                StatusIs(Status::kBusy, HasSubstr("in use")));
  }
  HeldLock lock(rocksdb::Env::Default());
  EXPECT_THAT(lock.Take(dir.File("LOCK"), "in use"), IsOk());
}

// Memory ran out before it was taken.
TEST(LockFile, ThatWasNotTakenIsFree) {
  class Failing : public rocksdb::EnvWrapper {
   public:
    Failing() : EnvWrapper(rocksdb::Env::Default()) {}
    const char* Name() const override { return "Failing"; }
    Status FileExists(const std::string& /*file*/) override {
      throw std::bad_alloc();
    }
  };
  const TempDir dir;
  Failing env;
  EXPECT_THROW(HeldLock(&env).Take(dir.File("LOCK"), "").PermitUncheckedError(),
               std::bad_alloc);
  HeldLock lock(rocksdb::Env::Default());
  EXPECT_THAT(lock.Take(dir.File("LOCK"), "in use"), IsOk());
}

// A power cut after the list came to the disk finds them.
TEST(FilesOfABackup, AreOnTheDiskBeforeTheirList) {
  const CallingStore calling;
  ASSERT_THAT(calling.store->Put("row", "c", "q", "v"), IsOk());
  const std::string backups = calling.dir.File("backups");
  std::mutex mutex;
  std::vector<std::string> synced;
  std::vector<std::string> synced_before_list;
  calling.files->On(FileCall::kMake, [&](const std::string& /*path*/) {
    const std::scoped_lock lock(mutex);
    synced.clear();
  });
  calling.files->On(FileCall::kSync, [&](const std::string& path) {
    const std::scoped_lock lock(mutex);
    synced.push_back(path);
  });
  calling.files->On(FileCall::kRename, [&](const std::string& path) {
    const std::scoped_lock lock(mutex);
    if (path == backups + "/meta/1") synced_before_list = synced;
  });
  ASSERT_THAT(calling.store->Backup(backups), IsOk());
  EXPECT_THAT(synced_before_list, IsSupersetOf({backups, backups + "/private",
                                                backups + "/private/1",
                                                backups + "/shared_checksum"}));
}

// A power cut may bring the list of a backup that failed back.
TEST(FilesOfABackup, StayIfTheDeletionOfTheirListIsNotSynced) {
  const CallingStore calling;
  ASSERT_THAT(calling.store->Put("row", "c", "q", "v"), IsOk());
  const std::string backups = calling.dir.File("backups");
  const std::string list = backups + "/meta/1";
  const std::string copy = calling.dir.File("list");
  calling.files->On(FileCall::kDelete, [&](const std::string& path) {
    if (path == list) std::filesystem::copy_file(list, copy);
  });
  calling.files->On(FileCall::kSync, [&](const std::string& path) {
    const bool has_list =
        std::filesystem::exists(list) || std::filesystem::exists(copy);
    return path == backups + "/meta" && has_list
               ? rocksdb::IOStatus::IOError("injected")
               : rocksdb::IOStatus::OK();
  });
  EXPECT_TRUE(calling.store->Backup(backups).IsIOError());
  calling.files->Off(FileCall::kDelete);
  calling.files->Off(FileCall::kSync);
  ASSERT_TRUE(std::filesystem::exists(copy));
  ASSERT_FALSE(std::filesystem::exists(list));
  std::filesystem::copy_file(copy, list);
  EXPECT_THAT(VerifyBackup(backups, 1), IsOk());
}

// A file system that has none returns EPERM, and FUSE returns ENOSYS.
TEST(WithoutHardLinks, CheckpointsAndLoadsCopyTheirFiles) {
  for (const int error : {EPERM, ENOSYS}) {
    const std::string message = std::generic_category().message(error);
    SCOPED_TRACE(message);
    const CallingStore calling;
    ASSERT_THAT(calling.store->Put("row", "c", "q", "v"), IsOk());
    calling.files->On(FileCall::kLink, [&message](const std::string& path) {
      return rocksdb::IOStatus::IOError(path, message);
    });
    const std::string copy = calling.dir.File("copy");
    ASSERT_THAT(calling.store->Checkpoint(copy), IsOk());
    EXPECT_EQ(RowsAt(copy), AllRows(calling.store.get()));
    const auto load = LoadInto(*calling.store);
    ASSERT_THAT(load->Add("loaded", "c", "q", "v"), IsOk());
    ASSERT_THAT(load->Finish(), IsOk());
    EXPECT_EQ(ValueOf(*calling.store, "loaded", "c", "q"), "v");
  }
}

// A write without the log, and then one with it, each time that a flush has
// begun: the last ones come between the flush and the copy of the log.
TEST(CopyBesideWrites, HasNoWriteWithoutAnEarlierOne) {
  const CallingStore calling;
  const TempDir& dir = calling.dir;
  CallingFileSystem* const files = calling.files.get();
  Store* const store = calling.store.get();
  ASSERT_THAT(store->Put("first", "c", "q", "v"), IsOk());
  std::atomic<int> pairs{0};
  files->On(FileCall::kMake, [&](const std::string& path) {
    if (!path.ends_with(".sst")) return;
    const std::string number = std::to_string(pairs);
    EXPECT_THAT(store->Put("skip" + number, "c", "q", "v",
                           {.durability = Durability::kSkipWal}),
                IsOk());
    EXPECT_THAT(store->Put("log" + number, "c", "q", "v"), IsOk());
    ++pairs;
  });
  ASSERT_THAT(store->Checkpoint(dir.File("copy")), IsOk());
  ASSERT_THAT(store->Put("between", "c", "q", "v"), IsOk());
  ASSERT_THAT(store->Backup(dir.File("backups")), IsOk());
  files->Off(FileCall::kMake);
  ASSERT_THAT(
      RestoreBackup(dir.File("backups"), std::nullopt, dir.File("restored")),
      IsOk());
  for (const char* name : {"copy", "restored"}) {
    SCOPED_TRACE(name);
    const auto copy = OpenOrFail({}, dir.File(name), {});
    const auto has = [&](const std::string& row) {
      bool found = false;
      EXPECT_THAT(copy->Exists(row, &found), IsOk());
      return found;
    };
    int logged = 0;
    for (int pair = 0; pair < pairs; ++pair) {
      const std::string number = std::to_string(pair);
      if (!has("log" + number)) continue;
      ++logged;
      EXPECT_TRUE(has("skip" + number)) << number;
    }
    EXPECT_GT(logged, 0);
  }
}

}  // namespace
}  // namespace rowbloom::test
