// FrontFilterDB: the answers of RocksDB, whatever was done to the database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/stackable_db.h"
#include "rocksdb/version.h"
#include "rowbloom/front_filter.h"
#include "tests/storage/filter_policy/front_filter/all_listed.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif

namespace rowbloom::front_filter_db_test {
namespace {

using rocksdb::ColumnFamilyHandle;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using test::ExpectOk;
using test::StatusIs;
using testing::HasSubstr;

constexpr int kRows = 120;

rocksdb::Options Options() { return test::DelimitedDbOptions(); }

std::string RowAt(int row) { return "row" + std::to_string(1'000 + row) + ":"; }

// All that a read says.
using Answer = std::vector<std::string>;

std::string Text(const Status& status) { return status.ToString(); }

// Every read of these keys that the front filter may answer. Asked for
// timestamps, RocksDB 7.8 crashes at range deletes of families without them.
Answer ReadAll(rocksdb::DB* db, ColumnFamilyHandle* family,
               const ReadOptions& options, const std::vector<std::string>& keys,
               bool timestamps) {
  Answer answer;
  const auto add = [&answer](const std::string& text) {
    answer.push_back(text);
  };
  std::vector<Slice> slices(keys.begin(), keys.end());
  for (const Slice& key : slices) {
    std::string text = "before";
    add(Text(db->Get(options, family, key, &text)) + " " + text);
    PinnableSlice slice;
    slice.PinSelf("before");
    add(Text(db->Get(options, family, key, &slice)) + " " + slice.ToString() +
        (slice.empty() ? "" : " found"));
    text = "before";
    std::string timestamp = "before";
    if (timestamps) {
      add(Text(db->Get(options, family, key, &text, &timestamp)) + " " + text +
          " " + timestamp);
    }
    text = "before";
    bool value_found = false;
    const bool exists =
        db->KeyMayExist(options, family, key, &text, &value_found);
    add((exists ? "may " : "may not ") + text + (value_found ? " found" : ""));
    text = "before";
    add(db->KeyMayExist(options, family, key, &text) ? "may" : "may not");
    add(text);
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 910
    add(db->KeyMayExist(options, family, key, nullptr) ? "may" : "may not");
#endif
  }
  const size_t count = keys.size();
  const std::vector<ColumnFamilyHandle*> families(count, family);
  {
    // The values are resized, unless RocksDB refuses the call.
    std::vector<std::string> texts(1, "before");
    std::vector<std::string> times(1, "before");
    const auto statuses = db->MultiGet(options, families, slices, &texts);
    for (const Status& status : statuses) add(Text(status));
    answer.insert(answer.end(), texts.begin(), texts.end());
    if (timestamps) {
      for (const Status& status :
           db->MultiGet(options, families, slices, &texts, &times)) {
        add(Text(status));
      }
    }
    answer.insert(answer.end(), texts.begin(), texts.end());
    answer.insert(answer.end(), times.begin(), times.end());
  }
  using Call = std::function<void(PinnableSlice*, std::string*, Status*)>;
  const auto call = [&](const Call& read) {
    std::vector<std::string> own(count, "before");
    std::vector<PinnableSlice> values;
    values.reserve(count);
    for (std::string& text : own) values.emplace_back(&text);
    std::vector<std::string> times(count);
    std::vector<Status> statuses(count);
    read(values.data(), timestamps ? times.data() : nullptr, statuses.data());
    for (size_t i = 0; i < count; ++i) {
      add(Text(statuses[i]) + " " + values[i].ToString());
      // A caller whose value has a string of its own looks there if it is not
      // pinned.
      if (statuses[i].ok() && !values[i].IsPinned()) add(own[i]);
    }
  };
  auto handles = families;
  call([&](PinnableSlice* values, std::string* /*times*/, Status* statuses) {
    db->MultiGet(options, family, count, slices.data(), values, statuses);
  });
  call([&](PinnableSlice* values, std::string* times, Status* statuses) {
    db->MultiGet(options, family, count, slices.data(), values, times,
                 statuses);
  });
  call([&](PinnableSlice* values, std::string* /*times*/, Status* statuses) {
    db->MultiGet(options, count, handles.data(), slices.data(), values,
                 statuses);
  });
  call([&](PinnableSlice* values, std::string* times, Status* statuses) {
    db->MultiGet(options, count, handles.data(), slices.data(), values, times,
                 statuses);
  });
  return answer;
}

class FrontFilterDBTest : public testing::Test {
 protected:
  // `db_` has a front filter, and `plain_`, which is treated likewise, has
  // none.
  void Open(const rocksdb::Options& options,
            const FrontFilterOptions& filter = {}) {
    db_.reset();
    plain_.reset();
    ExpectOk(OpenWithFrontFilter(filter, options, dir_.File("db"), &db_));
    db_->front_filter()->WaitUntilArmed();
    plain_ = test::OpenDb(options, dir_.File("plain"));
  }
  void ForBoth(const std::function<void(rocksdb::DB*)>& what) {
    what(db_.get());
    what(plain_.get());
  }
  static void Write(rocksdb::DB* db, int first, int step) {
    for (int row = first; row < kRows; row += step) {
      ExpectOk(db->Put({}, RowAt(row) + "a", "a" + std::to_string(row)));
      ExpectOk(db->Put({}, RowAt(row) + "b", "b" + std::to_string(row)));
    }
  }
  // Three files and a memtable: every fifth row is nowhere.
  static void Fill(rocksdb::DB* db) {
    for (int file = 0; file < 3; ++file) {
      Write(db, file, 5);
      ExpectOk(db->Flush({}));
    }
    Write(db, 3, 5);
  }
  std::string WriteSst(int first) {
    const std::string path = dir_.File(std::to_string(++ssts_) + ".sst");
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), Options());
    ExpectOk(writer.Open(path));
    for (int row = first; row < kRows; row += 10) {
      ExpectOk(writer.Put(RowAt(row) + "a", "ingested"));
    }
    ExpectOk(writer.Finish());
    return path;
  }
  // Waits until the worker has listed so many files.
  void WaitUntilListed(size_t known, size_t unknown) {
    EXPECT_TRUE(test::WaitFor([&] {
      const auto family = Family();
      return family.files_known == known && family.files_unknown == unknown;
    })) << Family().files_known
        << " known files and " << Family().files_unknown << " unknown ones";
  }
  FrontFilterFamilyStats Family(size_t which = 0) {
    return db_->front_filter()->Stats().families.at(which);
  }
  // Reads of each row, and of keys without one, with these options.
  void ExpectSameAnswers(const ReadOptions& of_db,
                         const ReadOptions& of_plain) {
    std::vector<std::string> keys;
    for (int row = 0; row < kRows; ++row) {
      keys.push_back(RowAt(row) + (row % 2 == 0 ? "a" : "absent"));
    }
    keys.insert(keys.end(), {"", ":", "no row", "row", "zzz:"});
    for (size_t first = 0; first < keys.size(); first += 25) {
      const std::vector<std::string> some(
          keys.begin() + static_cast<ptrdiff_t>(first),
          keys.begin() +
              static_cast<ptrdiff_t>(std::min(first + 25, keys.size())));
      ExpectSameAnswers(of_db, of_plain, some);
      // All of these keys are absent, and in one row.
      const std::vector<std::string> absent(3, RowAt(4) + "a");
      ExpectSameAnswers(of_db, of_plain, absent);
    }
  }
  void ExpectSameAnswers(const ReadOptions& of_db, const ReadOptions& of_plain,
                         const std::vector<std::string>& keys) {
    const Answer ours = ReadAll(db_.get(), db_->DefaultColumnFamily(), of_db,
                                keys, timestamps_);
    const Answer rocksdbs = ReadAll(plain_.get(), plain_->DefaultColumnFamily(),
                                    of_plain, keys, timestamps_);
    ASSERT_EQ(ours.size(), rocksdbs.size());
    for (size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(ours[i], rocksdbs[i]) << i << " of " << ours.size();
    }
  }
  void ExpectSameAnswers(const ReadOptions& options = {}) {
    ExpectSameAnswers(options, options);
  }
  uint64_t Answered() { return db_->front_filter()->Stats().answered; }
  bool MayHave(int row) {
    return db_->front_filter()->MayHaveRow(db_->DefaultColumnFamily(),
                                           RowAt(row));
  }
  void ExpectAbsentRowsAnswered() {
    test::WaitUntilAllListed(db_.get());
    const uint64_t before = Answered();
    std::string value;
    for (int row = 4; row < kRows; row += 5) {
      EXPECT_TRUE(db_->Get({}, RowAt(row) + "a", &value).IsNotFound());
    }
    EXPECT_GE(Answered() - before, kRows / 5 - 4);
  }

  test::TempDir dir_;
  std::unique_ptr<FrontFilterDB> db_;
  std::unique_ptr<rocksdb::DB> plain_;
  bool timestamps_ = true;  // reads ask for them, too
  int ssts_ = 0;
};

TEST_F(FrontFilterDBTest, AnswersAsRocksdb) {
  Open(Options());
  ForBoth(Fill);
  ExpectSameAnswers();
  ExpectAbsentRowsAnswered();
  ReadOptions options;
  options.fill_cache = false;
  options.verify_checksums = true;
  for (const auto tier : {rocksdb::kBlockCacheTier, rocksdb::kPersistedTier,
                          rocksdb::kMemtableTier}) {
    options.read_tier = tier;
    ExpectSameAnswers(options);
  }
  options = {};
  options.value_size_soft_limit = 10;
  ExpectSameAnswers(options);
  options = {};
  options.deadline = std::chrono::microseconds(1);  // long ago
  ExpectSameAnswers(options);
  options = {};
  const Slice timestamp = "time";
  options.timestamp = &timestamp;
  ExpectSameAnswers(options);
  options = {};
  const rocksdb::Snapshot* snapshots[] = {db_->GetSnapshot(),
                                          plain_->GetSnapshot()};
  ForBoth([](rocksdb::DB* db) {
    Write(db, 4, 5);
    ExpectOk(db->Flush({}));
    ExpectOk(db->CompactRange({}, nullptr, nullptr));
  });
  ReadOptions of_db;
  ReadOptions of_plain;
  of_db.snapshot = snapshots[0];
  of_plain.snapshot = snapshots[1];
  ExpectSameAnswers(of_db, of_plain);
  ExpectSameAnswers();
  db_->ReleaseSnapshot(snapshots[0]);
  plain_->ReleaseSnapshot(snapshots[1]);
}

TEST_F(FrontFilterDBTest, CountsWhatCameOfGets) {
  Open(Options());
  Write(db_.get(), 0, 2);
  std::string value;
  for (int row = 0; row < kRows; row += 2) {
    ExpectOk(db_->Get({}, RowAt(row) + "a", &value));
    EXPECT_TRUE(db_->Get({}, RowAt(row) + "absent", &value).IsNotFound());
  }
  EXPECT_TRUE(db_->Get({}, "no row", &value).IsNotFound());
  const auto stats = db_->front_filter()->Stats();
  EXPECT_EQ(stats.asked, kRows);
  EXPECT_EQ(stats.answered, 0);
  EXPECT_EQ(stats.passed_found, kRows / 2);
  EXPECT_EQ(stats.passed_wasted, kRows / 2);
}

// With and without a key that is answered.
TEST_F(FrontFilterDBTest, CountsWhatCameOfMultiGets) {
  Open(Options());
  ExpectOk(db_->Put({}, RowAt(0) + "a", "v"));
  const std::string found = RowAt(0) + "a";
  const std::string wasted = RowAt(0) + "absent";
  const std::string answered = RowAt(1) + "a";
  auto* family = db_->DefaultColumnFamily();
  uint64_t calls = 0;
  for (const auto& texts : {std::vector{found, wasted},
                            std::vector{found, wasted, answered, answered}}) {
    const std::vector<Slice> keys(texts.begin(), texts.end());
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    db_->MultiGet({}, family, keys.size(), keys.data(), values.data(),
                  statuses.data());
    std::vector<std::string> strings;
    db_->MultiGet({}, std::vector<ColumnFamilyHandle*>(keys.size(), family),
                  keys, &strings);
    calls += 2;
    const auto stats = db_->front_filter()->Stats();
    EXPECT_EQ(stats.asked, calls * 2 + stats.answered);
    EXPECT_EQ(stats.passed_found, calls);
    EXPECT_EQ(stats.passed_wasted, calls);
  }
  EXPECT_EQ(db_->front_filter()->Stats().answered, 4);
}

TEST_F(FrontFilterDBTest, ComesBackWithAllRows) {
  Open(Options());
  ForBoth(Fill);
  Open(Options());  // rows of the memtable come from the log, to a file
  ExpectSameAnswers();
  ExpectAbsentRowsAnswered();
  auto options = Options();
  options.avoid_flush_during_recovery = true;
  ForBoth([](rocksdb::DB* db) { ExpectOk(db->Put({}, "extra:a", "v")); });
  Open(options);  // and stay in one
  ExpectSameAnswers();
  EXPECT_EQ(Family().state, FrontFilterState::kArmed);
  EXPECT_GT(Family().files_known, 0);
  EXPECT_GT(db_->front_filter()->Stats().bytes, 0);
  EXPECT_EQ(Family().files_unknown, 0);
}

TEST_F(FrontFilterDBTest, EachCompactionStyle) {
  for (const auto style :
       {rocksdb::kCompactionStyleLevel, rocksdb::kCompactionStyleUniversal,
        rocksdb::kCompactionStyleFIFO}) {
    auto options = Options();
    options.compaction_style = style;
    options.disable_auto_compactions = false;
    options.level0_file_num_compaction_trigger = 2;
    options.target_file_size_base = 1 << 10;
    options.max_open_files = -1;
    options.compaction_options_fifo.max_table_files_size = 1 << 20;
    db_.reset();
    plain_.reset();
    ExpectOk(DestroyDB(dir_.File("db"), options));
    ExpectOk(DestroyDB(dir_.File("plain"), options));
    Open(options);
    ForBoth([](rocksdb::DB* db) {
      for (int file = 0; file < 12; ++file) {
        Write(db, file % 4, 5);
        ExpectOk(db->Flush({}));
      }
      // The values of KeyMayExist are those of cached blocks of present files:
      // no compaction may replace files while the answers are compared.
      ExpectOk(db->PauseBackgroundWork());
    });
    ExpectSameAnswers();
    ForBoth([](rocksdb::DB* db) {
      ExpectOk(db->ContinueBackgroundWork());
      ExpectOk(db->CompactRange({}, nullptr, nullptr));
    });
    ExpectSameAnswers();
    ExpectAbsentRowsAnswered();
  }
}

TEST_F(FrontFilterDBTest, DeletesMergesAndRanges) {
  class Append final : public rocksdb::AssociativeMergeOperator {
   public:
    bool Merge(const Slice& /*key*/, const Slice* old, const Slice& value,
               std::string* merged, rocksdb::Logger* /*log*/) const override {
      *merged = (old == nullptr ? "" : old->ToString()) + value.ToString();
      return true;
    }
    const char* Name() const override { return "append"; }
  };
  auto options = Options();
  options.merge_operator = std::make_shared<Append>();
  timestamps_ = false;
  Open(options);
  ForBoth([](rocksdb::DB* db) {
    Fill(db);
    auto* const family = db->DefaultColumnFamily();
    for (int row = 0; row < kRows; row += 10) {
      ExpectOk(db->Merge({}, family, RowAt(row) + "a", "+"));
      ExpectOk(db->Merge({}, family, RowAt(row + 4) + "a", "new"));
      ExpectOk(db->Delete({}, RowAt(row + 1) + "a"));
    }
    ExpectOk(db->DeleteRange({}, family, RowAt(40), RowAt(60)));
  });
  ExpectSameAnswers();
  ForBoth([](rocksdb::DB* db) { ExpectOk(db->Flush({})); });
  test::WaitUntilAllListed(db_.get());
  ExpectSameAnswers();
  ForBoth([](rocksdb::DB* db) {
    ExpectOk(db->CompactRange({}, nullptr, nullptr));
  });
  test::WaitUntilAllListed(db_.get());
  ExpectSameAnswers();
  ForBoth([](rocksdb::DB* db) {
    const std::string end = RowAt(100);
    const Slice limit(end);
    ExpectOk(rocksdb::DeleteFilesInRange(
        db->GetRootDB(), db->DefaultColumnFamily(), nullptr, &limit));
  });
  ExpectSameAnswers();
  EXPECT_GT(Answered(), 1'000u);
}

TEST_F(FrontFilterDBTest, InPlaceUpdates) {
  auto options = Options();
  options.inplace_update_support = true;
  options.allow_concurrent_memtable_write = false;
  Open(options);
  ForBoth(Fill);
  ForBoth([](rocksdb::DB* db) {
    for (int row = 3; row < kRows; row += 5) {
      ExpectOk(db->Put({}, RowAt(row) + "a", "c"));
    }
  });
  ExpectSameAnswers();
  ExpectAbsentRowsAnswered();
}

TEST_F(FrontFilterDBTest, ReverseOrder) {
  auto options = Options();
  options.comparator = rocksdb::ReverseBytewiseComparator();
  options.target_file_size_base = 1 << 10;
  Open(options);
  ForBoth(Fill);
  ForBoth([](rocksdb::DB* db) {
    ExpectOk(db->CompactRange({}, nullptr, nullptr));
  });
  test::WaitUntilAllListed(db_.get());
  ExpectSameAnswers();
  ExpectAbsentRowsAnswered();
  for (int row = 0; row < kRows; ++row) {
    bool exists = row % 5 == 4;
    ExpectOk(
        db_->RowExists({}, db_->DefaultColumnFamily(), RowAt(row), &exists));
    EXPECT_EQ(exists, row % 5 != 4) << row;
  }
}

TEST_F(FrontFilterDBTest, RowExistsIsExact) {
  Open(Options());
  Fill(db_.get());
  ExpectOk(db_->Delete({}, RowAt(0) + "a"));
  ExpectOk(db_->Delete({}, RowAt(0) + "b"));
  auto* const family = db_->DefaultColumnFamily();
  for (int row = 0; row < kRows; ++row) {
    const bool expected = row % 5 != 4 && row != 0;
    bool exists = !expected;
    ExpectOk(db_->RowExists({}, family, RowAt(row), &exists));
    EXPECT_EQ(exists, expected) << row;
  }
  bool exists = false;
  EXPECT_THAT(db_->RowExists({}, family, "no row", &exists),
              StatusIs(Status::kInvalidArgument, HasSubstr("delimited::")));
  EXPECT_THAT(db_->RowExists({}, family, "row1:a", &exists),
              StatusIs(Status::kInvalidArgument, HasSubstr("6 bytes")));
}

TEST_F(FrontFilterDBTest, Ingestion) {
  Open(Options());
  ForBoth(Fill);
  ForBoth([&](rocksdb::DB* db) {
    ExpectOk(db->IngestExternalFile({WriteSst(4)}, {}));
  });
  EXPECT_TRUE(MayHave(4));
  ExpectSameAnswers();
  test::WaitUntilAllListed(db_.get());
  ExpectSameAnswers();
  EXPECT_EQ(Family().state, FrontFilterState::kArmed);
  rocksdb::IngestExternalFileOptions move;
  move.move_files = true;
  ForBoth([&](rocksdb::DB* db) {
    rocksdb::IngestExternalFileArg files_of_family;
    files_of_family.column_family = db->DefaultColumnFamily();
    files_of_family.external_files = {WriteSst(9)};
    files_of_family.options = move;
    ExpectOk(db->IngestExternalFiles({files_of_family}));
    EXPECT_FALSE(db->IngestExternalFile({dir_.File("absent.sst")}, {}).ok());
  });
  EXPECT_TRUE(MayHave(9));
  ExpectSameAnswers();
  EXPECT_EQ(Family().state, FrontFilterState::kArmed);
  // Past the filter.
  ExpectOk(db_->GetRootDB()->IngestExternalFile({WriteSst(4)}, {}));
  EXPECT_EQ(Family().state, FrontFilterState::kDisarmed);
  EXPECT_TRUE(db_->front_filter()->MayHaveRow(db_->DefaultColumnFamily(),
                                              "never written:"));
}

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1105
TEST_F(FrontFilterDBTest, IngestionInTwoSteps) {
  Open(Options());
  ForBoth(Fill);
  using Handle = std::unique_ptr<rocksdb::FileIngestionHandle>;
  const auto prepare = [&](rocksdb::DB* db, int first) {
    Handle handle;
    ExpectOk(db->PrepareFileIngestion(db->DefaultColumnFamily(),
                                      {WriteSst(first)}, {}, &handle));
    return handle;
  };
  ForBoth([&](rocksdb::DB* db) {
    std::vector<Handle> handles;
    handles.push_back(prepare(db, 4));
    handles.push_back(prepare(db, 9));
    ExpectOk(db->CommitFileIngestionHandles(std::move(handles)));
  });
  EXPECT_TRUE(MayHave(4));
  EXPECT_TRUE(MayHave(9));
  ExpectSameAnswers();
  test::WaitUntilAllListed(db_.get());
  ExpectSameAnswers();
  // Rows of files that do not come in go again.
  ExpectOk(db_->DeleteRange({}, db_->DefaultColumnFamily(), "a", "z"));
  ExpectOk(db_->CompactRange({}, nullptr, nullptr));
  const auto is_forgotten = [this] { return !MayHave(9); };
  EXPECT_TRUE(test::WaitFor(is_forgotten));
  Handle aborted = prepare(db_.get(), 9);
  EXPECT_TRUE(MayHave(9));
  ExpectOk(aborted->Abort());
  EXPECT_TRUE(test::WaitFor(is_forgotten));
  EXPECT_TRUE(
      db_->CommitFileIngestionHandle(std::move(aborted)).IsInvalidArgument());
  Handle destroyed = prepare(db_.get(), 9);
  EXPECT_TRUE(MayHave(9));
  destroyed.reset();
  EXPECT_TRUE(test::WaitFor(is_forgotten));
  Handle handle = prepare(db_.get(), 9);
  EXPECT_FALSE(db_->PrepareFileIngestion(db_->DefaultColumnFamily(),
                                         {dir_.File("absent.sst")}, {}, &handle)
                   .ok());
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(Family().state, FrontFilterState::kArmed);
}
#endif

TEST_F(FrontFilterDBTest, FamiliesCreatedAndDropped) {
  Open(Options());
  ColumnFamilyHandle* one = nullptr;
  ExpectOk(db_->CreateColumnFamily(Options(), "one", &one));
  std::vector<ColumnFamilyHandle*> more;
  ExpectOk(db_->CreateColumnFamilies(Options(), {"two", "three"}, &more));
  std::vector<ColumnFamilyHandle*> last;
  ExpectOk(db_->CreateColumnFamilies(
      {{"four", Options()}, {"five", rocksdb::ColumnFamilyOptions()}}, &last));
  db_->front_filter()->WaitUntilArmed();
  const std::vector<ColumnFamilyHandle*> families = {one, more[0], more[1],
                                                     last[0], last[1]};
  std::string value;
  for (size_t i = 0; i < families.size(); ++i) {
    const std::string row = RowAt(static_cast<int>(i));
    ExpectOk(db_->Put({}, families[i], row + "a", "v"));
    for (size_t j = 0; j < families.size(); ++j) {
      EXPECT_EQ(db_->Get({}, families[j], row + "a", &value).ok(), i == j);
      EXPECT_EQ(db_->front_filter()->MayHaveRow(families[j], row),
                i == j || j == 4)
          << "the last has no filter policy";
    }
  }
  const auto stats = db_->front_filter()->Stats();
  ASSERT_EQ(stats.families.size(), 6);
  EXPECT_EQ(stats.families[4].name, "four");
  EXPECT_EQ(stats.families[4].state, FrontFilterState::kArmed);
  EXPECT_EQ(stats.families[5].state, FrontFilterState::kDisarmed);

  // A dropped family can be read by its handle.
  ExpectOk(db_->DropColumnFamily(one));
  ExpectOk(db_->Put({}, "default:a", "v"));
  ExpectOk(db_->Flush({}));
  ExpectOk(db_->Get({}, one, RowAt(0) + "a", &value));
  EXPECT_EQ(db_->Get({}, one, RowAt(1) + "a", &value).ToString(), "NotFound: ");
  // Another one of its name has rows of its own.
  ColumnFamilyHandle* again = nullptr;
  ExpectOk(db_->CreateColumnFamily(Options(), "one", &again));
  db_->front_filter()->WaitUntilArmed();
  EXPECT_FALSE(db_->front_filter()->MayHaveRow(again, RowAt(0)));
  ExpectOk(db_->Get({}, one, RowAt(0) + "a", &value));
  ExpectOk(db_->DestroyColumnFamilyHandle(again));
  // Statistics forget families, and keep their counts.
  const uint64_t answered = Answered();
  for (ColumnFamilyHandle* family : families) {
    ExpectOk(db_->DestroyColumnFamilyHandle(family));
  }
  EXPECT_EQ(db_->front_filter()->Stats().families.size(), 1);
  EXPECT_GT(answered, Family().answered);
  EXPECT_EQ(Answered(), answered);
}

TEST_F(FrontFilterDBTest, AFamilyOfBeforeADropIsNotArmingForEver) {
  std::vector<ColumnFamilyHandle*> handles;
  const auto open = [&] {
    ExpectOk(OpenWithFrontFilter({}, Options(), dir_.File("db"),
                                 {{"default", Options()}, {"one", Options()}},
                                 &handles, &db_));
  };
  const auto close = [&] {
    for (ColumnFamilyHandle* handle : handles) {
      ExpectOk(db_->DestroyColumnFamilyHandle(handle));
    }
    db_.reset();
  };
  Open(Options());
  ColumnFamilyHandle* one = nullptr;
  ExpectOk(db_->CreateColumnFamily(Options(), "one", &one));
  ExpectOk(db_->Put({}, one, "row:a", "v"));
  ExpectOk(db_->DropColumnFamily(one));
  ExpectOk(db_->DestroyColumnFamilyHandle(one));
  ExpectOk(db_->CreateColumnFamily(Options(), "one", &one));
  ExpectOk(db_->DestroyColumnFamilyHandle(one));
  db_.reset();
  // Recovery makes the dropped family once more, by the options of its name.
  open();
  db_->front_filter()->WaitUntilArmed();
  const auto stats = db_->front_filter()->Stats();
  ASSERT_EQ(stats.families.size(), 2);
  for (const FrontFilterFamilyStats& family : stats.families) {
    EXPECT_EQ(family.state, FrontFilterState::kArmed) << family.name;
  }
  EXPECT_EQ(stats.families[1].name, "one");
  close();
}

// Families that are made after the filter has ended are RocksDB's alone.
TEST_F(FrontFilterDBTest, FamiliesCreatedAfterDetach) {
  Open(Options());
  db_->front_filter()->Detach();
  std::vector<ColumnFamilyHandle*> families;
  ExpectOk(db_->CreateColumnFamilies({{"one", Options()}}, &families));
  ColumnFamilyHandle* two = nullptr;
  ExpectOk(db_->CreateColumnFamily(Options(), "two", &two));
  families.push_back(two);
  for (ColumnFamilyHandle* family : families) {
    std::string value;
    ExpectOk(db_->Put({}, family, "row:a", "v"));
    ExpectOk(db_->Get({}, family, "row:a", &value));
    EXPECT_TRUE(db_->front_filter()->MayHaveRow(family, "absent:"));
    ExpectOk(db_->DestroyColumnFamilyHandle(family));
  }
}

TEST_F(FrontFilterDBTest, SeveralFamiliesInOneCall) {
  auto options = Options();
  std::vector<ColumnFamilyHandle*> handles;
  options.create_missing_column_families = true;
  ExpectOk(OpenWithFrontFilter({}, options, dir_.File("db"),
                               {{"default", options}, {"other", options}},
                               &handles, &db_));
  db_->front_filter()->WaitUntilArmed();
  ExpectOk(db_->Put({}, handles[0], "row:a", "0"));
  ExpectOk(db_->Put({}, handles[1], "row:a", "1"));
  const std::vector<Slice> keys = {"row:a", "row:a", "absent:a"};
  std::vector<ColumnFamilyHandle*> families = {handles[0], handles[1],
                                               handles[1]};
  std::vector<PinnableSlice> values(3);
  std::vector<Status> statuses(3);
  db_->MultiGet({}, 3, families.data(), keys.data(), values.data(),
                statuses.data());
  EXPECT_EQ(values[0], "0");
  EXPECT_EQ(values[1], "1");
  EXPECT_TRUE(statuses[2].IsNotFound());
  EXPECT_EQ(Family(1).name, "other");
  EXPECT_EQ(Family(1).state, FrontFilterState::kArmed);
  for (auto* handle : handles) ExpectOk(db_->DestroyColumnFamilyHandle(handle));
}

// A database in which something happens before a snapshot is taken or keys are
// read.
class Stage final : public rocksdb::StackableDB {
 public:
  using StackableDB::Get;
  using StackableDB::MultiGet;
  using StackableDB::NewIterator;
  using StackableDB::StackableDB;

  const rocksdb::Snapshot* GetSnapshot() override {
    if (before_snapshot) std::exchange(before_snapshot, nullptr)();
    return StackableDB::GetSnapshot();
  }
  rocksdb::Iterator* NewIterator(const ReadOptions& options,
                                 ColumnFamilyHandle* family) override {
    if (before_read) std::exchange(before_read, nullptr)();
    return StackableDB::NewIterator(options, family);
  }
#if ROCKSDB_MAJOR < 9
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family,
             const Slice& key, PinnableSlice* value) override {
    if (before_read) std::exchange(before_read, nullptr)();
    return StackableDB::Get(options, family, key, value);
  }
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family,
                const size_t count, const Slice* keys, PinnableSlice* values,
                Status* statuses, const bool sorted_input) override {
    if (before_read) std::exchange(before_read, nullptr)();
    StackableDB::MultiGet(options, family, count, keys, values, statuses,
                          sorted_input);
  }
#else
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family,
             const Slice& key, PinnableSlice* value,
             std::string* timestamp) override {
    if (before_read) std::exchange(before_read, nullptr)();
    return StackableDB::Get(options, family, key, value, timestamp);
  }
  void MultiGet(const ReadOptions& options, const size_t count,
                ColumnFamilyHandle** families, const Slice* keys,
                PinnableSlice* values, std::string* timestamps,
                Status* statuses, const bool sorted_input) override {
    if (before_read) std::exchange(before_read, nullptr)();
    StackableDB::MultiGet(options, count, families, keys, values, timestamps,
                          statuses, sorted_input);
  }
#endif

