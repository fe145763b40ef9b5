// A creation that is cut short anywhere is completed by the next open, and a
// log that is cut short anywhere loses whole batches only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rowbloom/open_db.h"
#include "storage/store/found_store.h"
#include "storage/store/metadata.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/stride.h"

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::HasSubstr;

// Opens a store while the power goes after that many changes. Returns whether
// it went before the store was open and closed again.
bool PowerGoesDuringOpen(uint64_t calls_until_off, const std::string& path,
                         const std::vector<FamilyDescriptor>& families) {
  FaultPlan plan;
  plan.CutPowerAt(calls_until_off + 1);
  const auto env = NewFaultEnv(&plan);
  std::unique_ptr<Store> store;
  const Status s =
      OpenStore({.env = env.get()}, path, families, SystemWallClock, &store);
  const bool went = plan.faults() > 0;
  if (!went) {
    EXPECT_THAT(s, IsOk());
  }
  store.reset();
  return went;
}

std::unique_ptr<Store> OpenUsable(
    const std::string& path, const std::vector<FamilyDescriptor>& families) {
  auto store = OpenOrFail({}, path, families);
  for (const FamilyDescriptor& family : families) {
    EXPECT_EQ(store->Families().at(family.name), family.options);
    EXPECT_THAT(store->Put("new", family.name, "q", "v"), IsOk());
    EXPECT_TRUE(ValueOf(*store, "new", family.name, "q"));
  }
  EXPECT_FALSE(std::filesystem::exists(path + "/" + kCreationMark));
  return store;
}

// An error of the disk is not taken for a writer that has the lock.
TEST(FailedOpening, IsNotCalledBusyWhicheverCallFails) {
  const TempDir dir;
  OpenOrFail({}, dir.File("first"), {{"a", {}}});
  uint64_t call = 0;
  bool met = true;
  while (met) {
    const std::string path = dir.File("db" + std::to_string(call));
    std::filesystem::copy(dir.File("first"), path);
    FaultPlan plan;
    call += Stride(5);
    plan.FailCall(call, /*for_good=*/false);
    const auto env = NewFaultEnv(&plan);
    std::unique_ptr<Store> store;
    const Status s =
        OpenStore({.env = env.get()}, path, {}, SystemWallClock, &store);
    EXPECT_FALSE(s.IsBusy()) << "call " << call << ": " << s.ToString();
    store.reset();
    met = plan.faults() > 0;
  }
  EXPECT_GT(call, 20u);
}

TEST(InterruptedCreation, OfAStoreIsCompletedByTheNextOpen) {
  const std::vector<FamilyDescriptor> families = {{"a", {}}, {"b", {}}};
  uint64_t calls = 0;
  for (bool went = true; went; calls += Stride(5)) {
    SCOPED_TRACE("power off after " + std::to_string(calls) + " changes");
    const TempDir dir;
    const std::string path = dir.File("db");
    went = PowerGoesDuringOpen(calls, path, families);
    OpenUsable(path, families);
  }
  EXPECT_GT(calls, 20u);  // the steps of the creation were cut short
}

TEST(InterruptedCreation, OfAStoreMayBeCompletedWithOtherOptions) {
  uint64_t calls = 0;
  for (bool went = true; went; calls += Stride(5)) {
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
    OpenUsable(path, {{"a", {.bloom_type = BloomType::kRow}}});
  }
  EXPECT_GT(calls, 20u);
}

TEST(InterruptedCreation, OfAFamilyIsCompletedByTheNextOpen) {
  const TempDir dir;
  const std::string original = dir.File("original");
  ASSERT_THAT(
      OpenOrFail({}, original, {{"a", {}}})->Put("old", "a", "q", "kept"),
      IsOk());
  uint64_t calls = 0;
  for (bool went = true; went; calls += Stride(5)) {
    SCOPED_TRACE("power off after " + std::to_string(calls) + " changes");
    const std::string path = dir.File(std::to_string(calls));
    std::filesystem::copy(original, path);
    went = PowerGoesDuringOpen(calls, path, {{"b", {}}});
    // Every other time the first opening does not name the family.
    if (calls % 2 == 0) OpenUsable(path, {});
    EXPECT_EQ(ValueOf(*OpenUsable(path, {{"b", {}}}), "old", "a", "q"), "kept");
  }
  EXPECT_GT(calls, 20u);
}

