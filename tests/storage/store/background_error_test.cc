// The store after errors of RocksDB's flushes and compactions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "storage/store/opening_env.h"
#include "tests/storage/store/calling_store.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/calling_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/stride.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test {
namespace {

using rocksdb::IOStatus;
using rocksdb::Status;
using ::testing::HasSubstr;

class BackgroundErrors : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    store_.reset();
    options_.env = env_.get();
    store_ = OpenOrFail(options_, path_, {{"f", {}}});
  }
  Status Put(int row) {
    return store_->Put(std::to_string(row), "f", "q", std::string(3000, 'v'));
  }

  // The rows from 1 on are there.
  void ExpectRows(int rows) {
    for (int row = 1; row <= rows; ++row) {
      EXPECT_TRUE(ValueOf(*store_, std::to_string(row), "f", "q")) << row;
    }
  }

  void OnTable(std::function<IOStatus()> on_table) {
    files_->On(FileCall::kMake,
               [on_table = std::move(on_table)](const std::string& path) {
                 return path.ends_with(".sst") ? on_table() : IOStatus::OK();
               });
  }

  // Puts a row into each of many files below level 0: an opening merges them.
  static constexpr int kTinyFiles = 50;
  void MakeTinyFiles() {
    for (int row = 0; row < kTinyFiles; ++row) {
      ASSERT_THAT(Put(1000 + row), IsOk());
      ASSERT_THAT(store_->Flush(), IsOk());
      ASSERT_TRUE(WaitFor([this] {
        const StoreStats stats = StoreStatsOf(*store_);
        return std::ranges::all_of(stats.families.at("f").levels,
                                   [](const LevelStats& level) {
                                     return level.level != 0 || level.files < 4;
                                   });
      }));
    }
  }

  TempDir dir_;
  std::string path_ = dir_.File("db");
  const std::shared_ptr<CallingFileSystem> files_ =
      std::make_shared<CallingFileSystem>();
  const std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(files_);
  StoreOptions options_{.write_buffer_bytes = 64 << 10};
  std::unique_ptr<Store> store_;
};

// The store is refused writes before RocksDB would let them wait for space.
TEST_F(BackgroundErrors, OfCompactionsWithoutSpaceLetNoWriteWait) {
  OnTable([] {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof(name));
    const bool compacts = std::string_view(name).starts_with("rocksdb:low");
    return compacts ? IOStatus::NoSpace("injected") : IOStatus::OK();
  });
  int row = 0;
  Status s;
  while (row < 10'000 && s.ok()) s = Put(++row);
  EXPECT_TRUE(s.IsNoSpace());
  EXPECT_TRUE(Put(0).IsNoSpace());
  EXPECT_TRUE(store_->DropFamily("f").IsNoSpace());
  EXPECT_THAT(Put(0), StatusIs(Status::kIOError,
                               HasSubstr("the store at " + path_ +
                                         " takes no changes until it is")));
  files_->Off(FileCall::kMake);
  Open();
  ExpectRows(row - 1);
}

TEST_F(BackgroundErrors, OfFlushesStopWritesUntilTheStoreIsOpenedAgain) {
  IOStatus retryable = IOStatus::IOError("injected");
  retryable.SetRetryable(true);
  IOStatus of_file = IOStatus::IOError("injected");
  of_file.SetScope(IOStatus::kIOErrorScopeFile);
  int row = 0;
  for (const IOStatus& error : {IOStatus::IOError("injected"), retryable,
                                of_file, IOStatus::NoSpace("injected")}) {
    SCOPED_TRACE(error.ToString());
    ASSERT_THAT(Put(++row), IsOk());
    OnTable([&error] { return error; });
    EXPECT_FALSE(store_->Flush().ok());
    files_->Off(FileCall::kMake);
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    do {
      EXPECT_FALSE(Put(0).ok());
      std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < end && !HasFailure());
    Open();
    ExpectRows(row);
  }
}

