// FrontFilter with the databases that OpenWithFrontFilter does not open.
#include "rowbloom/front_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/db_ttl.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb/utilities/stackable_db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rowbloom/open_db.h"
#include "tests/storage/filter_policy/front_filter/all_listed.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace rowbloom::front_filter_test {
namespace {

using rocksdb::Status;
using test::ExpectOk;
using test::IsOk;
using test::StatusIs;
using testing::HasSubstr;

rocksdb::Options Options() {
  return test::TestDbOptions(
      {test::MakeFilterPolicy({.key_layout = KeyLayout::Delimited(':')}),
       nullptr});
}

class FrontFilterTest : public testing::Test {
 protected:
  static void Arm(FrontFilter* filter, rocksdb::DB* db) {
    ExpectOk(filter->Attach(db));
    filter->WaitUntilArmed();
  }
  // A row of a family that was opened without Prepare may exist: the filter was
  // not told of it.
  void ExpectUnprepared(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle) {
    filter_->WaitUntilArmed();
    ExpectOk(db->Put({}, handle, "row:a", "v"));
    EXPECT_TRUE(filter_->MayHaveRow(handle, "row:"));
    const auto families = filter_->Stats().families;
    ASSERT_EQ(std::ranges::count(families, handle->GetID(),
                                 &FrontFilterFamilyStats::id),
              1);
    const auto family = std::ranges::find(families, handle->GetID(),
                                          &FrontFilterFamilyStats::id);
    EXPECT_EQ(family->name, handle->GetName());
    EXPECT_EQ(family->state, FrontFilterState::kDisarmed);
    EXPECT_EQ(family->why, "it was opened without Prepare");
  }
  const FrontFilterFamilyStats DefaultFamily() {
    return filter_->Stats().families.at(0);
  }

