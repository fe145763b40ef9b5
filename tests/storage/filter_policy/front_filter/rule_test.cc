// The rule of storage/filter_policy/front_filter/DESIGN.md, line by line: each
// test fails if its line is not kept. There is no worker here: Reconcile runs
// when a test calls it, and what else happens, happens in the middle of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/block/hash.h"
#include "rocksdb/listener.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/stackable_db.h"
#include "rowbloom/open_db.h"
#include "storage/filter_policy/front_filter/core.h"
#include "storage/filter_policy/front_filter/memtable_factory.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace rowbloom::front_filter {
namespace {

using test::ExpectOk;

// A database in which something happens before or after files are listed, and
// with properties that are higher than RocksDB's.
class Stage final : public rocksdb::StackableDB {
 public:
  using StackableDB::StackableDB;

  using StackableDB::GetIntProperty;
  bool GetIntProperty(rocksdb::ColumnFamilyHandle* family,
                      const rocksdb::Slice& name, uint64_t* value) override {
    if (!StackableDB::GetIntProperty(family, name, value)) return false;
    if (const auto found = more.find(name.ToString()); found != more.end()) {
      *value += found->second;
    }
    return true;
  }

  void GetColumnFamilyMetaData(
      rocksdb::ColumnFamilyHandle* family,
      rocksdb::ColumnFamilyMetaData* listing) override {
    if (before_listing) std::exchange(before_listing, nullptr)();
    StackableDB::GetColumnFamilyMetaData(family, listing);
    if (after_listing) std::exchange(after_listing, nullptr)();
  }

  std::function<void()> before_listing;
  std::function<void()> after_listing;
  std::map<std::string, uint64_t> more;  // by property
};

// Holds flushes back.
class Gate final : public rocksdb::EventListener {
 public:
  void OnFlushBegin(rocksdb::DB* /*db*/,
                    const rocksdb::FlushJobInfo& /*info*/) override {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
  }
  void Set(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = true;
};

class Rule : public testing::Test {
 protected:
  Rule() { Open(Options()); }
  ~Rule() override { Close(); }

  rocksdb::Options Options() {
    auto options = test::TestDbOptions(
        {test::MakeFilterPolicy({.key_layout = KeyLayout::Delimited(':')}),
         nullptr});
    options.max_write_buffer_number = 10;
    return options;
  }
  void Open(rocksdb::Options options) {
    core_ = std::make_shared<Core>(FrontFilterOptions{});
    const auto rules = RulesOf(options);
    ASSERT_TRUE(rules) << rules.error();
    options.memtable_factory =
        NewMemtableFactory(options.memtable_factory, core_, *rules);
    options.listeners = {gate_, NewListener(core_)};
    std::unique_ptr<rocksdb::DB> db;
    ExpectOk(rocksdb::DB::Open(options, dir_.File("db"), Into(&db)));
    stage_ = std::make_unique<Stage>(db.release());
    family_ = core_->Find(0);
    ASSERT_NE(family_, nullptr);
  }
  void Attach() {
    family_->Attach(stage_.get(), stage_->DefaultColumnFamily());
  }
  void Arm() {
    Attach();
    family_->Reconcile();
    ASSERT_FALSE(MayHave("never written"));
  }
  std::shared_ptr<Announcement> Announce(std::vector<std::string> paths) {
    return family_->Announce(rocksdb::Env::Default(), std::move(paths));
  }
  void Close() {
    family_->ForgetHandle(nullptr);
    stage_.reset();
  }