// The MANIFEST names the merged file, although its sync failed.
TEST_F(BackgroundErrors, OfTheManifestInAnOpeningLeaveItsFiles) {
  ASSERT_NO_FATAL_FAILURE(MakeTinyFiles());
  store_.reset();
  std::atomic<int> tables{0};  // the first has the records of the log
  OnTable([&tables] {
    ++tables;
    return IOStatus::OK();
  });
  files_->On(FileCall::kSync, [&tables](const std::string& path) {
    const bool fails = tables > 1 && path.find("/MANIFEST-") != path.npos;
    return fails ? IOStatus::IOError("injected") : IOStatus::OK();
  });
  Open();
  EXPECT_TRUE(Put(0).IsIOError());
  store_.reset();
  files_->Off(FileCall::kMake);
  files_->Off(FileCall::kSync);
  Open();
  EXPECT_EQ(CountsOf(*store_).rows, uint64_t{kTinyFiles});
}

// A file that an opening cannot merge, as it is damaged, stays as it is.
TEST_F(BackgroundErrors, OfDamageInAnOpeningStopNoChanges) {
  ASSERT_NO_FATAL_FAILURE(MakeTinyFiles());
  store_.reset();
  const std::string row("1020\0\1", 6);  // as in its key
  int damaged = 0;
  for (const std::string& file : FilesWithEnd(path_, ".sst")) {
    const size_t at = ReadFile(file).find(row);
    if (at == std::string::npos) continue;
    FlipBit(file, at);
    ++damaged;
  }
  ASSERT_EQ(damaged, 1);
  Open();
  EXPECT_THAT(Put(0), IsOk());
  EXPECT_THAT(store_->DropFamily("f"), IsOk());
}

// Files that an opening cannot merge, as the disk is full, stay as they are.
TEST_F(BackgroundErrors, OfSpaceInAnOpeningStopNoChanges) {
  ASSERT_NO_FATAL_FAILURE(MakeTinyFiles());
  store_.reset();
  std::atomic<int> tables{0};  // the first has the records of the log
  OnTable([&tables, opening = std::this_thread::get_id()] {
    return std::this_thread::get_id() == opening && ++tables > 1
               ? IOStatus::NoSpace("injected")
               : IOStatus::OK();
  });
  Open();
  EXPECT_GT(tables.load(), 1);
  files_->Off(FileCall::kMake);
  EXPECT_EQ(CountsOf(*store_).rows, uint64_t{kTinyFiles});
  EXPECT_THAT(Put(0), IsOk());
  EXPECT_THAT(store_->DropFamily("f"), IsOk());
}

// RocksDB calls it no background error if a drop fails, which the MANIFEST may
// have all the same.
TEST(FailedTruncation, LosesNoWriteAfterIt) {
  bool met = true;
  int failed = 0;
  int truncated_in_part = 0;
  for (uint64_t call = 1; met; call += Stride(5)) {
    SCOPED_TRACE(call);
    const TempDir dir;
    FaultPlan plan;
    const auto env = NewFaultEnv(&plan);
    auto store = OpenOrFail({.transactions = true, .env = env.get()},
                            dir.File("db"), {{"f", {}}});
    ASSERT_THAT(store->Put("old", "f", "q", "v"), IsOk());
    ASSERT_THAT(store->Flush(), IsOk());
    std::unique_ptr<Transaction> transaction;
    ASSERT_THAT(store->Begin(&transaction), IsOk());
    transaction->Put("transacted", "f", "q", "v");
    plan.FailCall(call, /*for_good=*/false);
    const Status truncated = store->TruncateFamily("f");
    met = plan.faults() > 0;
    plan.FailNoCall();
    const bool has_family = store->Families().contains("f");
    const Status put =
        store->Put("new", "f", "q", "v", {.durability = Durability::kSync});
    // It is Busy, or refused as other writes are.
    EXPECT_FALSE(transaction->Commit(Durability::kSync).ok()) << put.ToString();
    transaction.reset();
    store.reset();
    store = OpenOrFail({}, dir.File("db"), {{"f", {}}});
    if (put.ok()) {
      EXPECT_EQ(ValueOf(*store, "new", "f", "q"), "v") << truncated.ToString();
    }
    const auto old = ValueOf(*store, "old", "f", "q");
    failed += truncated.ok() ? 0 : 1;
    if (truncated.ok()) {
      EXPECT_EQ(old, std::nullopt);
    } else if (old) {
      EXPECT_TRUE(has_family);  // else copies would lack its cells
    } else {
      ++truncated_in_part;
    }
  }
  EXPECT_GT(failed, 0);
  EXPECT_TRUE(truncated_in_part > 0 || Stride(5) > 1);
}

