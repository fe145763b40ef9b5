// The stream of changes has all that was written, as cells: a model that is fed
// with it answers as the store does, and a copy that takes it becomes equal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "tests/storage/store/calling_store.h"
#include "tests/storage/store/model_families.h"
#include "tests/storage/store/random_names.h"
#include "tests/storage/store/store_model.h"
#include "tests/storage/store/test_store.h"
#include "tests/storage/upkeep/numbered_writes.h"
#include "tests/storage/upkeep/other_process.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/stride.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum ChangeType;
using Kind = ChangeKind;

const StoreOptions kKeepsLog = {.kept_log_seconds = 3600};

// All changes after a number, which moves to the last one.
Status TakeChanges(Store* store, uint64_t* number,
                   std::vector<StoreChange>* changes) {
  changes->clear();
  std::unique_ptr<ChangeStream> stream;
  Status s = store->GetUpdatesSince(*number, &stream);
  if (!s.ok()) return s;
  for (; stream->Valid(); stream->Next()) {
    EXPECT_GT(stream->change().number, *number);
    EXPECT_LT(stream->number(), stream->change().number);
    changes->push_back(stream->change());
  }
  *number = stream->number();
  return stream->status();
}

// Makes changes of `versioned` families in a copy, whose have timestamps of the
// client.
void MakeInACopy(const std::vector<StoreChange>& changes, Store* copy) {
  for (const StoreChange& change : changes) {
    if (change.kind != Kind::kCell) continue;
    ASSERT_THAT(
        copy->Write({change.type, change.row, change.family, change.qualifier,
                     change.value, change.timestamp_ms}),
        IsOk());
  }
}

void MakeInModel(const StoreChange& change, StoreModel* model) {
  if (change.kind != Kind::kCell) return;
  const auto& [number, kind, family, type, row, qualifier, timestamp_ms, value,
               ttl_ms, options] = change;
  const uint64_t ms =
      timestamp_ms.value_or(std::numeric_limits<int64_t>::max());
  switch (type) {
    case kPut:
      ASSERT_TRUE(timestamp_ms);
      return model->Put(row, family, qualifier, ms, value, ttl_ms);
    case kDelete:
      return model->Delete(row, family, qualifier, ms);
    case kDeleteVersion:
      return model->DeleteVersion(row, family, qualifier, ms);
    case kDeleteFamily:
      return model->DeleteFamily(row, family, ms);
    case kDeleteFamilyVersion:
      return model->DeleteFamilyVersion(row, family, ms);
    case kRemove:
    case kRemoveFamily:
      FAIL() << "no cell is that far ahead of the clock";
    case kDeleteRow:
    case kIncrement:
    case kAppend:
      FAIL() << "this type comes as what was written for it";
  }
}

class Changes : public ::testing::Test {
 protected:
  void Open(const StoreOptions& options = kKeepsLog) {
    store_.reset();
    now_ms_ += 3 * LeasedClock::kLeaseMs;
    store_ = OpenOrFail(options, path_, Descriptors(kModelFamilies),
                        [this] { return now_ms_.load(); });
  }
  void Put(const std::string& row, const std::string& family = "latest") {
    ASSERT_THAT(store_->Put(row, family, "q", "v"), IsOk());
  }

  TempDir dir_;
  const std::string path_ = dir_.File("db");
  std::atomic<uint64_t> now_ms_{kModelStart};
  std::unique_ptr<Store> store_;
  uint64_t number_ = 0;
  std::vector<StoreChange> changes_;
};

TEST_F(Changes, FeedAModelThatAnswersAsTheStore) {
  Random random(SeedFromEnv());
  Open();
  StoreModel model(kModelFamilies);
  const auto family = [&] {
    return std::next(
               kModelFamilies.begin(),
               static_cast<std::ptrdiff_t>(random.Below(kModelFamilies.size())))
        ->first;
  };
  const uint64_t writes = Scaled(3000);
  for (uint64_t i = 1; i <= writes; ++i) {
    WriteBatch batch;
    for (uint64_t left = 1 + random.Below(4); left > 0; --left) {
      const std::string row = RandomName(1 + random.Below(2), &random);
      const std::string name = family();
      const std::string qualifier = RandomName(random.Below(2), &random);
      const bool latest = name.starts_with("latest");
      std::optional<uint64_t> ms;
      if (kModelFamilies.at(name).timestamps == Timestamps::kClient) {
        ms = now_ms_ - random.Below(1000);
      }
      switch (random.Below(12)) {
        case 0:
          batch.Delete(row, name, qualifier);
          break;
        case 1:
          batch.DeleteRow(row);
          break;
        case 2:
          batch.DeleteFamily(row, name, random.OneIn(2) ? std::nullopt : ms);
          break;
        case 3:
          if (!latest) batch.DeleteVersion(row, name, qualifier, now_ms_ - 5);
          break;
        case 4:
          if (!latest && random.OneIn(8)) {
            batch.DeleteFamilyVersion(row, name, now_ms_ - 5);
          }
          break;
        default:
          batch.Put(row, name, qualifier, std::to_string(i), ms);
      }
    }
    ASSERT_THAT(store_->Write(batch), IsOk());
    now_ms_ += random.Below(12);
    if (random.OneIn(200)) {
      ASSERT_THAT(store_->Flush(), IsOk());
    }
    if (random.OneIn(500)) {
      ASSERT_THAT(store_->Compact(), IsOk());
    }
    if (random.OneIn(700)) Open();
    if (!random.OneIn(150) && i < writes) continue;
    ASSERT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
    ASSERT_EQ(number_, store_->LatestNumber());
    for (const StoreChange& change : changes_) {
      ASSERT_NO_FATAL_FAILURE(MakeInModel(change, &model));
    }
    const ScanOptions all{.row = {.max_versions = 9}};
    ASSERT_TRUE(RowsOf(*store_, all) == model.Scan(all, now_ms_))
        << "after write " << i;
  }
}

TEST_F(Changes, MakeACopyEqual) {
  const std::string copy_path = dir_.File("copy");
  store_ = OpenOrFail(kKeepsLog, path_, WrittenFamilies());
  StoreModel model(kWrittenFamilies);
  const auto write_up_to = [&](uint64_t from, uint64_t to) {
    for (uint64_t number = from; number <= to; ++number) {
      WriteBatch batch;
      MakeWrite(number, &batch, &model);
      ASSERT_THAT(store_->Write(batch), IsOk());
      if (number % 70 == 0) {
        ASSERT_THAT(store_->Flush(), IsOk());
      }
    }
  };
  ASSERT_NO_FATAL_FAILURE(write_up_to(1, 200));
  ASSERT_THAT(store_->Checkpoint(copy_path), IsOk());
  ASSERT_NO_FATAL_FAILURE(write_up_to(201, 400));
  {
    // The copy has the numbers of the store.
    const auto copy = OpenOrFail({.read_only = true}, copy_path, {});
    number_ = copy->LatestNumber();
  }
  const auto copy = OpenOrFail({}, copy_path, {});
  ASSERT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
  for (const StoreChange& change : changes_) {
    ASSERT_EQ(change.kind, Kind::kCell);
    WriteBatch batch;
    batch.Add({change.type, change.row, change.family, change.qualifier,
               change.value,
               change.family == "latest" ? std::nullopt : change.timestamp_ms});
    ASSERT_THAT(copy->Write(batch), IsOk());
  }
  const auto copied = WithoutGivenTimes(RowsOf(*copy, AllWritten()));
  EXPECT_TRUE(copied == WithoutGivenTimes(RowsOf(*store_, AllWritten())));
  EXPECT_TRUE(copied == model.Scan(AllWritten(), 0));
}