  bool MayHave(const std::string& row) {
    const std::string bytes = row + ":";
    const Family::Lookup lookup(*family_);
    return !lookup.armed() ||
           lookup.view().MayHave({.bytes = bytes, .hash = HashRow(bytes)});
  }
  void Put(const std::string& row) {
    ExpectOk(stage_->Put({}, row + ":a", "v"));
  }
  void Flush() { ExpectOk(stage_->Flush({})); }
  void Compact() { test::CompactAll(stage_.get()); }
  // RocksDB destroys a memtable some time after its flush has ended, and a
  // version some time after the compaction that replaced it.
  void ExpectMemtablesToGo(size_t left) {
    ExpectToGo(&FrontFilterFamilyStats::memtables, left);
  }
  void ExpectFilesToGo(size_t left) {
    ExpectToGo(&FrontFilterFamilyStats::files_known, left);
  }
  void ExpectToGo(uint64_t FrontFilterFamilyStats::*what, uint64_t left) {
    EXPECT_TRUE(test::WaitFor([&] {
      if (family_->Stats().*what == left) return true;
      family_->Reconcile();
      return false;
    })) << family_->Stats().*what;
  }
  std::string WriteSst(const std::string& row, bool with_filter = true) {
    const std::string path = dir_.File(row + ".sst");
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(),
                                  with_filter ? Options() : rocksdb::Options());
    ExpectOk(writer.Open(path));
    ExpectOk(writer.Put(row + ":a", "v"));
    ExpectOk(writer.Finish());
    return path;
  }
  void Ingest(const std::string& path) {
    ExpectOk(stage_->IngestExternalFile({path}, {}));
  }