  std::function<void()> before_snapshot;
  std::function<void()> before_read;
};

// Two keys that are written in one batch are found both or not at all, whenever
// that happens: one of a row that is absent before, the other not.
TEST_F(FrontFilterDBTest, MultiGetIsOfOneTime) {
  auto options = Options();
  auto filter = test::PrepareFilter(&options);
  auto* const stage =
      new Stage(test::OpenDb(options, dir_.File("db")).release());
  ExpectOk(filter->Attach(stage));
  filter->WaitUntilArmed();
  FrontFilterDB db(std::unique_ptr<rocksdb::DB>(stage), filter);
  uint64_t keys_read = 0;
  const auto read = [&](const std::string& absent, const std::string& present) {
    const Slice keys[] = {absent, present};
    PinnableSlice values[2];
    Status statuses[2];
    db.MultiGet({}, db.DefaultColumnFamily(), 2, keys, values, statuses);
    EXPECT_EQ(statuses[0].ToString(), statuses[1].ToString());
    keys_read += 2;  // once each, however often they were looked up
    EXPECT_EQ(filter->Stats().asked, keys_read);
    return statuses[0].ok();
  };
  const auto write = [&](const std::string& absent,
                         const std::string& present) {
    rocksdb::WriteBatch batch;
    ExpectOk(batch.Put(absent, "v"));
    ExpectOk(batch.Put(present, "v"));
    ExpectOk(db.Write({}, &batch));
  };
  ExpectOk(db.Put({}, "row1:other", "v"));
  ExpectOk(db.Put({}, "row2:other", "v"));
  EXPECT_FALSE(read("row3:a", "row1:a"));
  stage->before_read = [&] { write("row3:a", "row1:a"); };
  EXPECT_FALSE(read("row3:a", "row1:a"));
  EXPECT_EQ(stage->before_read, nullptr);
  EXPECT_TRUE(read("row3:a", "row1:a"));
  stage->before_snapshot = [&] { write("row4:a", "row2:a"); };
  EXPECT_TRUE(read("row4:a", "row2:a"));

  // Ingestion, which takes no sequence number here. A memtable has row7, so
  // that no key of it is answered in front.
  ExpectOk(db.Put({}, "row7:a", "v"));
  const std::string path = dir_.File("file.sst");
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  ExpectOk(writer.Open(path));
  ExpectOk(writer.Put("row7:b", "v"));
  ExpectOk(writer.Put("row8:a", "v"));
  ExpectOk(writer.Finish());
  const auto sequence = db.GetLatestSequenceNumber();
  stage->before_snapshot = [&] { ExpectOk(db.IngestExternalFile({path}, {})); };
  EXPECT_TRUE(read("row8:a", "row7:b"));
  EXPECT_EQ(db.GetLatestSequenceNumber(), sequence);
}