// A load deletes by itself, not by writes that follow it.
TEST_F(Changes, HaveNoneOfALoadsDeletes) {
  const auto store = OpenOrFail(kKeepsLog, dir_.File("loads"),
                                {{"f", {.timestamps = Timestamps::kClient}}});
  ASSERT_THAT(store->Put("r", "f", "q", "v", {.timestamp_ms = 1}), IsOk());
  ASSERT_THAT(TakeChanges(store.get(), &number_, &changes_), IsOk());
  const auto load = LoadInto(*store);
  ASSERT_THAT(load->Add({kDeleteFamilyVersion, "r", "f", "", {}, 1}), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  ASSERT_THAT(TakeChanges(store.get(), &number_, &changes_), IsOk());
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_EQ(changes_[0].kind, Kind::kBulkLoad);
}

// The records of one load do not come between the marks of another.
TEST_F(Changes, GoOnAfterLoadsBesideEachOther) {
  const auto path = dir_.File("loads");
  const FamilyOptions client = {.timestamps = Timestamps::kClient};
  const auto store =
      OpenOrFail(kKeepsLog, path, {{"deletes", client}, {"puts", client}});
  const auto load = [&](const char* family, ChangeType type, uint64_t rows) {
    const auto of_rows = LoadInto(*store);
    const bool is_put = type == ChangeType::kPut;
    for (uint64_t i = 0; i < rows; ++i) {
      const std::string row = std::to_string(10'000 + i);
      EXPECT_THAT(of_rows->Add(Change{.type = type,
                                      .row = row,
                                      .family = family,
                                      .qualifier = is_put ? "q" : "",
                                      .timestamp_ms = 1}),
                  IsOk());
    }
    EXPECT_THAT(of_rows->Finish(), IsOk());
  };
  std::atomic<bool> done{false};
  std::thread deletes([&] {
    while (!done) {
      load("deletes", ChangeType::kDeleteFamilyVersion, 5000);
    }
  });
  for (int i = 0; i < 60; ++i) load("puts", ChangeType::kPut, 10);
  done = true;
  deletes.join();
  std::unique_ptr<ChangeStream> stream;
  ASSERT_THAT(store->GetUpdatesSince(0, &stream), IsOk());
  int loads = 0;
  for (; stream->Valid(); stream->Next()) {
    loads += stream->change().kind == ChangeKind::kBulkLoad ? 1 : 0;
  }
  EXPECT_THAT(stream->status(), IsOk());
  EXPECT_GT(loads, 60);
}

// A delete cannot cover what ran ahead of the clock by the full second: the
// store removes that, and the copy has to, or its delete would take the next
// put.
TEST_F(Changes, OfDeletesThatRemoveAreMadeInACopy) {
  const auto open = [this](const char* name, Timestamps timestamps) {
    return OpenOrFail(kKeepsLog, dir_.File(name),
                      {{"f", {.timestamps = timestamps, .max_versions = 3}}},
                      [] { return kModelStart; });
  };
  const auto store = open("store", Timestamps::kStore);
  const auto copy = open("copy", Timestamps::kClient);
  const auto put = [&store](const char* row, const char* qualifier) {
    ASSERT_THAT(store->Put(row, "f", qualifier, "v"), IsOk());
  };
  const auto run_ahead = [&put](const char* row) {
    for (uint64_t i = 0; i < GivenTimes::kMaxAheadMs + 50; ++i) put(row, "q");
  };
  for (const bool of_row : {false, true}) {
    run_ahead("r");
    ASSERT_THAT(of_row ? store->DeleteRow("r") : store->Delete("r", "f", "q"),
                IsOk());
    put("r", "q");
    put("r", "");
  }
  // The delete before the one that removes has a later timestamp than it.
  run_ahead("later");
  ASSERT_THAT(store->DeleteFamily(
                  "later", "f",
                  {.timestamp_ms = kModelStart + GivenTimes::kMaxAheadMs}),
              IsOk());
  put("later", "q");
  ASSERT_THAT(store->DeleteFamily("later", "f"), IsOk());
  put("later", "q");
  put("later", "q2");
  ASSERT_THAT(TakeChanges(store.get(), &number_, &changes_), IsOk());
  std::vector<ChangeType> removals;
  for (const StoreChange& change : changes_) {
    if (IsRemoval(change.type)) removals.push_back(change.type);
  }
  ASSERT_NO_FATAL_FAILURE(MakeInACopy(changes_, copy.get()));
  EXPECT_THAT(removals, ElementsAre(kRemove, kRemoveFamily, kRemoveFamily));
  const RowOptions all = {.max_versions = 3};
  for (int compacted = 0; compacted < 2; ++compacted) {
    for (const char* row : {"later", "r"}) {
      std::vector<Cell> cells;
      std::vector<Cell> copied;
      ASSERT_THAT(store->GetRow(row, &cells, all), IsOk());
      ASSERT_THAT(copy->GetRow(row, &copied, all), IsOk());
      EXPECT_EQ(cells.size(), 2u);
      EXPECT_TRUE(copied == cells);
    }
    ASSERT_THAT(store->Compact(), IsOk());
    ASSERT_THAT(copy->Compact(), IsOk());
  }
}

// The store drops what it gave while its clock was ahead. The copy has that,
// and its own clock may be past it, also one that was made later.
TEST_F(Changes, OfAClockThatWasResetAreMadeInACopy) {
  for (const auto& [late_ms, is_later] :
       {std::pair(0, false), {600'000, false}, {0, true}, {600'000, true}}) {
    SCOPED_TRACE(late_ms);
    uint64_t now_ms = kModelStart + 500;
    uint64_t late_now_ms = now_ms;
    const auto open = [this](const std::string& name, Timestamps timestamps,
                             uint64_t* clock_ms) {
      return OpenOrFail(kKeepsLog, dir_.File(name),
                        {{"f", {.timestamps = timestamps, .max_versions = 3}}},
                        [clock_ms] { return *clock_ms; });
    };
    const std::string name =
        std::to_string(late_ms) + (is_later ? "later" : "");
    const auto store = open("store" + name, Timestamps::kStore, &now_ms);
    auto copy = open("copy" + name, Timestamps::kClient, &late_now_ms);
    number_ = 0;
    const auto follow = [&] {
      ASSERT_THAT(TakeChanges(store.get(), &number_, &changes_), IsOk());
      ASSERT_NO_FATAL_FAILURE(MakeInACopy(changes_, copy.get()));
    };
    ASSERT_THAT(store->Put("r", "f", "q", "v"), IsOk());
    ASSERT_THAT(store->DeleteFamily("r", "f"), IsOk());
    ASSERT_NO_FATAL_FAILURE(follow());
    now_ms = late_now_ms = kModelStart;
    ASSERT_THAT(copy->ResetClock(), IsOk());
    ASSERT_THAT(store->ResetClock(), IsOk());
    if (is_later) {
      CopyOptions options;
      options.families = {
          {"f", {.timestamps = Timestamps::kClient, .max_versions = 3}}};
      CopyReport report;
      ASSERT_THAT(store->CopyTo(dir_.File("made" + name), options, &report),
                  IsOk());
      copy = open("made" + name, Timestamps::kClient, &late_now_ms);
    }
    ASSERT_THAT(store->DeleteFamily("r", "f"), IsOk());
    ASSERT_THAT(store->Put("r", "f", "q", "new"), IsOk());
    late_now_ms += late_ms;
    ASSERT_NO_FATAL_FAILURE(follow());
    for (int compacted = 0; compacted < 2; ++compacted) {
      for (Store* const either : {store.get(), copy.get()}) {
        EXPECT_EQ(ValueOf(*either, "r", "f", "q"), "new");
        ASSERT_THAT(either->Compact(), IsOk());
      }
    }
  }
}

// A late copy cannot tell that a delete was one of the future.
TEST_F(Changes, OfARemovedDeleteOfTheFutureAreMadeInALateCopy) {
  const auto open = [this](const char* name, uint64_t now_ms) {
    return OpenOrFail(
        kKeepsLog, dir_.File(name),
        {{"f", {.timestamps = Timestamps::kClient, .max_versions = 3}}},
        [now_ms] { return now_ms; });
  };
  const auto store = open("store", kModelStart);
  const auto copy = open("copy", kModelStart + 600'000);
  ASSERT_THAT(
      store->DeleteFamily("r", "f", {.timestamp_ms = kModelStart + 60'000}),
      IsOk());
  ASSERT_THAT(copy->ResetClock(), IsOk());
  ASSERT_THAT(store->Write({kRemoveFamily, "r", "f", ""}), IsOk());
  ASSERT_THAT(store->Put("r", "f", "q", "new"), IsOk());
  ASSERT_THAT(TakeChanges(store.get(), &number_, &changes_), IsOk());
  ASSERT_NO_FATAL_FAILURE(MakeInACopy(changes_, copy.get()));
  for (int compacted = 0; compacted < 2; ++compacted) {
    for (Store* const either : {store.get(), copy.get()}) {
      EXPECT_EQ(ValueOf(*either, "r", "f", "q"), "new");
      ASSERT_THAT(either->Compact(), IsOk());
    }
  }
}

// A removal leaves deletes of the row, which others of its columns need, and a
// compaction takes by no delete of a later time that was removed.
TEST_F(Changes, ThatRemoveLeaveWhatARowNeeds) {
  const auto store = OpenOrFail(
      {}, dir_.File("store"),
      {{"f", {.timestamps = Timestamps::kClient, .max_versions = 3}}},
      [] { return kModelStart; });
  const auto write = [&store](const Change& change) {
    ASSERT_THAT(store->Write(change), IsOk());
    ASSERT_THAT(store->Flush(), IsOk());
  };
  const auto value = [&store](const char* row) {
    std::optional<std::string> found;
    EXPECT_THAT(store->Get(row, "f", "q", &found), IsOk());
    return found.value_or("-");
  };
  for (const ChangeType type : {kRemove, kRemoveFamily}) {
    write({kPut, "r", "f", "q", "deleted", 5});
    write({kDeleteFamily, "r", "f", "", "", 6});
    write({type, "r", "f", ""});
    EXPECT_EQ(value("r"), "-");
  }
  EXPECT_THAT(store->Write({kRemove, "r", "f", "q", "", 5}),
              StatusIs(Status::kInvalidArgument, HasSubstr("no timestamp")));
  write({kDeleteFamily, "late", "f", "", "", kModelStart + 5000});
  write({kRemoveFamily, "late", "f", ""});
  write({kPut, "late", "f", "q", "new", kModelStart});
  for (int compacted = 0; compacted < 2; ++compacted) {
    EXPECT_EQ(value("late"), "new");
    EXPECT_EQ(value("r"), "-");
    ASSERT_THAT(store->Compact(), IsOk());
  }
}

TEST_F(Changes, OfAProcessThatWasKilledAreThoseItsStoreHas) {
  const uint64_t kills = Scaled(4);
  int families = 0;
  StoreModel model(kWrittenFamilies);
  for (uint64_t kill = 0; kill < kills; ++kill) {
    uint64_t acknowledged = 0;
    {
      OtherProcess writer(path_, UINT64_MAX);
      for (int writes = 0; writes < 90; ++writes) {
        acknowledged = writer.NextNumber();
        ASSERT_GT(acknowledged, 0u);
      }
    }
    const auto reader = OpenOrFail({.read_only = true}, path_, {});
    ASSERT_THAT(TakeChanges(reader.get(), &number_, &changes_), IsOk());
    for (const StoreChange& change : changes_) {
      families += change.kind != Kind::kCell;
      if (change.family == kExtra) continue;
      ASSERT_NO_FATAL_FAILURE(MakeInModel(change, &model));
    }
    ASSERT_TRUE(WithoutGivenTimes(RowsOf(*reader, AllWritten())) ==
                WithoutGivenTimes(model.Scan(AllWritten(), 0)));
    std::optional<std::string> last;
    ASSERT_THAT(reader->Get("counter", "latest", "n", &last), IsOk());
    ASSERT_TRUE(last);
    ASSERT_GE(std::stoull(*last), acknowledged);
  }
  EXPECT_GT(families, 2);
}

TEST_F(Changes, ThatTheLogHasNotAnyMoreAreNamed) {
  Open({});  // keeps no log
  ASSERT_NO_FATAL_FAILURE(Put("a"));
  ASSERT_THAT(store_->Flush(), IsOk());
  ASSERT_NO_FATAL_FAILURE(Put("b"));
  const uint64_t second = store_->LatestNumber();
  ASSERT_THAT(store_->Flush(), IsOk());
  // RocksDB deletes the logs in the background.
  ASSERT_TRUE(
      WaitFor([this] { return FilesWithEnd(path_, ".log").size() == 1; }));
  const uint64_t oldest = store_->LatestNumber();
  ASSERT_NO_FATAL_FAILURE(Put("c"));
  const Status s = TakeChanges(store_.get(), &number_, &changes_);
  EXPECT_THAT(s,
              StatusIs(Status::kNotFound,
                       AllOf(HasSubstr("changes 1 to "),
                             HasSubstr("at least " + std::to_string(oldest)))));
  number_ = second;
  ASSERT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_EQ(changes_[0].row, "c");
  ASSERT_THAT(store_->Flush(), IsOk());
  EXPECT_TRUE(WaitFor([&] {
    number_ = second;
    return TakeChanges(store_.get(), &number_, &changes_).IsNotFound();
  }));
  // The last number has no change after it.
  number_ = store_->LatestNumber();
  EXPECT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
  EXPECT_TRUE(changes_.empty());
  ++number_;
  EXPECT_THAT(
      TakeChanges(store_.get(), &number_, &changes_),
      StatusIs(Status::kInvalidArgument, HasSubstr("expected at most")));
}

// RocksDB looks for logs to delete when it is opened.
TEST_F(Changes, OfALogWithoutALimitOfBytesAreKept) {
  const StoreOptions keeps_all = {.kept_log_bytes =
                                      std::numeric_limits<uint64_t>::max()};
  Open(keeps_all);
  for (const char* row : {"a", "b", "c"}) {
    ASSERT_NO_FATAL_FAILURE(Put(row));
    ASSERT_THAT(store_->Flush(), IsOk());
  }
  Open(keeps_all);
  ASSERT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
  std::vector<std::string> rows;
  for (const StoreChange& change : changes_) {
    if (change.kind == Kind::kCell) rows.push_back(change.row);
  }
  EXPECT_THAT(rows, ElementsAre("a", "b", "c"));
}

// RocksDB would take such a log for an old one.
TEST_F(Changes, OfALogOfTheFutureAreKept) {
  Open();
  for (const char* row : {"a", "b", "c"}) {
    ASSERT_NO_FATAL_FAILURE(Put(row));
    ASSERT_THAT(store_->Flush(), IsOk());
  }
  store_.reset();
  int kept = 0;
  for (const auto& log :
       std::filesystem::directory_iterator(path_ + "/archive")) {
    std::filesystem::last_write_time(
        log,
        std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
    ++kept;
  }
  ASSERT_GT(kept, 0);
  Open();
  ASSERT_NO_FATAL_FAILURE(Put("d"));
  ASSERT_THAT(store_->Flush(), IsOk());
  ASSERT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
  std::vector<std::string> rows;
  for (const StoreChange& change : changes_) {
    if (change.kind == Kind::kCell) rows.push_back(change.row);
  }
  EXPECT_THAT(rows, ElementsAre("a", "b", "c", "d"));
}

// A power cut must not take back what somebody knows of: its numbers would go
// to other changes.
TEST(ChangesOfTheLog, AreOnTheDiskBeforeTheyAreGiven) {
  const CallingStore calling;
  Store* const store = calling.store.get();
  int syncs = 0;
  calling.files->On(FileCall::kSync, [&](const std::string& path) {
    syncs += path.ends_with(".log");
  });
  ASSERT_THAT(store->Put("r", "c", "q", "v"), IsOk());
  EXPECT_EQ(syncs, 0);
  uint64_t number = 0;
  std::vector<StoreChange> changes;
  ASSERT_THAT(TakeChanges(store, &number, &changes), IsOk());
  EXPECT_FALSE(changes.empty());
  EXPECT_EQ(syncs, 1);
  ASSERT_THAT(TakeChanges(store, &number, &changes), IsOk());
  EXPECT_EQ(syncs, 1);
  calling.files->Off(FileCall::kSync);
}

// RocksDB cannot sync the log of some file systems beside writes.
TEST(ChangesOfTheLog, AreOnTheDiskWhereOneThreadSyncsIt) {
  const CallingStore calling({}, /*syncs_in_any_thread=*/false);
  Store* const store = calling.store.get();
  std::mutex mutex;
  std::set<std::string> synced;
  calling.files->On(FileCall::kSync, [&](const std::string& path) {
    const std::lock_guard lock(mutex);
    synced.insert(path);
  });
  const auto last_log = [&calling] {
    return FilesWithEnd(calling.dir.File("db"), ".log").back();
  };
  ASSERT_THAT(store->Put("r", "c", "q", "v"), IsOk());
  EXPECT_FALSE(synced.contains(last_log()));
  uint64_t last = 0;
  for (int i = 0; i < 2; ++i) {
    uint64_t number = 0;
    std::vector<StoreChange> changes;
    ASSERT_THAT(TakeChanges(store, &number, &changes), IsOk());
    EXPECT_FALSE(changes.empty());
    EXPECT_TRUE(synced.contains(last_log()));
    EXPECT_TRUE(i == 0 || number == last);
    last = number;
  }
  // A copy has no change that a power cut takes from the store, either. A
  // reader of the log may see the mark before it is written.
  const uint64_t mark = store->LatestNumber() + 1;
  std::future<Status> reader;
  calling.files->On(FileCall::kSync, [&](const std::string& path) {
    if (path != last_log() || reader.valid()) return;
    reader = std::async(std::launch::async, [store, mark] {
      std::unique_ptr<ChangeStream> stream;
      return store->GetUpdatesSince(mark, &stream);
    });
    reader.wait_for(std::chrono::milliseconds(100));
  });
  ASSERT_THAT(store->Checkpoint(calling.dir.File("copy")), IsOk());
  ASSERT_TRUE(reader.valid());
  EXPECT_THAT(reader.get(), IsOk());
  calling.files->Off(FileCall::kSync);
}

// Threads that poll the changes would pass the locks on to one another.
TEST(ChangesOfTheLog, KeepNoChangeOfFamiliesWaiting) {
  const CallingStore calling({}, /*syncs_in_any_thread=*/false);
  Store* const store = calling.store.get();
  calling.files->On(FileCall::kSync, [](const std::string& /*path*/) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  std::atomic<bool> stop = false;
  std::atomic<int> polls = 0;
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (int row = 0; !stop; ++row) {
      ASSERT_THAT(store->Put(std::to_string(row), "c", "q", "v",
                             {.durability = Durability::kSync}),
                  IsOk());
    }
  });
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (; !stop; ++polls) {
        std::unique_ptr<ChangeStream> stream;
        ASSERT_THAT(store->GetUpdatesSince(0, &stream), IsOk());
      }
    });
  }
  EXPECT_TRUE(WaitFor([&polls] { return polls > 8; }));
  std::future<Status> created = std::async(
      std::launch::async, [store] { return store->CreateFamily("d", {}); });
  EXPECT_TRUE(WaitFor([&created] {
    return created.wait_for(std::chrono::seconds(0)) ==
           std::future_status::ready;
  }));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(created.get(), IsOk());
  calling.files->Off(FileCall::kSync);
}

TEST_F(Changes, WithoutALogAreMissed) {
  Open();
  ASSERT_NO_FATAL_FAILURE(Put("a"));
  number_ = store_->LatestNumber();
  ASSERT_THAT(store_->Put("b", "latest", "q", "v",
                          {.durability = Durability::kSkipWal}),
              IsOk());
  const Status last = TakeChanges(store_.get(), &number_, &changes_);
  EXPECT_THAT(last, StatusIs(Status::kNotFound, HasSubstr("kSkipWal")));
  ASSERT_NO_FATAL_FAILURE(Put("c"));
  const Status between = TakeChanges(store_.get(), &number_, &changes_);
  EXPECT_THAT(between, StatusIs(Status::kNotFound, HasSubstr("kSkipWal")));
  EXPECT_TRUE(changes_.empty());
}

TEST_F(Changes, MarkABulkLoadAndGoOnAfterIt) {
  Open();
  ASSERT_NO_FATAL_FAILURE(Put("a"));
  for (int round = 0; round < 2; ++round) {
    const auto load = LoadInto(*store_, {.file_bytes = 1});
    for (const char* row : {"a", "b", "c"}) {
      ASSERT_THAT(load->Add(row, "client", "q", "v", 5), IsOk());
      ASSERT_THAT(load->Add(row, "latest", "q", "v"), IsOk());
    }
    ASSERT_THAT(load->Finish(), IsOk());
  }
  const auto is_load = [](const StoreChange& change) {
    return change.kind == Kind::kBulkLoad;
  };
  const uint64_t last = store_->LatestNumber();
  ASSERT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
  EXPECT_GE(number_, last);
  EXPECT_EQ(std::ranges::count_if(changes_, is_load), 4);
  ASSERT_NO_FATAL_FAILURE(Put("d"));
  ASSERT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
  EXPECT_EQ(changes_.back().row, "d");
  // A stream can begin after each change of the one before.
  number_ = 0;
  std::vector<StoreChange> all;
  ASSERT_THAT(TakeChanges(store_.get(), &number_, &all), IsOk());
  for (size_t i = 0; i < all.size(); ++i) {
    number_ = all[i].number;
    ASSERT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk())
        << all[i].number;
    EXPECT_TRUE(std::equal(changes_.begin(), changes_.end(),
                           all.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                           all.end()));
  }
}

// Each copy has a load's cells, or the store's changes since have its mark; and
// at a mark the cells, or the family, are there.
TEST_F(Changes, TellOfLoadsAndFamiliesThatAreThere) {
  Open();
  std::atomic<bool> stop = false;
  std::atomic<int> loads = 0;
  std::thread loader([&] {
    // Each family makes the next copy slower, so that their number is bounded.
    for (int i = 0; i < 40 && (!stop || i < 3); ++i) {
      const auto load = LoadInto(*store_);
      ASSERT_THAT(load->Add("r", "client", std::to_string(i), "v", 5), IsOk());
      ASSERT_THAT(load->Finish(), IsOk());
      ++loads;
      ASSERT_THAT(store_->CreateFamily("f" + std::to_string(i), {}), IsOk());
    }
  });
  const auto loaded = [](Store* store) {
    return static_cast<int>(GetRowOf(*store, "r").size());
  };
  // Takes all changes, and returns the number of loads among them.
  const auto take = [&](bool check) {
    EXPECT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
    int marks = 0;
    for (const StoreChange& change : changes_) {
      marks += change.kind == Kind::kBulkLoad;
      if (!check || change.kind != Kind::kFamilyKept) continue;
      EXPECT_TRUE(store_->Families().contains(change.family));
    }
    return marks;
  };
  std::vector<std::pair<int, uint64_t>> copies;
  int marks = 0;
  uint64_t polled = 0;
  for (int i = 0; i < 12; ++i) {
    const std::string path = dir_.File("copy" + std::to_string(i));
    ASSERT_THAT(store_->Checkpoint(path), IsOk());
    const auto copy = OpenOrFail({.read_only = true}, path, {});
    copies.emplace_back(loaded(copy.get()), copy->LatestNumber());
    for (int polls = 0; polls < 20; ++polls) {
      number_ = polled;
      marks += take(/*check=*/true);
      polled = number_;
      EXPECT_GE(loaded(store_.get()), marks);
    }
  }
  stop = true;
  loader.join();
  number_ = polled;
  EXPECT_EQ(marks + take(/*check=*/false), loads);
  for (const auto& [in_copy, number] : copies) {
    number_ = number;
    EXPECT_EQ(in_copy + take(/*check=*/false), loads);
  }
}

// Later options may push out versions that the store still has, or be those of
// another format.
TEST_F(Changes, OfAFamilyHaveTheOptionsOfTheirTime) {
  const auto store = OpenOrFail(kKeepsLog, path_, {});
  const auto copy = OpenOrFail({}, dir_.File("copy"), {});
  FamilyOptions options = {.timestamps = Timestamps::kClient,
                           .max_versions = 3};
  ASSERT_THAT(store->CreateFamily("f", options), IsOk());
  ASSERT_THAT(store->CreateFamily("g", options), IsOk());
  for (uint64_t ms = 1; ms <= 3; ++ms) {
    ASSERT_THAT(
        store->Put("r", "f", "q", std::to_string(ms), {.timestamp_ms = ms}),
        IsOk());
  }
  options.max_versions = 1;
  ASSERT_THAT(store->AlterFamily("f", options), IsOk());
  ASSERT_THAT(store->AlterFamily("g", options), IsOk());
  ASSERT_THAT(store->DeleteVersion("r", "f", "q", {.timestamp_ms = 3}), IsOk());
  ASSERT_THAT(store->DropFamily("g"), IsOk());
  ASSERT_THAT(store->CreateFamily("g", {}), IsOk());
  ASSERT_THAT(TakeChanges(store.get(), &number_, &changes_), IsOk());
  for (const StoreChange& change : changes_) {
    EXPECT_EQ(change.options.has_value(), change.kind == Kind::kFamilyKept);
    if (change.options) {
      const bool is_known = copy->Families().contains(change.family);
      ASSERT_THAT(is_known ? copy->AlterFamily(change.family, *change.options)
                           : copy->CreateFamily(change.family, *change.options),
                  IsOk());
    } else if (change.kind == Kind::kFamilyDropped) {
      ASSERT_THAT(copy->DropFamily(change.family), IsOk());
    } else {
      ASSERT_NO_FATAL_FAILURE(MakeInACopy({change}, copy.get()));
    }
  }
  EXPECT_TRUE(copy->Families() == store->Families());
  EXPECT_EQ(ValueOf(*store, "r", "f", "q"), "2");
  EXPECT_EQ(ValueOf(*copy, "r", "f", "q"), "2");
}

// Another process sees the log before the load is there, or has both.
TEST_F(Changes, OfAReaderHaveLoadsThatItHas) {
  Open();
  std::atomic<bool> stop = false;
  std::thread loader([&] {
    for (int i = 0; !stop; ++i) {
      const auto load = LoadInto(*store_);
      ASSERT_THAT(load->Add("r", "client", std::to_string(i), "v", 5), IsOk());
      ASSERT_THAT(load->Finish(), IsOk());
    }
  });
  EXPECT_TRUE(WaitFor([this] { return !GetRowOf(*store_, "r").empty(); }));
  size_t marks = 0;
  for (int i = 0; i < 8; ++i) {
    const auto reader = OpenOrFail({.read_only = true}, path_, {});
    ASSERT_THAT(TakeChanges(reader.get(), &number_, &changes_), IsOk());
    marks += static_cast<size_t>(
        std::ranges::count(changes_, Kind::kBulkLoad, &StoreChange::kind));
    EXPECT_GE(GetRowOf(*reader, "r").size(), marks);
  }
  EXPECT_GT(marks, 0u);
  stop = true;
  loader.join();
  const auto reader = OpenOrFail({.read_only = true}, path_, {});
  ASSERT_THAT(TakeChanges(reader.get(), &number_, &changes_), IsOk());
  EXPECT_EQ(GetRowOf(*reader, "r").size(), marks + changes_.size());
}

// The writer goes on: its log has later changes alone.
TEST_F(Changes, OfAReaderWhoseLogIsGoneAreNamed) {
  Open({});  // keeps no log
  ASSERT_NO_FATAL_FAILURE(Put("a"));
  const auto reader = OpenOrFail({.read_only = true}, path_, {});
  ASSERT_THAT(store_->Flush(), IsOk());
  ASSERT_TRUE(
      WaitFor([this] { return FilesWithEnd(path_, ".log").size() == 1; }));
  ASSERT_NO_FATAL_FAILURE(Put("b"));
  number_ = reader->LatestNumber() - 1;
  EXPECT_THAT(TakeChanges(reader.get(), &number_, &changes_),
              StatusIs(Status::kNotFound, HasSubstr("not in the log")));
  number_ = reader->LatestNumber();
  EXPECT_THAT(TakeChanges(reader.get(), &number_, &changes_), IsOk());
  EXPECT_TRUE(changes_.empty());
}

// The mark of a stream would take the number that is asked for.
TEST_F(Changes, AfterANumberThatIsNotGivenYetAreRefused) {
  Open();
  ASSERT_NO_FATAL_FAILURE(Put("a"));
  const uint64_t last = store_->LatestNumber();
  for (int i = 0; i < 2; ++i) {
    number_ = last + 1;
    EXPECT_THAT(
        TakeChanges(store_.get(), &number_, &changes_),
        StatusIs(Status::kInvalidArgument, HasSubstr("expected at most")));
    EXPECT_EQ(store_->LatestNumber(), last);
  }
}

TEST_F(Changes, AreNoneWhereOthersAreStreamed) {
  Open();
  ASSERT_NO_FATAL_FAILURE(Put("a"));
  uint64_t numbers[2] = {};
  for (int i = 0; i < 6; ++i) {
    ASSERT_THAT(TakeChanges(store_.get(), &numbers[i % 2], &changes_), IsOk());
    EXPECT_EQ(changes_.empty(), i >= 2);
    if (i == 3) {
      ASSERT_THAT(store_->Flush(), IsOk());
    }
  }
  EXPECT_EQ(numbers[0], numbers[1]);
  EXPECT_EQ(store_->LatestNumber(), numbers[0]);
}

TEST_F(Changes, WithoutTheirMarkAreRefusedEachTime) {
  FaultPlan plan;
  const auto env = NewFaultEnv(&plan);
  const auto store = OpenOrFail({.env = env.get()}, path_, {{"f", {}}});
  ASSERT_THAT(store->Put("a", "f", "q", "v"), IsOk());
  plan.FailCall(1, /*for_good=*/true);
  EXPECT_FALSE(TakeChanges(store.get(), &number_, &changes_).ok());
  plan.FailNoCall();
  EXPECT_FALSE(TakeChanges(store.get(), &number_, &changes_).ok());
}

// A record is in the log before its write is done.
TEST_F(Changes, ThatTheLogHasNotAreNamedBesideWrites) {
  const auto store = OpenOrFail({}, path_, {{"f", {}}});  // keeps no log
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      ASSERT_THAT(store->Put(std::to_string(i), "f", "q", "v",
                             {.durability = Durability::kSync}),
                  IsOk());
      if (i % 2 == 1) {
        ASSERT_THAT(store->Flush(), IsOk());
      }
    }
  });
  int named = 0;
  const uint64_t streams = Scaled(1000);
  for (uint64_t i = 0; i < streams || (named == 0 && i < 100'000); ++i) {
    number_ = 3;
    const Status s = TakeChanges(store.get(), &number_, &changes_);
    EXPECT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
    named += s.IsNotFound();
    const auto cell =
        std::ranges::find(changes_, Kind::kCell, &StoreChange::kind);
    EXPECT_TRUE(cell == changes_.end() || cell->row == "0");
  }
  stop = true;
  writer.join();
  EXPECT_GT(named, 0);
}