  test::TempDir dir_;
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::shared_ptr<Core> core_;
  std::unique_ptr<Stage> stage_;
  Family* family_ = nullptr;
};

// Line 1.
TEST_F(Rule, AMemtableEntersAtItsConstruction) {
  Arm();
  Put("first");
  EXPECT_TRUE(MayHave("first"));
  Flush();  // another memtable, and no Reconcile
  Put("second");
  EXPECT_TRUE(MayHave("second"));
  EXPECT_TRUE(MayHave("first"));
}

TEST_F(Rule, AMemtableOfTheTimeBeforeArmingIsThere) {
  Put("first");
  Arm();
  EXPECT_TRUE(MayHave("first"));
}

// Line 1, while Reconcile has its listing already.
TEST_F(Rule, AMemtableThatComesDuringAReconcileStays) {
  Arm();
  Put("first");
  stage_->after_listing = [this] {
    Flush();
    Put("second");
  };
  family_->Reconcile();
  EXPECT_TRUE(MayHave("first"));
  EXPECT_TRUE(MayHave("second"));
}

// Line 2: which memtables are gone is noted before the listing. After the
// listing the memtable of "first" goes, and its file is not in the listing.
TEST_F(Rule, WhatIsGoneIsNotedBeforeTheListing) {
  Arm();
  Put("first");
  stage_->after_listing = [this] { Flush(); };
  family_->Reconcile();
  EXPECT_TRUE(MayHave("first"));
  family_->Reconcile();
  EXPECT_TRUE(MayHave("first"));
}

// Line 2: a memtable is not taken out before it is destroyed. Its flush is held
// back while another memtable is written to.
TEST_F(Rule, AMemtableStaysUntilItIsDestroyed) {
  Arm();
  Put("first");
  gate_->Set(false);
  rocksdb::FlushOptions options;
  options.wait = false;
  ExpectOk(stage_->Flush(options));
  Put("second");
  family_->Reconcile();
  EXPECT_TRUE(MayHave("first"));
  EXPECT_TRUE(MayHave("second"));
  gate_->Set(true);
  Flush();
  ExpectMemtablesToGo(1);
  EXPECT_TRUE(MayHave("first"));
  EXPECT_TRUE(MayHave("second"));
}

// Line 2: a destroyed memtable stays until a listing. There are no events here.
TEST_F(Rule, ADestroyedMemtableStaysUntilAListing) {
  Arm();
  Put("first");
  Flush();
  Put("second");
  Flush();
  EXPECT_TRUE(MayHave("first"));
  EXPECT_TRUE(MayHave("second"));
}

// Line 2: files stay until a listing without them, which has their successors.
TEST_F(Rule, FilesStayUntilAListingHasTheirSuccessors) {
  Arm();
  Put("first");
  Flush();
  Put("second");
  Flush();
  family_->Reconcile();
  stage_->after_listing = [this] { Compact(); };
  family_->Reconcile();  // lists the inputs
  EXPECT_TRUE(MayHave("first"));
  EXPECT_TRUE(MayHave("second"));
  EXPECT_EQ(family_->Stats().files_known, 2);
  ExpectFilesToGo(1);
  EXPECT_TRUE(MayHave("first"));
  EXPECT_TRUE(MayHave("second"));
}

// Line 2: files that vanish between the listing and the reading of them.
TEST_F(Rule, AFileThatIsGoneWhenItIsReadMayHaveAnyRow) {
  Arm();
  Put("first");
  Flush();
  Put("second");
  Flush();
  stage_->after_listing = [this] { Compact(); };
  family_->Reconcile();
  EXPECT_EQ(family_->Stats().files_unknown, 2);
  EXPECT_TRUE(MayHave("first"));
  EXPECT_TRUE(MayHave("second"));
  family_->Reconcile();
  EXPECT_EQ(family_->Stats().files_unknown, 0);
  EXPECT_TRUE(MayHave("first"));
}

// Line 2: a listing without a file may be ahead of readers, who have the
// version before it until a SuperVersion is installed.
TEST_F(Rule, AnUnlistedFileStaysAsLongAsReadersMayHaveIt) {
  using Properties = rocksdb::DB::Properties;
  Arm();
  Put("first");
  Flush();
  ExpectMemtablesToGo(1);
  const auto delete_all = [this] {
    ExpectOk(stage_->DeleteRange({}, stage_->DefaultColumnFamily(), "a", "z"));
    Compact();
  };
  // Nothing of a SuperVersion after the listing is known, and another version
  // than the last one is alive.
  stage_->before_listing = delete_all;
  stage_->more[Properties::kNumLiveVersions] = 1;
  family_->Reconcile();
  EXPECT_TRUE(MayHave("first"));
  EXPECT_FALSE(MayHave("other"));
  EXPECT_EQ(family_->Stats().files_known, 1);
  family_->Reconcile();
  EXPECT_TRUE(MayHave("first"));
  stage_->more[Properties::kCurrentSuperVersionNumber] = 1;
  family_->Reconcile();
  EXPECT_FALSE(MayHave("first"));
  EXPECT_EQ(family_->Stats().files_known, 0);
}

// Line 2: one version has no readers of another.
TEST_F(Rule, AnUnlistedFileGoesWithTheLastVersionThatHasIt) {
  Arm();
  Put("first");
  Flush();
  ExpectMemtablesToGo(1);
  std::unique_ptr<rocksdb::Iterator> holds_the_version(
      stage_->NewIterator(rocksdb::ReadOptions()));
  Put("second");
  Flush();
  Compact();
  family_->Reconcile();
  EXPECT_EQ(family_->Stats().files_known, 2);
  holds_the_version.reset();
  ExpectFilesToGo(1);
  EXPECT_TRUE(MayHave("first"));
  EXPECT_TRUE(MayHave("second"));
}

// Line 2: what is not needed goes.
TEST_F(Rule, NothingStaysForGood) {
  Arm();
  for (int file = 0; file < 20; ++file) {
    Put("row" + std::to_string(file));
    Flush();
  }
  EXPECT_EQ(family_->Stats().memtables, 21);
  Compact();
  ExpectMemtablesToGo(1);
  ExpectFilesToGo(1);
  ExpectOk(stage_->DeleteRange({}, stage_->DefaultColumnFamily(), "r", "s"));
  Compact();
  ExpectMemtablesToGo(1);
  ExpectFilesToGo(0);
  EXPECT_FALSE(MayHave("row1"));
}

// Line 3.
TEST_F(Rule, AFileWithoutASectionMayHaveEachRowOfItsRange) {
  Arm();
  const auto announced = Announce({WriteSst("plain", false)});
  EXPECT_TRUE(MayHave("any"));
  Ingest(dir_.File("plain.sst"));
  family_->Finish(announced);
  family_->Reconcile();
  EXPECT_EQ(family_->Stats().files_unknown, 1);
  EXPECT_TRUE(MayHave("plain"));
  EXPECT_FALSE(MayHave("any"));
}

// Line 3: it has each row until it can be read.
TEST_F(Rule, AFileThatCannotBeOpenedIsReadLater) {
  Put("first");
  Flush();
  std::vector<rocksdb::LiveFileMetaData> files;
  stage_->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1);
  const std::string path = files[0].db_path + files[0].name;
  std::filesystem::rename(path, path + ".away");
  Attach();
  family_->Reconcile();
  EXPECT_EQ(family_->Stats().files_unknown, 1);
  EXPECT_THAT(family_->Stats().why_unknown, testing::HasSubstr(path));
  EXPECT_TRUE(MayHave("first"));
  std::filesystem::rename(path + ".away", path);
  family_->Reconcile();
  EXPECT_EQ(family_->Stats().files_known, 1);
  EXPECT_EQ(family_->Stats().why_unknown, "");
  EXPECT_TRUE(MayHave("first"));
  EXPECT_FALSE(MayHave("absent"));
}