// The sections of a replaced view go after its last reader, and make room.
TEST_F(FrontFilterDBTest, ReplacedSectionsGoAfterTheirReaders) {
  auto options = Options();
  auto filter = test::PrepareFilter(&options, {.memory_limit_bytes = 4 * 64});
  auto* const stage =
      new Stage(test::OpenDb(options, dir_.File("db")).release());
  ExpectOk(filter->Attach(stage));
  db_ = std::make_unique<FrontFilterDB>(std::unique_ptr<rocksdb::DB>(stage),
                                        filter);
  Fill(db_.get());
  ExpectOk(db_->Flush({}));
  WaitUntilListed(4, 0);
  stage->before_read = [this] {
    ExpectOk(db_->CompactRange({}, nullptr, nullptr));
    WaitUntilListed(0, 1);  // the reader is in a view of the inputs
  };
  std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(test::SamePrefix()))
      .reset();
  EXPECT_EQ(stage->before_read, nullptr);
  WaitUntilListed(1, 0);
  EXPECT_EQ(filter->Stats().bytes, Family().row_bytes);
}

TEST_F(FrontFilterDBTest, Import) {
  Open(Options());
  ForBoth([](rocksdb::DB* db) {
    Fill(db);
    ExpectOk(db->Flush({}));
  });
  rocksdb::Checkpoint* made = nullptr;
  ExpectOk(rocksdb::Checkpoint::Create(plain_.get(), &made));
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  rocksdb::ExportImportFilesMetaData* exported = nullptr;
  ExpectOk(checkpoint->ExportColumnFamily(plain_->DefaultColumnFamily(),
                                          dir_.File("export"), &exported));
  const std::unique_ptr<rocksdb::ExportImportFilesMetaData> metadata(exported);
  ColumnFamilyHandle* family = nullptr;
  ExpectOk(db_->CreateColumnFamilyWithImport(Options(), "imported", {},
                                             *metadata, &family));
  db_->front_filter()->WaitUntilArmed();
  EXPECT_EQ(Family(1).state, FrontFilterState::kArmed);
  std::string value;
  for (int row = 0; row < kRows; ++row) {
    EXPECT_EQ(db_->Get({}, family, RowAt(row) + "a", &value).ok(),
              row % 5 != 4);
  }
  EXPECT_FALSE(db_->front_filter()->MayHaveRow(family, "never written:"));
  ExpectOk(db_->DestroyColumnFamilyHandle(family));
}