  test::TempDir dir_;
  const std::string path_ = dir_.File("db");
  rocksdb::Options options_ = Options();
  std::shared_ptr<FrontFilter> filter_ = test::PrepareFilter(&options_);
};

TEST_F(FrontFilterTest, TransactionDB) {
  for (const auto policy :
       {rocksdb::WRITE_COMMITTED, rocksdb::WRITE_PREPARED}) {
    auto options = Options();
    auto filter = test::PrepareFilter(&options);
    rocksdb::TransactionDBOptions txn_options;
    txn_options.write_policy = policy;
    rocksdb::TransactionDB* opened = nullptr;
    ExpectOk(rocksdb::TransactionDB::Open(
        options, txn_options, dir_.File(std::to_string(policy)), &opened));
    const std::unique_ptr<rocksdb::TransactionDB> db(opened);
    Arm(filter.get(), db.get());
    const auto* family = db->DefaultColumnFamily();
    int absent = 0;
    for (int i = 0; i < 200; ++i) {
      const std::string row = "row" + std::to_string(i) + ":";
      if (!filter->MayHaveRow(family, row)) ++absent;
      const std::unique_ptr<rocksdb::Transaction> txn(
          db->BeginTransaction({}, {}));
      ExpectOk(txn->Put(row + "a", "v"));
      if (i % 2 == 0) {  // two-phase commit
        ExpectOk(txn->SetName("txn" + std::to_string(i)));
        ExpectOk(txn->Prepare());
      }
      ExpectOk(txn->Commit());
      EXPECT_TRUE(filter->MayHaveRow(family, row)) << row;
      if (i % 50 == 0) ExpectOk(db->Flush({}));
    }
    EXPECT_GT(absent, 180);
    for (int i = 0; i < 200; ++i) {
      EXPECT_TRUE(filter->MayHaveRow(family, "row" + std::to_string(i) + ":"));
    }
    filter->Detach();
  }
}

// The answer for a key is that of the database's MultiGet, which may differ
// from that of its Get, also if the other keys are absent.
TEST_F(FrontFilterTest, MultiGetAnswersAsTheDatabaseBelow) {
  const auto expect_same = [](rocksdb::DB* db, FrontFilterDB* front) {
    const auto read = [](rocksdb::DB* from) {
      const rocksdb::Slice keys[] = {"row:a", "absent:a"};
      rocksdb::PinnableSlice values[2];
      Status statuses[2];
      from->MultiGet({}, from->DefaultColumnFamily(), 2, keys, values,
                     statuses);
      EXPECT_TRUE(statuses[1].IsNotFound());
      return statuses[0].ToString() + " " + values[0].ToString(true);
    };
    EXPECT_EQ(read(front), read(db));
    EXPECT_EQ(front->front_filter()->Stats().answered, 1);
  };
  {
    SCOPED_TRACE("values with a time");
    rocksdb::DBWithTTL* opened = nullptr;
    ExpectOk(rocksdb::DBWithTTL::Open(options_, path_, &opened, 1'000));
    Arm(filter_.get(), opened);
    FrontFilterDB front(std::unique_ptr<rocksdb::DB>(opened), filter_);
    ExpectOk(opened->Put({}, "row:a", "v"));
    expect_same(opened, &front);
  }
  SCOPED_TRACE("a prepared transaction");
  auto options = Options();
  auto filter = test::PrepareFilter(&options);
  rocksdb::TransactionDBOptions txn_options;
  txn_options.write_policy = rocksdb::WRITE_PREPARED;
  rocksdb::TransactionDB* opened = nullptr;
  ExpectOk(rocksdb::TransactionDB::Open(options, txn_options,
                                        dir_.File("prepared"), &opened));
  Arm(filter.get(), opened);
  FrontFilterDB front(std::unique_ptr<rocksdb::DB>(opened), filter);
  const std::unique_ptr<rocksdb::Transaction> txn(
      opened->BeginTransaction({}, {}));
  ExpectOk(txn->SetName("txn"));
  ExpectOk(txn->Put("row:a", "v"));
  ExpectOk(txn->Prepare());
  expect_same(opened, &front);
  ExpectOk(txn->Commit());
}

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 910
// Such a transaction hands RocksDB a memtable of its own, whose rows are there
// once Commit has returned.
TEST_F(FrontFilterTest, TransactionsThatBypassMemtables) {
  rocksdb::TransactionDB* opened = nullptr;
  ExpectOk(rocksdb::TransactionDB::Open(options_, {}, path_, &opened));
  const std::unique_ptr<rocksdb::TransactionDB> db(opened);
  Arm(filter_.get(), db.get());
  const auto* family = db->DefaultColumnFamily();
  ASSERT_FALSE(filter_->MayHaveRow(family, "bypassing:"));
  rocksdb::TransactionOptions bypass;
  bypass.commit_bypass_memtable = true;
  const std::unique_ptr<rocksdb::Transaction> txn(
      db->BeginTransaction({}, bypass));
  ExpectOk(txn->Put("bypassing:a", "v"));
  ExpectOk(txn->SetName("txn"));
  ExpectOk(txn->Prepare());
  EXPECT_FALSE(filter_->MayHaveRow(family, "bypassing:"));
  ExpectOk(txn->Commit());
  EXPECT_TRUE(filter_->MayHaveRow(family, "bypassing:"));
  EXPECT_EQ(DefaultFamily().state, FrontFilterState::kDisarmed);
  EXPECT_THAT(DefaultFamily().why, HasSubstr("bypass memtables"));
}
#endif

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1002
TEST_F(FrontFilterTest, IngestedBatches) {
  const auto db = test::OpenDb(options_, path_);
  const auto batch_with = [](const std::string& key) {
    auto batch = std::make_shared<rocksdb::WriteBatchWithIndex>(
        rocksdb::BytewiseComparator(), 0, /*overwrite_key=*/true);
    ExpectOk(batch->Put(key, "v"));
    return batch;
  };
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  // Before Attach, and not flushed then.
  ExpectOk(db->PauseBackgroundWork());
  ExpectOk(db->IngestWriteBatchWithIndex(unlogged, batch_with("first:a")));
  ExpectOk(filter_->Attach(db.get()));
  filter_->WaitUntilArmed();
  EXPECT_TRUE(filter_->MayHaveRow(db->DefaultColumnFamily(), "first:"));
  EXPECT_EQ(DefaultFamily().state, FrontFilterState::kDisarmed);
  ExpectOk(db->ContinueBackgroundWork());

  rocksdb::Options options = Options();
  std::unique_ptr<FrontFilterDB> front;
  ExpectOk(OpenWithFrontFilter({}, options, dir_.File("front"), &front));
  front->front_filter()->WaitUntilArmed();
  EXPECT_TRUE(front->IngestWriteBatchWithIndex(unlogged, batch_with("second:a"))
                  .IsNotSupported());
  const auto* family = front->DefaultColumnFamily();
  ExpectOk(front->GetRootDB()->IngestWriteBatchWithIndex(
      unlogged, batch_with("second:a")));
  EXPECT_TRUE(front->front_filter()->MayHaveRow(family, "second:"));
  EXPECT_EQ(front->front_filter()->Stats().families[0].state,
            FrontFilterState::kDisarmed);
}
#endif

TEST_F(FrontFilterTest, OptimisticTransactionDB) {
  rocksdb::OptimisticTransactionDB* opened = nullptr;
  ExpectOk(rocksdb::OptimisticTransactionDB::Open(options_, path_, &opened));
  const std::unique_ptr<rocksdb::OptimisticTransactionDB> db(opened);
  Arm(filter_.get(), db.get());
  const std::unique_ptr<rocksdb::Transaction> txn(db->BeginTransaction({}, {}));
  ExpectOk(txn->Put("row:a", "v"));
  EXPECT_FALSE(filter_->MayHaveRow(db->DefaultColumnFamily(), "row:"));
  ExpectOk(txn->Commit());
  EXPECT_TRUE(filter_->MayHaveRow(db->DefaultColumnFamily(), "row:"));
}

// Rows in files, in the log, and in both.
TEST_F(FrontFilterTest, ReadOnly) {
  {
    const auto db = test::OpenDb(Options(), path_);
    ExpectOk(db->Put({}, "file:a", "v"));
    ExpectOk(db->Flush({}));
    ExpectOk(db->Put({}, "log:a", "v"));
  }
  std::unique_ptr<rocksdb::DB> db;
  ExpectOk(rocksdb::DB::OpenForReadOnly(options_, path_, Into(&db)));
  const auto* family = db->DefaultColumnFamily();
  EXPECT_TRUE(filter_->MayHaveRow(family, "absent:"));
  Arm(filter_.get(), db.get());
  EXPECT_TRUE(filter_->MayHaveRow(family, "file:"));
  EXPECT_TRUE(filter_->MayHaveRow(family, "log:"));
  EXPECT_FALSE(filter_->MayHaveRow(family, "absent:"));
}

// RocksDB has opened its files; another database with files of the same
// numbers then comes in their place, where the front filter reads them.
TEST_F(FrontFilterTest, AnotherDatabaseInItsPlace) {
  const std::string link = dir_.File("link");
  for (const std::string name : {"other", "db"}) {
    const auto db = test::OpenDb(Options(), dir_.File(name));
    ExpectOk(db->Put({}, name + ":a", "v"));
    ExpectOk(db->Flush({}));
    std::filesystem::remove(link);
    std::filesystem::create_directory_symlink(dir_.File(name), link);
  }
  std::unique_ptr<rocksdb::DB> db;
  ExpectOk(rocksdb::DB::OpenForReadOnly(options_, link, Into(&db)));
  std::filesystem::remove(link);
  std::filesystem::create_directory_symlink(dir_.File("other"), link);
  Arm(filter_.get(), db.get());
  std::string value;
  ExpectOk(db->Get({}, "db:a", &value));
  EXPECT_TRUE(filter_->MayHaveRow(db->DefaultColumnFamily(), "db:"));
  EXPECT_EQ(DefaultFamily().files_unknown, 1);
}

// The same of a file that is read later, once there is room for its section.
TEST_F(FrontFilterTest, AnotherDatabaseInItsPlaceOnceThereIsRoom) {
  ExpectOk(FrontFilter::Create({.memory_limit_bytes = 64}, &filter_));
  ExpectOk(filter_->Prepare(&options_, &options_));
  const std::string link = dir_.File("link");
  for (const std::string name : {"other", "db"}) {
    const auto db = test::OpenDb(Options(), dir_.File(name));
    for (const std::string family : {"first", "second"}) {
      rocksdb::ColumnFamilyHandle* handle = nullptr;
      ExpectOk(db->CreateColumnFamily(Options(), family, &handle));
      ExpectOk(db->Put({}, handle, name + ":a", "v"));
      ExpectOk(db->Flush({}, handle));
      ExpectOk(db->DestroyColumnFamilyHandle(handle));
    }
    std::filesystem::remove(link);
    std::filesystem::create_directory_symlink(dir_.File(name), link);
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  std::unique_ptr<rocksdb::DB> db;
  ExpectOk(rocksdb::DB::OpenForReadOnly(
      options_, link,
      {{"default", options_}, {"first", options_}, {"second", options_}},
      &handles, Into(&db)));
  for (auto* const handle : {handles[1], handles[2]}) {
    ExpectOk(filter_->Attach(db.get(), {handle}));
    filter_->WaitUntilArmed();
  }
  EXPECT_EQ(filter_->Stats().families.at(2).files_unknown, 1);
  std::filesystem::remove(link);
  std::filesystem::create_directory_symlink(dir_.File("other"), link);
  ExpectOk(db->DestroyColumnFamilyHandle(handles[1]));
  EXPECT_TRUE(test::WaitFor(
      [&] { return filter_->Stats().families.at(1).reconciled > 1; }));
  std::string value;
  ExpectOk(db->Get({}, handles[2], "db:a", &value));
  EXPECT_TRUE(filter_->MayHaveRow(handles[2], "db:"));
  EXPECT_EQ(filter_->Stats().families.at(1).files_unknown, 1);
  ExpectOk(db->DestroyColumnFamilyHandle(handles[2]));
  ExpectOk(db->DestroyColumnFamilyHandle(handles[0]));
}

TEST_F(FrontFilterTest, SecondariesAreRefusedAndStayAsTheyWere) {
  const auto primary = test::OpenDb(Options(), path_);
  ExpectOk(primary->Put({}, "row:a", "old"));
  options_.max_open_files = -1;
  std::unique_ptr<rocksdb::DB> db;
  ExpectOk(rocksdb::DB::OpenAsSecondary(options_, path_, dir_.File("secondary"),
                                        Into(&db)));
  ExpectOk(primary->Put({}, "row:a", "new"));
  EXPECT_THAT(filter_->Attach(db.get()),
              StatusIs(Status::kNotSupported, HasSubstr("secondaries")));
  std::string value;
  ExpectOk(db->Get({}, "row:a", &value));
  EXPECT_EQ(value, "old");
  EXPECT_TRUE(filter_->MayHaveRow(db->DefaultColumnFamily(), "absent:"));
}

TEST_F(FrontFilterTest, ServesOneDatabaseOnce) {
  auto db = test::OpenDb(options_, path_);
  Arm(filter_.get(), db.get());
  Arm(filter_.get(), db.get());
  const auto other = test::OpenDb(Options(), dir_.File("other"));
  EXPECT_THAT(filter_->Attach(other.get()),
              StatusIs(Status::kInvalidArgument, HasSubstr("one database")));
  filter_->Detach();
  EXPECT_TRUE(filter_->MayHaveRow(db->DefaultColumnFamily(), "absent:"));
  EXPECT_THAT(filter_->Attach(db.get()),
              StatusIs(Status::kInvalidArgument, HasSubstr("one time")));
}

// A database may be closed while the filter lives, and the other way round.
TEST_F(FrontFilterTest, EitherMayEndFirst) {
  auto db = test::OpenDb(options_, path_);
  Arm(filter_.get(), db.get());
  ExpectOk(db->Put({}, "row:a", "v"));
  db.reset();
  EXPECT_EQ(DefaultFamily().state, FrontFilterState::kDisarmed);
  EXPECT_EQ(DefaultFamily().why, "its handle is gone");

  auto options = Options();
  auto other = test::PrepareFilter(&options);
  db = test::OpenDb(options, path_);
  Arm(other.get(), db.get());
  other.reset();
  ExpectOk(db->Put({}, "row2:a", "v"));
  ExpectOk(db->Flush({}));
}

// An ingestion that ends by an exception leaves no row of its files.
TEST_F(FrontFilterTest, AnIngestionThatThrowsIsOver) {
  class Throws final : public rocksdb::StackableDB {
   public:
    using StackableDB::StackableDB;
    Status IngestExternalFiles(
        const std::vector<rocksdb::IngestExternalFileArg>&) override {
      throw std::bad_alloc();
    }
  };
  Throws db(test::OpenDb(options_, path_).release());
  Arm(filter_.get(), &db);
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), Options());
  ExpectOk(writer.Open(dir_.File("sst")));
  ExpectOk(writer.Put("row:a", "v"));
  ExpectOk(writer.Finish());
  rocksdb::IngestExternalFileArg files;
  files.column_family = db.DefaultColumnFamily();
  files.external_files = {dir_.File("sst")};
  EXPECT_THAT(filter_->IngestExternalFiles(&db, {files}),
              StatusIs(Status::kAborted, HasSubstr("Memory limit")));
  EXPECT_TRUE(test::WaitFor(
      [&] { return !filter_->MayHaveRow(db.DefaultColumnFamily(), "row:"); }));
  filter_->Detach();
}

// The same rows one by one and together; rows that are none may exist.
TEST_F(FrontFilterTest, ManyRowsAtOnce) {
  const auto db = test::OpenDb(options_, path_);
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i)
    texts.push_back("row" + std::to_string(i) + ":");
  for (int i = 0; i < 300; i += 3) ExpectOk(db->Put({}, texts[i] + "a", "v"));
  ExpectOk(db->Flush({}));
  for (int i = 1; i < 300; i += 3) ExpectOk(db->Put({}, texts[i] + "a", "v"));
  Arm(filter_.get(), db.get());
  texts.insert(texts.begin() + 7, "no delimiter");
  texts.insert(texts.begin() + 90, "row2:more than a row");
  const std::vector<std::string_view> rows(texts.begin(), texts.end());
  for (const size_t count : {0UL, 1UL, 31UL, 32UL, 33UL, rows.size()}) {
    const auto answers = std::make_unique<bool[]>(rows.size());
    filter_->MayHaveRows(db->DefaultColumnFamily(),
                         std::span(rows).first(count),
                         {answers.get(), rows.size()});
    size_t absent = 0;
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(answers[i],
                filter_->MayHaveRow(db->DefaultColumnFamily(), rows[i]))
          << rows[i];
      if (!answers[i]) ++absent;
    }
    EXPECT_GE(absent + 1 + count / 50, count / 3);
    EXPECT_LE(absent, count / 3 + 1);
  }
  EXPECT_TRUE(filter_->MayHaveRow(db->DefaultColumnFamily(), "no delimiter"));
}