TEST(InterruptedCreation, FamilyRecordWithoutColumnFamilyIsAnEmptyFamily) {
  const TempDir dir;
  const std::string path = dir.File("db");
  OpenOrFail({}, path, {{"a", {}}});
  {
    Database database;
    ASSERT_NO_FATAL_FAILURE(OpenRaw(path, &database));
    ASSERT_THAT(database.DropColumnFamily("a"), IsOk());
  }
  // A reader cannot complete it; its writer may be about to.
  const auto is_refused = StatusIs(
      Status::kTryAgain, HasSubstr("family \"a\" of the store at " + path +
                                   " has a record and no column family"));
  {
    const auto reader = OpenOrFail({.read_only = true}, path, {});
    EXPECT_TRUE(reader->Families().empty());
    EXPECT_TRUE(GetRowOf(*reader, "r").empty());
    std::optional<std::string> value;
    EXPECT_THAT(reader->Get("r", "a", "q", &value), is_refused);
    CopyReport report;
    EXPECT_THAT(reader->CopyTo(dir.File("copy"), {}, &report), is_refused);
    EXPECT_FALSE(std::filesystem::exists(dir.File("copy")));
  }
  std::unique_ptr<Store> reader;
  EXPECT_THAT(Store::Open({.read_only = true}, path, {{"a", {}}}, &reader),
              is_refused);
  OpenUsable(path, {{"a", {.compression = Compression::kNone}}});
}

TEST(InterruptedCreation, MarkedDatabaseWithoutRecordsIsNoForeignOne) {
  const TempDir dir;
  const std::string path = dir.File("db");
  rocksdb::Options options;
  options.create_if_missing = true;
  std::unique_ptr<rocksdb::DB> db;
  ASSERT_THAT(rocksdb::DB::Open(options, path, Into(&db)), IsOk());
  db.reset();
  std::ofstream(path + "/" + kCreationMark).flush();
  std::unique_ptr<Store> store;
  EXPECT_THAT(
      Store::Open({.read_only = true}, path, {}, &store),
      StatusIs(Status::kNotFound, HasSubstr("its creation was interrupted")));
  EXPECT_THAT(
      Store::Open({.create_if_missing = false}, path, {}, &store),
      StatusIs(Status::kNotFound, HasSubstr("its creation was interrupted")));
  OpenUsable(path, {{"a", {}}});
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
  OpenOrFail({}, path, {{"a", {}}, {"b", {}}});
  uint64_t now = SystemWallClock();
  const WallClock wall_clock = [&now] { return now; };
  const auto store = OpenOrFail({}, path, {}, wall_clock);
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
    CopyOpenDatabase(path, copy);
    std::filesystem::resize_file(LogFile(copy), cut);
    const auto torn = OpenOrFail({}, copy, {}, wall_clock);
    uint64_t last_timestamp_ms = 0;
    int batches = 0;
    for (int i = 0; i < kBatches; ++i) {
      const std::vector<Cell> cells = GetRowOf(*torn, std::to_string(i));
      ASSERT_TRUE(cells.empty() || cells.size() == 2) << cells.size();
      if (cells.empty()) continue;
      ASSERT_EQ(batches, i) << "a batch is missing before this one";
      ++batches;
      last_timestamp_ms = cells.back().timestamp_ms;
    }
    most_batches = std::max(most_batches, batches);
    ASSERT_THAT(torn->Put("new", "a", "q", "v"), IsOk());
    PinnableCell cell;
    ASSERT_THAT(torn->Get("new", "a", "q", &cell), IsOk());
    ASSERT_TRUE(cell);
    EXPECT_GE(cell.timestamp_ms(), last_timestamp_ms);
  }
  EXPECT_GE(most_batches, kBatches - 1);
}