TEST_F(Changes, ThatCannotBeReadAreNotCalledMissing) {
  FaultPlan plan;
  const auto env = NewFaultEnv(&plan);
  for (const bool reads : {false, true}) {
    bool met = true;
    int failed = 0;
    for (uint64_t call = 1; met; ++call) {
      SCOPED_TRACE(std::to_string(call) + (reads ? ", reader" : ", writer"));
      const TempDir dir;
      StoreOptions options = kKeepsLog;
      options.env = env.get();
      auto store = OpenOrFail(options, dir.File("db"), {{"f", {}}});
      ASSERT_THAT(store->Put("a", "f", "q", "v"), IsOk());
      ASSERT_THAT(store->Flush(), IsOk());
      ASSERT_THAT(store->Put("b", "f", "q", "v"), IsOk());
      if (reads) {
        store.reset();
        options = {.read_only = true};
        options.env = env.get();
        store = OpenOrFail(options, dir.File("db"), {});
      }
      const uint64_t faults = plan.faults();
      plan.FailCall(call, /*for_good=*/false);
      number_ = 0;
      const Status s = TakeChanges(store.get(), &number_, &changes_);
      met = plan.faults() > faults;
      plan.FailNoCall();
      if (s.ok()) {
        EXPECT_EQ(changes_.size(), 3u);  // with the family's mark
      } else {
        EXPECT_TRUE(s.IsIOError()) << s.ToString();
        ++failed;
      }
    }
    EXPECT_GT(failed, 0);
  }
}