TEST_F(FrontFilterTest, SaysWhyAFamilyHasNone) {
  auto unfiltered = rocksdb::ColumnFamilyOptions();
  auto unprepared = rocksdb::ColumnFamilyOptions(Options());
  ExpectOk(filter_->Prepare(&options_, &unfiltered));
  auto copied = rocksdb::ColumnFamilyOptions(options_);
  copied.comparator = rocksdb::ReverseBytewiseComparator();
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  std::unique_ptr<rocksdb::DB> db;
  options_.create_missing_column_families = true;
  ExpectOk(rocksdb::DB::Open(options_, path_,
                             {{"default", options_},
                              {"unfiltered", unfiltered},
                              {"unprepared", unprepared},
                              {"copied", copied}},
                             &handles, Into(&db)));
  ExpectOk(filter_->Attach(db.get(), handles));
  filter_->WaitUntilArmed();
  const auto stats = filter_->Stats();
  ASSERT_EQ(stats.families.size(), 4);
  EXPECT_EQ(stats.families[0].state, FrontFilterState::kArmed);
  EXPECT_EQ(stats.families[1].name, "unfiltered");
  EXPECT_EQ(stats.families[1].state, FrontFilterState::kDisarmed);
  EXPECT_EQ(stats.families[1].why, "the family has no filter policy");
  EXPECT_EQ(stats.families[2].why, "it was opened without Prepare");
  EXPECT_FALSE(filter_->MayHaveRow(handles[0], "absent:"));
  EXPECT_TRUE(filter_->MayHaveRow(handles[1], "absent:"));
  EXPECT_TRUE(filter_->MayHaveRow(handles[2], "absent:"));
  const auto other = std::ranges::find(stats.families, "copied",
                                       &FrontFilterFamilyStats::name);
  ASSERT_NE(other, stats.families.end());
  EXPECT_EQ(other->state, FrontFilterState::kDisarmed);
  EXPECT_EQ(other->why, "it was opened without Prepare");
  EXPECT_TRUE(filter_->MayHaveRow(handles[3], "absent:"));
  for (auto* handle : handles) ExpectOk(db->DestroyColumnFamilyHandle(handle));
}