// Line 4: the row is there before RocksDB returns, and before any Reconcile.
TEST_F(Rule, AFileToBeIngestedEntersBefore) {
  Arm();
  const auto announced = Announce({WriteSst("new")});
  Ingest(dir_.File("new.sst"));
  EXPECT_TRUE(MayHave("new"));
  family_->Finish(announced);
  EXPECT_TRUE(MayHave("new"));
  family_->Reconcile();
  EXPECT_TRUE(MayHave("new"));
  EXPECT_FALSE(MayHave("other"));
}

// Line 4: a Reconcile before the file is there does not take it out.
TEST_F(Rule, AFileToBeIngestedStaysUntilItIs) {
  Arm();
  const auto announced = Announce({WriteSst("new")});
  family_->Reconcile();
  Ingest(dir_.File("new.sst"));
  EXPECT_TRUE(MayHave("new"));
  family_->Finish(announced);
}

// Line 4: nor does one that listed the files before.
TEST_F(Rule, AFileToBeIngestedStaysUntilItIsListed) {
  Arm();
  const auto announced = Announce({WriteSst("new")});
  stage_->after_listing = [&] {
    Ingest(dir_.File("new.sst"));
    family_->Finish(announced);
  };
  family_->Reconcile();
  EXPECT_TRUE(MayHave("new"));
  family_->Reconcile();
  EXPECT_TRUE(MayHave("new"));
  EXPECT_EQ(family_->Stats().files_known, 1);
}

// Line 4: nor one that arms the family, which is attached meanwhile.
TEST_F(Rule, AFileToBeIngestedEntersBeforeTheFamilyIsAttached) {
  const auto announced = Announce({WriteSst("new")});
  Arm();
  Ingest(dir_.File("new.sst"));
  EXPECT_TRUE(MayHave("new"));
  family_->Finish(announced);
  family_->Reconcile();
  EXPECT_TRUE(MayHave("new"));
  EXPECT_EQ(family_->Stats().state, FrontFilterState::kArmed);
}

// Line 4: the first listing has what came in before.
TEST_F(Rule, AFileThatWasIngestedBeforeTheFamilyIsAttachedIsListed) {
  const auto announced = Announce({WriteSst("new")});
  Ingest(dir_.File("new.sst"));
  family_->Finish(announced);
  Arm();
  EXPECT_TRUE(MayHave("new"));
  EXPECT_EQ(family_->Stats().files_known, 1);
}

// Line 4: an ingestion that failed leaves nothing.
TEST_F(Rule, AFileThatWasNotIngestedGoes) {
  Arm();
  const auto announced = Announce({WriteSst("new")});
  family_->Finish(announced);
  EXPECT_TRUE(MayHave("new"));
  family_->Reconcile();
  EXPECT_FALSE(MayHave("new"));
}