// Families without a front filter are RocksDB's.
TEST_F(FrontFilterDBTest, FamiliesWithoutOnePassThrough) {
  class OtherOrder final : public rocksdb::Comparator {
   public:
    const char* Name() const override { return "other order"; }
    int Compare(const Slice& a, const Slice& b) const override {
      return b.compare(a);
    }
    bool CanKeysWithDifferentByteContentsBeEqual() const override {
      return equate_;
    }
    void FindShortestSeparator(std::string* /*start*/,
                               const Slice& /*limit*/) const override {}
    void FindShortSuccessor(std::string* /*key*/) const override {}
    explicit OtherOrder(bool equate) : equate_(equate) {}

   private:
    const bool equate_;
  };
  const OtherOrder equates(true);
  const OtherOrder orders(false);
  std::vector<std::pair<const char*, rocksdb::Options>> cases;
  cases.emplace_back("no filter policy", Options());
  cases.back().second.table_factory.reset(rocksdb::NewBlockBasedTableFactory());
  cases.emplace_back("different bytes", Options());
  cases.back().second.comparator = &equates;
  cases.emplace_back("memtables are of", Options());
  cases.back().second.memtable_factory =
      std::make_shared<rocksdb::VectorRepFactory>();
  cases.back().second.allow_concurrent_memtable_write = false;
  cases.emplace_back("", Options());  // any order does for gets
  cases.back().second.comparator = &orders;
  for (const auto& [why, options] : cases) {
    SCOPED_TRACE(why);
    db_.reset();
    plain_.reset();
    ExpectOk(DestroyDB(dir_.File("db"), options));
    ExpectOk(DestroyDB(dir_.File("plain"), options));
    Open(options);
    ForBoth(Fill);
    ExpectSameAnswers();
    EXPECT_THAT(Family().why, HasSubstr(why));
    bool exists = false;
    EXPECT_THAT(
        db_->RowExists({}, db_->DefaultColumnFamily(), RowAt(0), &exists),
        StatusIs(Status::kNotSupported, HasSubstr("default")));
    if (*why == '\0') ExpectAbsentRowsAnswered();
  }
  db_.reset();
  plain_.reset();
}