// A family of this id was prepared, but in an opening that is over.
TEST_F(FrontFilterTest, AnEarlierOpeningWasPrepared) {
  test::OpenDb(options_, path_).reset();
  const auto db = test::OpenDb(Options(), path_);
  ExpectOk(filter_->Attach(db.get()));
  ExpectUnprepared(db.get(), db->DefaultColumnFamily());
}

// An opening that fails late has memtables.
TEST_F(FrontFilterTest, AnOpeningThatFailedWasPrepared) {
  {
    const auto db = test::OpenDb(Options(), path_);
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    ExpectOk(db->CreateColumnFamily(Options(), "other", &handle));
    ExpectOk(db->DestroyColumnFamilyHandle(handle));
  }
  std::unique_ptr<rocksdb::DB> db;
  EXPECT_THAT(rocksdb::DB::Open(options_, path_, Into(&db)),
              StatusIs(Status::kInvalidArgument, HasSubstr("other")));
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  ExpectOk(rocksdb::DB::Open(Options(), path_,
                             {{"default", Options()}, {"other", Options()}},
                             &handles, Into(&db)));
  ExpectOk(filter_->Attach(db.get(), handles));
  for (auto* handle : handles) {
    ExpectUnprepared(db.get(), handle);
    ExpectOk(db->DestroyColumnFamilyHandle(handle));
  }
}