// RocksDB moves the newest log first, and does not list those before it then.
TEST_F(Changes, WhoseLogIsBeingArchivedAreFound) {
  CallingStore calling(kKeepsLog);
  Store* const store = calling.store.get();
  ASSERT_THAT(store->Put("before", "c", "q", "v"), IsOk());
  ASSERT_THAT(TakeChanges(store, &number_, &changes_), IsOk());
  ASSERT_THAT(store->Flush(), IsOk());
  // Logs stay where they are until the checkpoint is done.
  std::atomic<bool> linked = false;
  calling.files->On(FileCall::kLink, [&](const std::string& /*path*/) {
    if (linked.exchange(true)) return;
    for (const char* row : {"a", "b", "c"}) {
      EXPECT_THAT(store->Put(row, "c", "q", "v"), IsOk());
      EXPECT_THAT(store->Flush(), IsOk());
    }
  });
  std::mutex mutex;
  std::string newest;  // guarded by the mutex
  std::atomic<bool> takes = false;
  std::future<Status> taken;
  calling.files->On(FileCall::kRename, [&](const std::string& path) {
    if (path.find("/archive/") == path.npos) return;
    {
      const std::lock_guard lock(mutex);
      newest = std::max(newest, path);
      if (path == newest) return;
    }
    if (takes.exchange(true)) return;
    taken = std::async(std::launch::async,
                       [&] { return TakeChanges(store, &number_, &changes_); });
    taken.wait_for(std::chrono::seconds(1));  // it may wait for this
  });
  ASSERT_THAT(store->Checkpoint(dir_.File("checkpoint")), IsOk());
  ASSERT_TRUE(taken.valid());
  EXPECT_THAT(taken.get(), IsOk());
  EXPECT_EQ(changes_.size(), 3u);
}