TEST_F(FrontFilterDBTest, Timestamps) {
  auto options = Options();
  test::ExpectOk(rocksdb::Comparator::CreateFromString(
      {}, "leveldb.BytewiseComparator.u64ts", &options.comparator));
  Open(options);
  ForBoth([](rocksdb::DB* db) {
    ExpectOk(db->Put({}, db->DefaultColumnFamily(), "row:a",
                     std::string(8, '\1'), "v"));
  });
  ReadOptions read;
  const std::string time(8, '\2');
  const Slice timestamp(time);
  for (const char* key : {"row:a", "row:b", "absent:a"}) {
    for (const Slice* at : {static_cast<const Slice*>(nullptr), &timestamp}) {
      read.timestamp = at;
      std::string text;
      const Status of_db = db_->Get(read, key, &text);
      EXPECT_EQ(Text(of_db), Text(plain_->Get(read, key, &text)));
      EXPECT_EQ(of_db.IsInvalidArgument(), at == nullptr);
    }
  }
  std::string value;
  std::string found;
  ExpectOk(db_->Get(read, db_->DefaultColumnFamily(), "row:a", &value, &found));
  EXPECT_EQ(found, std::string(8, '\1'));
  EXPECT_EQ(Family().why, "the family has user-defined timestamps");
}