// A write that waits for the truncation is not acknowledged after it failed.
TEST(FailedTruncation, LosesNoWriteBesideIt) {
  const CallingStore calling;
  Store* const store = calling.store.get();
  std::atomic<uint64_t> begun{0};
  uint64_t acknowledged = 0;
  uint64_t before = 0;  // those that the truncation was to remove
  calling.files->On(FileCall::kSync, [&](const std::string& path) {
    if (path.find("/MANIFEST-") == path.npos) return IOStatus::OK();
    before = CountsOf(*store).rows;
    while (begun <= before) std::this_thread::yield();
    before = CountsOf(*store).rows;
    return IOStatus::IOError("injected");
  });
  std::thread writer([&] {
    while (store->Put(std::to_string(begun++), "c", "q", "v").ok()) {
      ++acknowledged;
    }
  });
  while (begun == 0) std::this_thread::yield();
  EXPECT_TRUE(store->TruncateFamily("c").IsIOError());
  writer.join();
  calling.files->Off(FileCall::kSync);
  EXPECT_EQ(acknowledged, before);
}

// RocksDB goes on after this error. The log that was sealed then may lack its
// end after a power cut, and the next one have later writes.
TEST_F(BackgroundErrors, OfASyncOfTheDirectoryStopsWrites) {
  ASSERT_THAT(Put(1), IsOk());
  std::atomic<int> syncs{0};
  files_->On(FileCall::kSync, [&syncs](const std::string& path) {
    const bool fails = std::filesystem::is_directory(path) && syncs++ == 0;
    return fails ? IOStatus::IOError("injected") : IOStatus::OK();
  });
  store_->Flush().PermitUncheckedError();
  EXPECT_GE(syncs, 1);
  EXPECT_TRUE(Put(2).IsIOError());
  files_->Off(FileCall::kSync);
  Open();
  ExpectRows(1);
  EXPECT_THAT(Put(2), IsOk());
}

// RocksDB lists the archive to delete old logs when it is opened. A slash at
// the end of the store's path would be in that of the archive.
TEST_F(BackgroundErrors, OfAListOfKeptLogsStopNothing) {
  path_ += "/";
  options_.kept_log_seconds = 60;
  std::atomic<int> failed{0};
  files_->On(FileCall::kList, [&failed](const std::string& path) {
    if (!path.ends_with("/archive")) return IOStatus::OK();
    ++failed;
    return IOStatus::IOError("injected");
  });
  Open();
  EXPECT_THAT(Put(1), IsOk());
  EXPECT_THAT(store_->Flush(), IsOk());
  EXPECT_GT(failed, 0);
  // A copy would lack logs.
  EXPECT_TRUE(store_->Checkpoint(dir_.File("copy")).IsIOError());
  files_->Off(FileCall::kList);
  EXPECT_THAT(store_->Checkpoint(dir_.File("copy")), IsOk());
}