// A reader has a write whose log is being synced.
TEST_F(Changes, GoOnFromTheNumberOfAReader) {
  CallingStore calling(kKeepsLog);
  Store* const store = calling.store.get();
  std::atomic<bool> synced = false;
  std::future<Status> taken;
  calling.files->On(FileCall::kSync, [&](const std::string& path) {
    if (!path.ends_with(".log") || synced.exchange(true)) return;
    const auto reader =
        OpenOrFail({.read_only = true}, calling.dir.File("db"), {});
    number_ = reader->LatestNumber();
    EXPECT_GT(number_, store->LatestNumber());
    taken = std::async(std::launch::async,
                       [&] { return TakeChanges(store, &number_, &changes_); });
    taken.wait_for(std::chrono::seconds(1));  // it waits for this write
  });
  ASSERT_THAT(store->Put("a", "c", "q", "v", {.durability = Durability::kSync}),
              IsOk());
  ASSERT_TRUE(taken.valid());
  EXPECT_THAT(taken.get(), IsOk());
  EXPECT_TRUE(changes_.empty());
  ASSERT_THAT(store->Put("b", "c", "q", "v"), IsOk());
  ASSERT_THAT(TakeChanges(store, &number_, &changes_), IsOk());
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_EQ(changes_[0].row, "b");
  EXPECT_TRUE(
      TakeChanges(store, &(number_ += 10), &changes_).IsInvalidArgument());
}