// Files of other policies and layouts, before and after, and partitioned
// filters.
TEST_F(FrontFilterDBTest, FilesOfOtherPolicies) {
  auto stock = Options();
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  stock.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  Open(stock);
  EXPECT_THAT(Family().why, HasSubstr("filter policy id"));
  ForBoth([](rocksdb::DB* db) {
    Write(db, 0, 5);
    ExpectOk(db->Flush({}));
  });
  auto other = Options();
  table.filter_policy =
      test::MakeFilterPolicy({.key_layout = KeyLayout::FixedRow(4)});
  other.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  other.prefix_extractor = nullptr;
  Open(other);
  ForBoth([](rocksdb::DB* db) {
    Write(db, 1, 5);
    ExpectOk(db->Flush({}));
  });
  auto partitioned = test::TestDbOptions(
      {test::MakeFilterPolicy({.key_layout = KeyLayout::Delimited(':')}),
       nullptr, /*partitioned=*/true});
  Open(partitioned);
  ForBoth([](rocksdb::DB* db) {
    Write(db, 2, 5);
    ExpectOk(db->Flush({}));
  });
  Open(Options());
  EXPECT_EQ(Family().files_unknown, 3);
  ForBoth([](rocksdb::DB* db) { Write(db, 3, 5); });
  ExpectSameAnswers();
  EXPECT_TRUE(MayHave(4));  // in the range of the old files
  ForBoth(test::CompactAll);
  test::WaitUntilAllListed(db_.get());
  ExpectSameAnswers();
  ExpectAbsentRowsAnswered();
}