// A family of this id was prepared, but in another database. This holds for
// families that are made after the first Attach, too.
TEST_F(FrontFilterTest, AFamilyOfAnotherDatabaseWasPrepared) {
  const auto db = test::OpenDb(options_, path_);
  const auto other = test::OpenDb(options_, dir_.File("other"));
  Arm(filter_.get(), db.get());
  for (const std::string name : {"x", "y"}) {
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    rocksdb::ColumnFamilyHandle* others = nullptr;
    ExpectOk(other->CreateColumnFamily(options_, name, &others));
    ExpectOk(db->CreateColumnFamily(Options(), name, &handle));
    ASSERT_EQ(handle->GetID(), others->GetID());
    ExpectOk(filter_->Attach(db.get(), {handle}));
    ExpectUnprepared(db.get(), handle);
    ExpectOk(db->DestroyColumnFamilyHandle(handle));
    ExpectOk(other->DestroyColumnFamilyHandle(others));
  }
  EXPECT_FALSE(filter_->MayHaveRow(db->DefaultColumnFamily(), "absent:"));
}

// Without the listener nobody tells of ingested files.
TEST_F(FrontFilterTest, TheDatabaseHasToBePrepared) {
  auto options = Options();
  ExpectOk(filter_->Prepare(nullptr, &options));
  const auto db = test::OpenDb(options, path_);
  ExpectOk(filter_->Attach(db.get()));
  ExpectUnprepared(db.get(), db->DefaultColumnFamily());
}