// A process was killed after it had flushed the records, and not yet a family
// with a later change.
TEST_F(Changes, OfAReaderHaveWhatOnlyAFamilyNeedsOfTheLog) {
  Open();
  ASSERT_NO_FATAL_FAILURE(Put("a"));
  store_.reset();
  {
    Database database;
    rocksdb::DBOptions options;
    options.avoid_flush_during_recovery = true;
    ASSERT_NO_FATAL_FAILURE(OpenRaw(path_, &database, options));
    const ColumnFamily records = database.Find("default");
    const ColumnFamily family = database.Find("latest");
    ASSERT_NE(family, nullptr);
    const std::unique_ptr<rocksdb::Iterator> cell(
        database->NewIterator({}, family.get()));
    cell->SeekToFirst();
    ASSERT_TRUE(cell->Valid());
    ASSERT_THAT(database->Delete({}, family.get(), cell->key()), IsOk());
    ASSERT_THAT(database->Flush({}, records.get()), IsOk());
  }
  const auto reader = OpenOrFail({.read_only = true}, path_, {});
  ASSERT_THAT(TakeChanges(reader.get(), &number_, &changes_), IsOk());
  std::vector<ChangeType> types;
  for (const StoreChange& change : changes_) {
    if (change.kind == Kind::kCell) types.push_back(change.type);
  }
  EXPECT_THAT(types, ElementsAre(kPut, kDelete));
}