TEST_F(FrontFilterDBTest, MemoryLimit) {
  Open(Options());
  ForBoth(Fill);
  constexpr uint64_t kLimit = 2 * 64;  // two of four sections fit
  Open(Options(), {.memory_limit_bytes = kLimit});
  EXPECT_EQ(Family().files_known, 2);
  EXPECT_EQ(Family().files_unknown, 2);
  EXPECT_LE(db_->front_filter()->Stats().bytes, kLimit);
  ExpectSameAnswers();
  // Once there is room, the section of an old file is read again.
  ForBoth([](rocksdb::DB* db) {
    std::vector<rocksdb::LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    std::vector<std::string> oldest;
    for (const auto& file : files) oldest.push_back(file.name);
    std::ranges::sort(oldest);
    oldest.resize(2);
    ExpectOk(db->CompactFiles({}, oldest, 6));
  });
  WaitUntilListed(2, 1);
  EXPECT_LE(db_->front_filter()->Stats().bytes, kLimit);
  ExpectSameAnswers();
}

// There is room for the output of a compaction once its inputs are gone, which
// no event tells of.
TEST_F(FrontFilterDBTest, MemoryLimitWithRoomForInputsOrOutput) {
  Open(Options());
  ForBoth(Fill);
  Open(Options());
  const uint64_t inputs = db_->front_filter()->Stats().bytes;
  Open(Options(), {.memory_limit_bytes = inputs});
  ForBoth([](rocksdb::DB* db) {
    ExpectOk(db->CompactRange({}, nullptr, nullptr));
  });
  WaitUntilListed(1, 0);
  ExpectSameAnswers();
  ExpectAbsentRowsAnswered();
}

// With ROWCOL sections absent columns of rows that are there are answered,
// whether the front filter keeps them or RocksDB has them in memory.
class FrontFilterDBCells : public FrontFilterDBTest,
                           public testing::WithParamInterface<bool> {};

TEST_P(FrontFilterDBCells, AreAnswered) {
  const bool kept = GetParam();
  const FrontFilterOptions filter{.cell_memory_limit_bytes =
                                      kept ? UINT64_MAX : 0};
  Open(Options(), filter);
  ForBoth(Fill);
  ExpectSameAnswers();
  ForBoth([](rocksdb::DB* db) { ExpectOk(db->Flush({})); });
  WaitUntilListed(4, 0);
  EXPECT_EQ(Family().files_with_cells, kept ? 4 : 0);
  EXPECT_EQ(db_->front_filter()->Stats().cell_bytes > 100, kept);
  const auto expect_columns_answered = [this] {
    const uint64_t before = Answered();
    std::string value;
    for (int row = 0; row < kRows; row += 5) {
      EXPECT_TRUE(db_->Get({}, RowAt(row) + "absent", &value).IsNotFound());
      ExpectOk(db_->Get({}, RowAt(row) + "b", &value));
      EXPECT_TRUE(MayHave(row));
    }
    EXPECT_GE(Answered() - before, kRows / 5 - 4);
  };
  expect_columns_answered();
  ExpectSameAnswers();
  ForBoth([](rocksdb::DB* db) {
    ExpectOk(db->Delete({}, RowAt(0) + "a"));
    ExpectOk(db->Put({}, RowAt(1) + "absent", "new"));
    ExpectOk(db->CompactRange({}, nullptr, nullptr));
  });
  ExpectSameAnswers();
  Open(Options(), filter);
  expect_columns_answered();
  ExpectSameAnswers();
  // The row alone is a key, too.
  ForBoth([](rocksdb::DB* db) {
    ExpectOk(db->Put({}, RowAt(4), "of the row"));
    ExpectOk(db->Flush({}));
  });
  ExpectSameAnswers({}, {}, {RowAt(4), RowAt(4) + "a", RowAt(9)});
}