// Line 5.
TEST_F(Rule, EachRowMayExistUntilTheFirstReconcileEnded) {
  Put("old");
  Flush();
  Close();
  Open(Options());
  EXPECT_TRUE(MayHave("old"));
  Put("new");
  EXPECT_TRUE(MayHave("old"));
  Attach();
  EXPECT_TRUE(MayHave("old"));
  stage_->after_listing = [this] {
    EXPECT_TRUE(MayHave("old"));
    Flush();
    Put("newer");
    EXPECT_TRUE(MayHave("old"));
  };
  family_->Reconcile();
  for (const char* row : {"old", "new", "newer"}) EXPECT_TRUE(MayHave(row));
  EXPECT_FALSE(MayHave("never written"));
}

// Line 5: memtables that are destroyed after the first listing, which does not
// have their files.
TEST_F(Rule, MemtablesThatGoDuringTheFirstReconcileStay) {
  Put("row0");
  Attach();
  stage_->after_listing = [this] {
    for (int next = 1; next < 20; ++next) {
      Flush();  // makes another memtable
      Put("row" + std::to_string(next));
    }
  };
  family_->Reconcile();
  ASSERT_FALSE(MayHave("never written"));
  for (int row = 0; row < 20; ++row) {
    EXPECT_TRUE(MayHave("row" + std::to_string(row))) << row;
  }
  ExpectMemtablesToGo(1);
}

// Line 5: a family that nothing is known of is not armed, one that has a view
// keeps it.
TEST_F(Rule, WithoutMemoryAFamilyIsNotArmed) {
  Arm();
  family_->OnNoMemory();
  EXPECT_EQ(family_->Stats().state, FrontFilterState::kArmed);
  EXPECT_FALSE(MayHave("never written"));
  Close();
  Open(Options());
  Attach();
  family_->OnNoMemory();
  family_->WaitUntilArmed();
  EXPECT_EQ(family_->Stats().why, "there was no memory to learn its files");
  family_->Reconcile();
  EXPECT_TRUE(MayHave("never written"));
}

// Line 5: a file that came in behind the filter's back.
TEST_F(Rule, AnUnannouncedFileDisarmsForGood) {
  Arm();
  WriteSst("new");
  Ingest(dir_.File("new.sst"));
  EXPECT_TRUE(MayHave("new"));
  EXPECT_TRUE(MayHave("never written"));
  family_->Reconcile();
  Put("other");
  Flush();
  family_->Reconcile();
  EXPECT_TRUE(MayHave("never written"));
  EXPECT_EQ(family_->Stats().state, FrontFilterState::kDisarmed);
  EXPECT_EQ(family_->Stats().why,
            "a file was ingested without the front filter");
}

// Line 5: in the middle of a Reconcile, which then publishes nothing.
TEST_F(Rule, AnUnannouncedFileDisarmsDuringAReconcile) {
  Arm();
  WriteSst("new");
  Put("other");
  Flush();
  stage_->after_listing = [this] { Ingest(dir_.File("new.sst")); };
  family_->Reconcile();
  EXPECT_TRUE(MayHave("new"));
  EXPECT_TRUE(MayHave("never written"));
  EXPECT_EQ(core_->Stats().bytes, 0);
}

// Line 5: once RocksDB has returned, the announcement counts no more.
TEST_F(Rule, AnAnnouncementIsForOneIngestion) {
  Arm();
  const auto announced = Announce({WriteSst("new")});
  Ingest(dir_.File("new.sst"));
  family_->Finish(announced);
  Ingest(dir_.File("new.sst"));
  EXPECT_EQ(family_->Stats().state, FrontFilterState::kDisarmed);
}

// Line 5: the handle is gone, and with it what Reconcile could list.
TEST_F(Rule, WithoutAHandleEachRowMayExist) {
  Arm();
  Put("row");
  Flush();
  family_->Reconcile();
  EXPECT_GT(core_->Stats().bytes, 0);
  family_->ForgetHandle(nullptr);
  EXPECT_EQ(core_->Stats().bytes, 0);
  EXPECT_TRUE(MayHave("never written"));
  family_->Reconcile();
  EXPECT_TRUE(MayHave("never written"));
}