// A load takes fewer numbers than files. The mark after it tells how many, so
// that those of writes without the log are not taken for the load's.
TEST_F(Changes, WithoutALogAreMissedAfterABulkLoad) {
  Open();
  const auto load = LoadInto(*store_, {.file_bytes = 1});
  for (int row = 0; row < 8; ++row) {
    ASSERT_THAT(load->Add("l" + std::to_string(row), "client", "q", "v", 5),
                IsOk());
  }
  ASSERT_THAT(load->Finish(), IsOk());
  ASSERT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
  ASSERT_EQ(changes_.back().kind, Kind::kBulkLoad);
  for (const uint64_t since : {number_, changes_.back().number}) {
    ASSERT_THAT(store_->Put("a", "latest", "q", "v",
                            {.durability = Durability::kSkipWal}),
                IsOk());
    ASSERT_NO_FATAL_FAILURE(Put("b"));
    number_ = since;
    EXPECT_THAT(TakeChanges(store_.get(), &number_, &changes_),
                StatusIs(Status::kNotFound, HasSubstr("kSkipWal")));
    EXPECT_TRUE(changes_.empty());
  }
}

TEST_F(Changes, HaveTheCellsOfTransactionsAndTheValuesOfIncrements) {
  StoreOptions options = kKeepsLog;
  options.transactions = true;
  Open(options);
  ASSERT_NO_FATAL_FAILURE(Put("before"));
  ASSERT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
  std::unique_ptr<Transaction> transaction;
  ASSERT_THAT(store_->Begin(&transaction), IsOk());
  transaction->Put("r", "latest", "q", "v");
  transaction->Increment("r", "latest", "count", 5);
  transaction->Delete("before", "latest", "q");
  ASSERT_THAT(transaction->Commit(), IsOk());
  ASSERT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
  std::vector<std::string> seen;
  for (const StoreChange& change : changes_) {
    seen.push_back(change.row + ":" + change.qualifier + "=" + change.value);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{
                      "r:q=v", "r:count=" + std::string(7, '\0') + '\5',
                      "before:q="}));
}

TEST_F(Changes, GiveNoCellOfADroppedFamilyToItsSuccessor) {
  Open();
  ASSERT_NO_FATAL_FAILURE(Put("old"));
  ASSERT_THAT(store_->DropFamily("latest"), IsOk());
  ASSERT_THAT(store_->CreateFamily("latest", {}), IsOk());
  ASSERT_NO_FATAL_FAILURE(Put("newer"));
  ASSERT_THAT(store_->TruncateFamily("latest"), IsOk());
  ASSERT_NO_FATAL_FAILURE(Put("new"));
  ASSERT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
  std::vector<std::pair<Kind, std::string>> seen;
  for (const StoreChange& change : changes_) {
    if (change.family == "latest") seen.emplace_back(change.kind, change.row);
  }
  EXPECT_EQ(seen, (std::vector<std::pair<Kind, std::string>>{
                      {Kind::kFamilyKept, ""},
                      {Kind::kFamilyDropped, ""},
                      {Kind::kFamilyKept, ""},
                      {Kind::kFamilyDropped, ""},
                      {Kind::kFamilyKept, ""},
                      {Kind::kCell, "new"}}));
}

// Returns a load of one cell, ready to be finished, of which the store has an
// older version.
std::unique_ptr<BulkLoad> LoadAfterAPut(Store* store) {
  EXPECT_THAT(store->Put("a", "f", "q", "before"), IsOk());
  auto load = LoadInto(*store);
  EXPECT_THAT(load->Add("a", "f", "q", "loaded"), IsOk());
  return load;
}