INSTANTIATE_TEST_SUITE_P(Each, FrontFilterDBCells, testing::Bool(),
                         [](const auto& one) {
                           return one.param ? "Kept" : "WhereRocksDBHasThem";
                         });

// Filters that the block cache evicts can be probed no longer.
TEST_F(FrontFilterDBTest, CellsOfEvictedFilters) {
  const auto cache = rocksdb::NewLRUCache(64 << 20);
  auto options = Options();
  auto* const table =
      options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  table->block_cache = cache;
  table->cache_index_and_filter_blocks = true;
  Open(options);
  ForBoth(Fill);
  ForBoth([](rocksdb::DB* db) { ExpectOk(db->Flush({})); });
  WaitUntilListed(4, 0);
  const auto answered = [this] {
    const uint64_t before = Answered();
    std::string value;
    for (int row = 0; row < kRows; row += 5) {
      EXPECT_TRUE(db_->Get({}, RowAt(row) + "absent", &value).IsNotFound());
    }
    return Answered() - before;
  };
  answered();  // RocksDB reads the filters
  EXPECT_GE(answered(), kRows / 5 - 4);
  cache->EraseUnRefEntries();
  EXPECT_LT(answered(), kRows / 5);  // and reads them again
  EXPECT_GE(answered(), kRows / 5 - 4);
  ExpectSameAnswers();
}

// The filter charges its memory to a cache, and gives the charge back.
TEST_F(FrontFilterDBTest, ChargesACache) {
  const auto cache = rocksdb::NewLRUCache(64 << 20);
  Open(Options(), {.charged_cache = cache});
  constexpr size_t kStep = 256 << 10;
  EXPECT_EQ(cache->GetUsage() / kStep, 0);  // the memtable has no rows
  ExpectOk(db_->Put({}, "user:a", "v"));
  EXPECT_EQ(cache->GetUsage() / kStep, 1);  // its filter
  for (int row = 0; row < 20'000; ++row) {
    ExpectOk(db_->Put({}, "user" + std::to_string(row) + ":a", "v"));
  }
  const auto stats = db_->front_filter()->Stats();
  EXPECT_EQ(
      cache->GetUsage() / kStep,
      (stats.bytes + stats.families[0].memtable_bytes + kStep - 1) / kStep);
  EXPECT_GT(cache->GetUsage() / kStep, 1);
  db_.reset();
  EXPECT_LT(cache->GetUsage(), kStep);
}

TEST_F(FrontFilterDBTest, ADisarmedFamilyTakesNoMemory) {
  const auto cache = rocksdb::NewLRUCache(64 << 20);
  const auto is_charged = [&cache] { return cache->GetUsage() >= 256 << 10; };
  Open(Options(), {.charged_cache = cache});
  Fill(db_.get());
  EXPECT_TRUE(is_charged());
  ExpectOk(db_->GetRootDB()->IngestExternalFile({WriteSst(4)}, {}));
  EXPECT_EQ(Family().state, FrontFilterState::kDisarmed);
  Fill(db_.get());
  ExpectOk(db_->Flush({}));  // the memtable of before
  EXPECT_TRUE(test::WaitFor([&] { return !is_charged(); }));
  ExpectOk(db_->IngestExternalFile({WriteSst(4)}, {}));
  EXPECT_FALSE(is_charged());
  Fill(db_.get());
  EXPECT_FALSE(is_charged());
}

TEST_F(FrontFilterDBTest, OffAndOn) {
  Open(Options(), {.enabled = false});
  Fill(db_.get());
  EXPECT_TRUE(MayHave(4));
  db_->front_filter()->SetEnabled(true);
  EXPECT_FALSE(MayHave(4));
  EXPECT_TRUE(MayHave(3));
  db_->front_filter()->SetEnabled(false);
  Write(db_.get(), 4, 5);
  db_->front_filter()->SetEnabled(true);
  EXPECT_TRUE(MayHave(4));
}

TEST_F(FrontFilterDBTest, ACustomLayoutThatThrows) {
  const auto layout = KeyLayout::RegisterCustom(
      "throws", [](std::string_view key) -> std::optional<size_t> {
        if (key.starts_with("throw")) throw std::runtime_error("no row");
        const size_t at = key.find(':');
        if (at == std::string_view::npos) return std::nullopt;
        return at + 1;
      });
  ASSERT_TRUE(layout);
  const auto options = test::TestDbOptions(
      {test::MakeFilterPolicy({.key_layout = *layout}), nullptr});
  Open(options);
  ForBoth(Fill);
  ExpectAbsentRowsAnswered();
  ForBoth([](rocksdb::DB* db) { ExpectOk(db->Put({}, "throw:a", "v")); });
  std::string value;
  ExpectOk(db_->Get({}, "throw:a", &value));
  EXPECT_TRUE(MayHave(4));  // until the memtable is gone
  ExpectSameAnswers();
  ForBoth([](rocksdb::DB* db) { ExpectOk(db->Flush({})); });
  ExpectSameAnswers();
  ExpectOk(db_->Get({}, "throw:a", &value));
}

TEST_F(FrontFilterDBTest, FailedOpenLeavesTheOutputAsItWas) {
  Open(Options());
  const FrontFilterDB* const before = db_.get();
  auto options = Options();
  options.create_if_missing = false;
  EXPECT_THAT(OpenWithFrontFilter({}, options, dir_.File("none"), &db_),
              StatusIs(Status::kInvalidArgument, HasSubstr("does not exist")));
  EXPECT_EQ(db_.get(), before);
}

}  // namespace
}  // namespace rowbloom::front_filter_db_test