// An opening begins a new log, with an empty batch after one that is torn. If
// it is cut short before there is a new MANIFEST, the next one finds both.
TEST(TornLog, LosesNothingMoreByOpeningsThatAreCutShort) {
  constexpr uint64_t kRows = 12;
  const TempDir dir;
  const std::string path = dir.File("db");
  OpenOrFail({}, path, {{"f", {}}});
  const auto store = OpenOrFail({}, path, {});
  for (uint64_t row = 0; row <= kRows; ++row) {
    ASSERT_THAT(store->Put(std::to_string(row), "f", "q", "v"), IsOk());
  }
  const std::string torn = dir.File("torn");
  CopyOpenDatabase(path, torn);
  const std::string log = LogFile(torn);
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 5);

  int with_two_logs = 0;
  bool went = true;
  for (uint64_t calls = 0; went; calls += Stride(5)) {
    SCOPED_TRACE("openings are cut short after " + std::to_string(calls));
    const TempDir trial;
    const std::string copy = trial.File("db");
    CopyOpenDatabase(torn, copy);
    went = PowerGoesDuringOpen(calls, copy, {});
    const auto logs = std::ranges::count_if(
        std::filesystem::directory_iterator(copy), [](const auto& entry) {
          return entry.path().extension() == ".log" && entry.file_size() > 0;
        });
    with_two_logs += logs > 1 ? 1 : 0;
    PowerGoesDuringOpen(calls, copy, {});
    for (const bool read_only : {true, false}) {
      const auto opened = OpenOrFail({.read_only = read_only}, copy, {});
      ASSERT_EQ(CountsOf(*opened).rows, kRows);
    }
  }
  EXPECT_TRUE(with_two_logs > 0 || Stride(5) > 1);
}

// The first opening of a copy, which has no log, creates one before its own
// MANIFEST.
TEST(InterruptedOpening, OfACopyIsRepeated) {
  const TempDir dir;
  const std::string original = dir.File("original");
  {
    const auto store = OpenOrFail({}, dir.File("db"), {{"a", {}}});
    ASSERT_THAT(store->Put("old", "a", "q", "kept"), IsOk());
    ASSERT_THAT(store->Checkpoint(original), IsOk());
  }
  uint64_t calls = 0;
  for (bool went = true; went; calls += Stride(5)) {
    SCOPED_TRACE("power off after " + std::to_string(calls) + " changes");
    const std::string path = dir.File(std::to_string(calls));
    std::filesystem::copy(original, path);
    went = PowerGoesDuringOpen(calls, path, {});
    PowerGoesDuringOpen(calls, path, {});
    for (const bool read_only : {true, false}) {
      const auto opened = OpenOrFail({.read_only = read_only}, path, {});
      ASSERT_EQ(ValueOf(*opened, "old", "a", "q"), "kept");
    }
  }
  EXPECT_GT(calls, 10u);
}

// RocksDB leaves one if the disk is full, and never deletes it.
TEST(UnfinishedOptions, AreRemovedByTheNextOpening) {
  const TempDir dir;
  const std::string path = dir.File("db");
  OpenOrFail({}, path, {{"a", {}}});
  const std::string left = path + "/OPTIONS-000099.dbtmp";
  WriteFile(left, "half");
  OpenOrFail({.read_only = true}, path, {});
  EXPECT_TRUE(std::filesystem::exists(left));
  OpenOrFail({}, path, {});
  EXPECT_FALSE(std::filesystem::exists(left));
}

// RocksDB cannot flush a memtable with a range tombstone again after the log
// for the next one could not be created.
TEST(FailedFlush, IsRefusedTheNextTimeUntilTheStoreIsOpenedAgain) {
  uint64_t call = 0;
  uint64_t refused = 0;
  for (bool met = true; met;) {
    const TempDir dir;
    FaultPlan plan;
    const auto env = NewFaultEnv(&plan);
    auto store = OpenOrFail({.env = env.get()}, dir.File("db"), {{"a", {}}});
    ASSERT_THAT(store->Put("gone", "a", "q", "v"), IsOk());
    ASSERT_THAT(store->DeleteRow("gone"), IsOk());
    ASSERT_THAT(store->Put("kept", "a", "q", "v"), IsOk());
    call += Stride(5);
    plan.FailCall(call, /*for_good=*/true);
    const Status first = store->Flush();
    met = plan.faults() > 0;
    if (!first.ok()) {
      EXPECT_TRUE(store->Flush().IsIOError());
      EXPECT_TRUE(store->Checkpoint(dir.File("copy")).IsIOError());
      ++refused;
    }
    store.reset();
    plan.FailNoCall();
    store = OpenOrFail({.env = env.get()}, dir.File("db"), {});
    EXPECT_EQ(ValueOf(*store, "kept", "a", "q"), "v");
    EXPECT_EQ(ValueOf(*store, "gone", "a", "q"), std::nullopt);
  }
  EXPECT_GT(refused * Stride(5), 5u);
}

}  // namespace
}  // namespace rowbloom::test