// A process that ends anywhere in a load leaves a log that goes on after it,
// also where the next opening writes more than that.
TEST_F(Changes, GoOnAfterALoadThatWasInterruptedAnywhere) {
  uint64_t call = 0;
  uint64_t loaded = 0;
  for (bool met = true; met;) {
    call += Stride(5);
    SCOPED_TRACE("call " + std::to_string(call) + " and all later ones fail");
    const std::string path = dir_.File("db" + std::to_string(call));
    FaultPlan plan;
    const auto env = NewFaultEnv(&plan);
    StoreOptions options = kKeepsLog;
    options.env = env.get();
    auto store = OpenOrFail(options, path, {{"f", {}}});
    auto load = LoadAfterAPut(store.get());
    plan.FailCall(call, /*for_good=*/true);
    const Status s = load->Finish();
    met = plan.faults() > 0;
    CopyOpenDatabase(path, path + "copy");
    load.reset();
    store.reset();
    plan.FailNoCall();
    const auto left =
        OpenOrFail(kKeepsLog, path + "copy", {{"f", {}}, {"new", {}}});
    ASSERT_THAT(left->Put("b", "f", "q", "after"), IsOk());
    std::optional<std::string> value;
    ASSERT_THAT(left->Get("a", "f", "q", &value), IsOk());
    number_ = 0;
    ASSERT_THAT(TakeChanges(left.get(), &number_, &changes_), IsOk());
    EXPECT_EQ(changes_.back().row, "b");
    if (value == "loaded") {
      ++loaded;
      EXPECT_EQ(
          std::ranges::count(changes_, Kind::kBulkLoad, &StoreChange::kind), 1);
    } else {
      EXPECT_FALSE(s.ok());
    }
  }
  EXPECT_GT(call, 10u);
  EXPECT_GT(loaded * Stride(5), 1u);
}

// After an error the store does not write the end of the load, which it may
// have once it is opened again.
TEST_F(Changes, GoOnAfterALoadInWhichACallFailed) {
  uint64_t call = 0;
  uint64_t loaded = 0;
  for (bool met = true; met;) {
    call += Stride(5);
    SCOPED_TRACE("call " + std::to_string(call) + " fails");
    const std::string path = dir_.File("db" + std::to_string(call));
    FaultPlan plan;
    const auto env = NewFaultEnv(&plan);
    StoreOptions options = kKeepsLog;
    options.env = env.get();
    auto store = OpenOrFail(options, path, {{"f", {}}});
    auto load = LoadAfterAPut(store.get());
    plan.FailCall(call, /*for_good=*/false);
    const Status s = load->Finish();
    met = plan.faults() > 0;
    plan.FailNoCall();
    load.reset();
    store.reset();
    store = OpenOrFail(options, path, {});
    ASSERT_THAT(store->Put("b", "f", "q", "after"), IsOk());
    number_ = 0;
    ASSERT_THAT(TakeChanges(store.get(), &number_, &changes_), IsOk());
    EXPECT_EQ(changes_.back().row, "b");
    std::optional<std::string> value;
    ASSERT_THAT(store->Get("a", "f", "q", &value), IsOk());
    if (!s.ok() && value == "loaded") ++loaded;
  }
  EXPECT_GT(call, 10u);
  EXPECT_TRUE(loaded > 0 || Stride(5) > 1);
}

// The puts after the load are not taken for its numbers.
TEST_F(Changes, AfterADamagedEndOfALoadAreMissed) {
  Open();
  const auto load = LoadInto(*store_, {.file_bytes = 1});
  for (char row = 'a'; row < 'k'; ++row) {
    ASSERT_THAT(load->Add({&row, 1}, "client", "q", "v", 5), IsOk());
  }
  ASSERT_THAT(load->Finish(), IsOk());
  for (int i = 0; i < 5; ++i) ASSERT_NO_FATAL_FAILURE(Put("row"));
  size_t damaged = 0;
  for (const auto& [name, bytes] : Contents(path_)) {
    const size_t at = bytes.find("loaded/");
    if (!name.ends_with(".log") || at == bytes.npos) continue;
    ++damaged;
    FlipBit(path_ + "/" + name, at);
  }
  ASSERT_EQ(damaged, 1u);
  EXPECT_THAT(TakeChanges(store_.get(), &number_, &changes_),
              StatusIs(Status::kNotFound, HasSubstr("not in the log")));
}

TEST_F(Changes, OfABatchThatCannotBeDecodedAreNotPassedOver) {
  Open();
  ASSERT_NO_FATAL_FAILURE(Put("a"));
  store_.reset();
  {
    Database database;
    rocksdb::DBOptions options;
    options.avoid_flush_during_recovery = true;
    options.WAL_ttl_seconds = kKeepsLog.kept_log_seconds;
    ASSERT_NO_FATAL_FAILURE(OpenRaw(path_, &database, options));
    const ColumnFamily family = database.Find("latest");
    ASSERT_NE(family, nullptr);
    const std::unique_ptr<rocksdb::Iterator> cell(
        database->NewIterator({}, family.get()));
    cell->SeekToFirst();
    ASSERT_TRUE(cell->Valid());
    std::string key = cell->key().ToString();
    rocksdb::WriteBatch batch;
    for (const char row : {'b', 'c', 'd'}) {
      key[0] = row;
      ASSERT_THAT(
          batch.Put(family.get(), key,
                    row == 'c' ? rocksdb::Slice("no cell") : cell->value()),
          IsOk());
    }
    ASSERT_THAT(database->Write({}, &batch), IsOk());
  }
  Open();
  ASSERT_NO_FATAL_FAILURE(Put("e"));
  std::vector<std::string> rows;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(TakeChanges(store_.get(), &number_, &changes_),
                StatusIs(Status::kCorruption, HasSubstr("row \"c\"")));
    for (const StoreChange& change : changes_) {
      if (change.kind == Kind::kCell) rows.push_back(change.row);
    }
  }
  EXPECT_THAT(rows, ElementsAre("a"));
}

TEST_F(Changes, InADamagedLogEndWithAnError) {
  Open();
  for (int i = 0; i < 100; ++i) {
    ASSERT_NO_FATAL_FAILURE(Put("row" + std::to_string(i)));
  }
  ASSERT_THAT(TakeChanges(store_.get(), &number_, &changes_), IsOk());
  const std::vector<StoreChange> sound = changes_;
  std::string log;
  for (const auto& [name, bytes] : Contents(path_)) {
    if (name.ends_with(".log") && bytes.size() > 1000) log = path_ + "/" + name;
  }
  ASSERT_FALSE(log.empty());
  FlipBit(log, std::filesystem::file_size(log) / 2);
  number_ = 0;
  const Status s = TakeChanges(store_.get(), &number_, &changes_);
  EXPECT_FALSE(s.ok());
  EXPECT_GT(changes_.size(), 10u);
  ASSERT_LT(changes_.size(), sound.size());
  EXPECT_TRUE(std::equal(changes_.begin(), changes_.end(), sound.begin()));
}

}  // namespace
}  // namespace rowbloom::test