// The directory of the store is none of logs, whatever its name.
TEST_F(BackgroundErrors, OfListsOfTheStoreAreErrorsOfItsOpening) {
  bool met = true;
  int refused = 0;
  for (int call = 0; met; ++call) {
    bool opened[2];
    for (const bool is_archive : {false, true}) {
      const std::string path = dir_.File(is_archive ? "archive" : "other");
      OpenOrFail({}, path, {{"f", {}}});
      int lists = 0;
      files_->On(FileCall::kList, [&](const std::string& listed) {
        const bool fails = listed == path && lists++ == call;
        return fails ? IOStatus::IOError("injected") : IOStatus::OK();
      });
      std::unique_ptr<Store> store;
      StoreOptions options;
      options.env = env_.get();
      opened[is_archive] = Store::Open(options, path, {}, &store).ok();
      met = lists > call;
      files_->Off(FileCall::kList);
    }
    EXPECT_EQ(opened[0], opened[1]) << call;
    refused += opened[0] ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
}

// Writes go on where RocksDB cannot sync a log beside them.
TEST(FilesThatOneThreadSyncs, StopNoWrites) {
  const TempDir dir;
  const auto env = rocksdb::NewCompositeEnv(
      std::make_shared<CallingFileSystem>(/*syncs_in_any_thread=*/false));
  const auto store =
      OpenOrFail({.env = env.get()}, dir.File("db"), {{"f", {}}});
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(store->Put("r", "f", "q", "v"), IsOk());
    EXPECT_THAT(store->Flush(), IsOk());
  }
}

// A renaming may be done and return an error, on a file system of a network.
TEST_F(BackgroundErrors, OfARenamingThatWasDoneLeaveNoCopy) {
  const std::string path = dir_.File("copy");
  files_->On(FileCall::kRename, [&path](const std::string& to) {
    return to == path ? IOStatus::IOError("injected") : IOStatus::OK();
  });
  EXPECT_TRUE(store_->Checkpoint(path).IsIOError());
  EXPECT_FALSE(std::filesystem::exists(path));
  files_->Off(FileCall::kRename);
  EXPECT_THAT(store_->Checkpoint(path), IsOk());
}

// RocksDB keeps options in memory that it could not write.
TEST(FailedAlter, ChangesNothing) {
  bool met = true;
  int refused = 0;
  for (uint64_t call = 1; met; ++call) {
    SCOPED_TRACE(call);
    const TempDir dir;
    FaultPlan plan;
    const auto env = NewFaultEnv(&plan);
    auto store = OpenOrFail({.env = env.get()}, dir.File("db"), {{"f", {}}});
    FamilyOptions blobs;
    blobs.min_blob_bytes = 300;
    plan.FailCall(call, /*for_good=*/false);
    const Status altered = store->AlterFamily("f", blobs);
    met = plan.faults() > 0;
    plan.FailNoCall();
    if (altered.ok() ||
        !store->Put("r", "f", "q", std::string(1000, 'v')).ok()) {
      continue;
    }
    ++refused;
    EXPECT_EQ(store->Families().at("f").min_blob_bytes, 0u);
    ASSERT_THAT(store->Flush(), IsOk());
    EXPECT_THAT(FilesWithEnd(dir.File("db"), ".blob"), ::testing::IsEmpty());
  }
  EXPECT_GT(refused, 0);
}