// The rules that the filter has for such a family may be another's.
TEST_F(FrontFilterTest, RowExistsHasNoOrderWithoutPrepare) {
  auto copied = options_;
  copied.comparator = rocksdb::ReverseBytewiseComparator();
  std::unique_ptr<rocksdb::DB> opened = test::OpenDb(copied, path_);
  ExpectOk(filter_->Attach(opened.get()));
  FrontFilterDB db(std::move(opened), filter_);
  ExpectOk(db.Put({}, "row:a", "v"));
  bool exists = false;
  EXPECT_THAT(db.RowExists({}, db.DefaultColumnFamily(), "row:", &exists),
              StatusIs(Status::kNotSupported, HasSubstr("no front filter")));
}

// OPTIONS files say nothing of the front filter, and load without it.
TEST_F(FrontFilterTest, OptionsFilesAreAsWithout) {
  const auto text_of = [](const rocksdb::Options& options,
                          const std::string& path) {
    const auto db = test::OpenDb(options, path);
    std::string text;
    EXPECT_THAT(
        rocksdb::GetStringFromColumnFamilyOptions(&text, db->GetOptions()),
        IsOk());
    return text;
  };
  auto with_lookahead = Options();
  with_lookahead.memtable_factory =
      std::make_shared<rocksdb::SkipListFactory>(16);
  EXPECT_EQ(text_of(options_, path_), text_of(Options(), dir_.File("plain")));
  auto prepared = with_lookahead;
  ExpectOk(filter_->Prepare(&prepared, &prepared));
  EXPECT_EQ(text_of(prepared, dir_.File("a")),
            text_of(with_lookahead, dir_.File("b")));
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = false;
  rocksdb::DBOptions database;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  ExpectOk(
      rocksdb::LoadLatestOptions(config, dir_.File("a"), &database, &families));
  EXPECT_STREQ(families[0].options.memtable_factory->Name(), "SkipListFactory");
  EXPECT_EQ(families[0].options.memtable_factory->GetId(),
            with_lookahead.memtable_factory->GetId());
}

// Options that were taken from a database with a front filter.
TEST_F(FrontFilterTest, PreparedOptionsCanBePreparedAgain) {
  const auto db = test::OpenDb(options_, path_);
  Arm(filter_.get(), db.get());
  auto copied = db->GetOptions();
  auto other_filter = test::PrepareFilter(&copied);
  copied.create_if_missing = true;
  const auto other = test::OpenDb(copied, dir_.File("other"));
  Arm(other_filter.get(), other.get());
  ExpectOk(other->Put({}, "row:a", "v"));
  EXPECT_TRUE(other_filter->MayHaveRow(other->DefaultColumnFamily(), "row:"));
  EXPECT_FALSE(filter_->MayHaveRow(db->DefaultColumnFamily(), "row:"));
}

}  // namespace
}  // namespace rowbloom::front_filter_test