// Line 5: RocksDB counts one sealed memtable more than entered here, whether
// any of those waits for its flush or not.
TEST_F(Rule, AMemtableOfRocksdbsOwnDisarmsForGood) {
  for (const bool one_waits : {false, true}) {
    SCOPED_TRACE(one_waits);
    Arm();
    Put("row");
    gate_->Set(!one_waits);
    rocksdb::FlushOptions options;
    options.wait = !one_waits;
    ExpectOk(stage_->Flush(options));
    family_->CheckMemtables();
    EXPECT_EQ(family_->Stats().state, FrontFilterState::kArmed);
    stage_->more[rocksdb::DB::Properties::kNumImmutableMemTable] = 1;
    Put("other");
    rocksdb::FlushOptions at_once;
    at_once.wait = false;
    ExpectOk(stage_->Flush(at_once));  // seals a memtable
    EXPECT_EQ(family_->Stats().state, FrontFilterState::kDisarmed);
    EXPECT_TRUE(MayHave("never written"));
    gate_->Set(true);
    Close();
    Open(Options());
  }
}

// Line 5: RocksDB may flush its own memtable before it says that one was
// sealed.
TEST_F(Rule, AMemtableOfRocksdbsOwnDisarmsWhenItsFlushBegins) {
  Arm();
  Put("row");
  gate_->Set(false);
  rocksdb::FlushOptions at_once;
  at_once.wait = false;
  ExpectOk(stage_->Flush(at_once));  // seals a memtable
  EXPECT_EQ(family_->Stats().state, FrontFilterState::kArmed);
  stage_->more[rocksdb::DB::Properties::kNumImmutableMemTable] = 1;
  gate_->Set(true);
  Flush();  // waits for it
  EXPECT_EQ(family_->Stats().state, FrontFilterState::kDisarmed);
}

// Line 5: while memtables are sealed and flushed, their numbers differ.
TEST_F(Rule, MemtablesAreCountedWhileTheyAreFlushed) {
  Arm();
  std::atomic<bool> ends = false;
  std::thread checks([&] {
    while (!ends) family_->CheckMemtables();
  });
  for (int i = 0; i < 200; ++i) {
    Put("row" + std::to_string(i));
    rocksdb::FlushOptions options;
    options.wait = i % 3 == 0;
    options.allow_write_stall = true;
    ExpectOk(stage_->Flush(options));
  }
  ends = true;
  checks.join();
  EXPECT_EQ(family_->Stats().state, FrontFilterState::kArmed)
      << family_->Stats().why;
}

// Line 5: a memtable that could not be followed.
TEST_F(Rule, AMemtableWithoutAFilterEndsIt) {
  Arm();
  Put("row");
  Flush();
  family_->Reconcile();
  EXPECT_EQ(core_->FindToProbe(0), family_);
  EXPECT_GT(core_->Stats().bytes, 0);
  core_->GiveUp("a reason");
  EXPECT_EQ(core_->FindToProbe(0), nullptr);
  core_->SetEnabled(true);
  EXPECT_EQ(core_->FindToProbe(0), nullptr);
  EXPECT_EQ(core_->Stats().families[0].state, FrontFilterState::kDisarmed);
  EXPECT_EQ(core_->Stats().families[0].why, "a reason");
  // A disarmed family takes no memory, and one that is made now is disarmed.
  family_->Reconcile();
  EXPECT_EQ(core_->Stats().bytes, 0);
  EXPECT_EQ(family_->AddMemtable(), nullptr);
  EXPECT_EQ(core_->FindOrMake(7, family_->rules())->AddMemtable(), nullptr);
}

// A reader that came before a view was replaced goes on with its own.
TEST_F(Rule, AReaderKeepsItsView) {
  Arm();
  Put("first");
  Flush();
  family_->Reconcile();
  {
    const Family::Lookup lookup(*family_);
    Compact();
    family_->Reconcile();
    family_->Reconcile();
    const std::string row = "first:";
    EXPECT_TRUE(lookup.view().MayHave({.bytes = row, .hash = HashRow(row)}));
  }
  EXPECT_TRUE(MayHave("first"));
}

}  // namespace
}  // namespace rowbloom::front_filter