// RocksDB tries a compaction again and again, and its remains are deleted. If
// its tables are whole, the error may be one of the MANIFEST, which names them.
TEST(StoreFiles, KeepsTablesAfterAFailedManifestAlone) {
  using Reason = rocksdb::BackgroundErrorReason;
  const TempDir dir;
  const std::string table = dir.File("000001.sst");
  const auto is_deleted_after = [&](Reason reason, const Status& of_table) {
    const auto listener = std::make_shared<Listener>();
    listener->SetWrites();
    StoreFiles files(rocksdb::FileSystem::Default(), listener);
    WriteFile(table, "");
    rocksdb::TableFileCreationInfo info;
    info.status = of_table;
    listener->OnTableFileCreated(info);
    Status error = Status::NoSpace("injected");
    listener->OnBackgroundError(reason, &error);
    EXPECT_TRUE(listener->error().IsNoSpace());
    EXPECT_TRUE(files.DeleteFile(table, {}, nullptr).ok());
    return !std::filesystem::exists(table);
  };
  const Status no_table = Status::NoSpace("injected");
  for (const Reason reason : {Reason::kFlush, Reason::kCompaction}) {
    EXPECT_TRUE(is_deleted_after(reason, no_table));
    EXPECT_FALSE(is_deleted_after(reason, Status::OK()));
  }
  EXPECT_TRUE(is_deleted_after(Reason::kWriteCallback, Status::OK()));
  EXPECT_FALSE(is_deleted_after(Reason::kManifestWrite, no_table));
}

// RocksDB 11.1.1 deletes files at the end of a database that only reads: tables
// by the file system, others by the Env, by which it also moves logs.
TEST(StoreEnv, KeepsFilesUntilTheDatabaseIsOpenForWriting) {
  const TempDir dir;
  const auto listener = std::make_shared<Listener>();
  const auto files =
      std::make_shared<StoreFiles>(rocksdb::FileSystem::Default(), listener);
  StoreEnv env(rocksdb::Env::Default(), files, listener, dir.path());
  const std::string log = dir.File("000003.log");
  const std::string moved = dir.File("moved.log");
  for (const bool writes : {false, true}) {
    if (writes) listener->SetWrites();
    for (const char* const name : {"000001.sst", "000002.blob"}) {
      WriteFile(dir.File(name), "");
      EXPECT_TRUE(files->DeleteFile(dir.File(name), {}, nullptr).ok());
      EXPECT_NE(std::filesystem::exists(dir.File(name)), writes) << name;
    }
    WriteFile(log, "");
    EXPECT_THAT(env.RenameFile(log, moved), IsOk());
    EXPECT_EQ(std::filesystem::exists(moved), writes);
    for (const char* const name : {"000003.log", "000004.dbtmp"}) {
      WriteFile(dir.File(name), "");
      EXPECT_THAT(env.DeleteFile(dir.File(name)), IsOk());
      EXPECT_NE(std::filesystem::exists(dir.File(name)), writes) << name;
    }
  }
}

// Errors of a look at the archive of logs, which is not there, are among them.
TEST(FailedCheckpoint, IsAnErrorOfTheDiskAndCanBeRepeated) {
  bool met = true;
  int repeated = 0;
  for (uint64_t call = 1; met; call += Stride(5)) {
    SCOPED_TRACE(call);
    const TempDir dir;
    FaultPlan plan;
    const auto env = NewFaultEnv(&plan);
    const auto store =
        OpenOrFail({.env = env.get()}, dir.File("db"), {{"f", {}}});
    ASSERT_THAT(store->Put("r", "f", "q", "v"), IsOk());
    plan.FailCall(call, /*for_good=*/false);
    Status s = store->Checkpoint(dir.File("copy"));
    met = plan.faults() > 0;
    plan.FailNoCall();
    if (!s.ok()) {
      // A lock that cannot be made is another's for all that RocksDB tells.
      EXPECT_TRUE(s.IsIOError() || s.IsBusy() || s.IsAborted()) << s.ToString();
      s = store->Checkpoint(dir.File("copy"));
      repeated += s.ok() ? 1 : 0;
    }
    if (s.ok()) {
      const auto copy = OpenOrFail({}, dir.File("copy"), {});
      EXPECT_EQ(ValueOf(*copy, "r", "f", "q"), "v");
    } else {
      EXPECT_FALSE(store->Put("r", "f", "q", "v").ok()) << s.ToString();
    }
  }
  EXPECT_TRUE(repeated > 0 || Stride(5) > 1);
}

}  // namespace
}  // namespace rowbloom::test
