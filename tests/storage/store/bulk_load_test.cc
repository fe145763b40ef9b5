// Bulk loads: what is there after one, and what is not before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "storage/cells/cell_versions.h"
#include "storage/store/found_store.h"
#include "tests/storage/store/calling_store.h"
#include "tests/storage/store/store_model.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/calling_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/random.h"
#include "tests/support/stride.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<FamilyDescriptor> kFamilies = {
    {"c", {.timestamps = Timestamps::kClient, .max_versions = 2}},
    {"latest", {}},
    {"store", {.max_versions = 2}},
};

class Load : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    store_.reset();
    store_ = OpenOrFail({.auto_compaction = false}, path_, kFamilies);
  }
  std::unique_ptr<BulkLoad> Begin(const BulkLoadOptions& options = {}) {
    return LoadInto(*store_, options);
  }
  std::vector<Cell> Versions(const std::string& row, const std::string& family,
                             const std::string& qualifier) {
    return GetVersionsOf(*store_, row, family, qualifier, {.max_versions = 9});
  }
  size_t LoadDirectories() {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      if (entry.path().filename().string().starts_with(kLoadDirectoryPrefix)) {
        ++count;
      }
    }
    return count;
  }

  TempDir dir_;
  std::string path_ = dir_.File("db");
  std::unique_ptr<Store> store_;
};

TEST_F(Load, IsThereWholeWhenItIsFinished) {
  constexpr uint64_t kRows = 3000;
  std::vector<std::string> rows;
  for (uint64_t i = 0; i < kRows; ++i) rows.push_back(DistinctKey(i));
  std::sort(rows.begin(), rows.end());
  ASSERT_THAT(store_->Put(rows[0], "latest", "", "old"), IsOk());
  auto load = Begin({.file_bytes = 20'000});
  Random random(1);
  for (const std::string& row : rows) {
    ASSERT_THAT(load->Add(row, "latest", "", row), IsOk());
    ASSERT_THAT(load->Add(row, "c", "q", random.Bytes(50), 7), IsOk());
    ASSERT_THAT(load->Add(row, "latest", "x", "v"), IsOk());
  }
  EXPECT_EQ(Versions(rows[1], "latest", "").size(), 0u);
  EXPECT_EQ(Versions(rows[0], "latest", "")[0].value, "old");
  ASSERT_THAT(load->Finish(), IsOk());
  EXPECT_THAT(load->Finish(),
              StatusIs(Status::kInvalidArgument, HasSubstr("is finished")));
  EXPECT_THAT(load->Add("z", "latest", "", ""),
              StatusIs(Status::kInvalidArgument, HasSubstr("is finished")));
  load.reset();
  EXPECT_EQ(LoadDirectories(), 0u);
  for (int round = 0; round < 2; ++round) {
    size_t found = 0;
    for (const Row& row : RowsOf(*store_)) {
      ASSERT_EQ(row.row, rows[found++]);
      ASSERT_EQ(row.cells.size(), 3u);
      EXPECT_EQ(row.cells[1].value, row.row);
    }
    EXPECT_EQ(found, kRows);
    Open();
  }
  // Its files have filters like others.
  StoreStats stats = ArmedStats(store_.get());
  EXPECT_GT(stats.families["c"].files, 2u);
  EXPECT_GT(stats.families["c"].filter_bytes, kRows);
  for (uint64_t i = 0; i < 500; ++i) {
    ASSERT_FALSE(ValueOf(*store_, DistinctKey(kRows + i), "c", "q"));
  }
  ASSERT_THAT(store_->Stats(&stats), IsOk());
  EXPECT_GT(stats.front_filter->answered, 400u);
}

// RocksDB holds the data that it trains a dictionary with, and a file has no
// size until then.
TEST_F(Load, AFileWithADictionaryEndsAtItsSize) {
  ASSERT_THAT(store_->CreateFamily("d", {.compression = Compression::kZstd,
                                         .dictionary_bytes = 256}),
              IsOk());
  const auto load = Begin({.file_bytes = 50'000});
  Random random(1);
  for (int i = 100; i < 150; ++i) {
    ASSERT_THAT(load->Add(std::to_string(i), "d", "q", random.Bytes(10'000)),
                IsOk());
  }
  ASSERT_THAT(load->Finish(), IsOk());
  StoreStats stats = StoreStatsOf(*store_);
  EXPECT_GE(stats.families["d"].files, 7u);
}

TEST_F(Load, FamiliesMayHaveNamesThatNoFileHas) {
  for (const std::string& name :
       {std::string("a/b"), std::string("x/../../up"), std::string(255, 'n')}) {
    ASSERT_THAT(store_->CreateFamily(name, {}), IsOk());
    const auto load = Begin();
    ASSERT_THAT(load->Add("r", name, "q", "v"), IsOk());
    ASSERT_THAT(load->Finish(), IsOk());
    EXPECT_EQ(Versions("r", name, "q").size(), 1u);
  }
}

TEST_F(Load, HasTheFamiliesOfItsBeginning) {
  const auto load = Begin();
  ASSERT_THAT(store_->CreateFamily("later", {}), IsOk());
  EXPECT_THAT(load->Add("r", "later", "q", "v"),
              StatusIs(Status::kInvalidArgument,
                       HasSubstr("\"later\" was created after the load")));
  EXPECT_THAT(load->Add("r", "none", "q", "v"),
              StatusIs(Status::kInvalidArgument, HasSubstr("is not in the")));
}

// Rows whose puts follow their deletes within a millisecond are ahead of the
// clock.
TEST_F(Load, IsLaterThanAllThatWasWrittenBefore) {
  path_ = dir_.File("frozen");
  store_ = OpenOrFail({}, path_, {{"versions", {.max_versions = 2}}},
                      [] { return 1'700'000'000'000; });
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(store_->Put("r", "versions", "kept", "old"), IsOk());
    ASSERT_THAT(store_->DeleteRow("r"), IsOk());
  }
  ASSERT_THAT(store_->Put("r", "versions", "kept", "old"), IsOk());
  auto load = Begin();
  ASSERT_THAT(load->Add("r", "versions", "deleted", "loaded"), IsOk());
  ASSERT_THAT(load->Add("r", "versions", "kept", "loaded"), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  for (const char* qualifier : {"deleted", "kept"}) {
    EXPECT_EQ(ValueOf(*store_, "r", "versions", qualifier), "loaded");
  }
  // A later put is newer than the loaded cell.
  ASSERT_THAT(store_->Put("r", "versions", "kept", "new"), IsOk());
  EXPECT_EQ(Versions("r", "versions", "kept")[0].value, "new");
}

TEST_F(Load, VersionsJoinThoseOfTheStore) {
  for (const uint64_t timestamp_ms : {10, 30}) {
    ASSERT_THAT(
        store_->Put("r", "c", "q", "put", {.timestamp_ms = timestamp_ms}),
        IsOk());
  }
  ASSERT_THAT(store_->DeleteVersion("r", "c", "q", {.timestamp_ms = 40}),
              IsOk());
  const auto load = Begin();
  ASSERT_THAT(load->Add("r", "c", "", "empty"), IsOk());
  for (const uint64_t timestamp_ms : {40, 20, 5}) {
    ASSERT_THAT(load->Add("r", "c", "q", "load", timestamp_ms), IsOk());
  }
  ASSERT_THAT(load->Finish(), IsOk());
  EXPECT_THAT(Versions("r", "c", "q"), ElementsAre(Cell{"c", "q", 30, "put"},
                                                   Cell{"c", "q", 20, "load"}));
  ASSERT_THAT(store_->Compact(), IsOk());
  EXPECT_THAT(Versions("r", "c", "q"), ElementsAre(Cell{"c", "q", 30, "put"},
                                                   Cell{"c", "q", 20, "load"}));
  EXPECT_EQ(Versions("r", "c", "").size(), 1u);
  // Later deletes and puts count after it.
  ASSERT_THAT(store_->DeleteRow("r"), IsOk());
  EXPECT_EQ(Versions("r", "c", "").size(), 0u);
}

TEST_F(Load, CellsOutOfOrderAreRefusedByName) {
  const auto load = Begin();
  ASSERT_THAT(load->Add("r", "c", "q", "v", 20), IsOk());
  ASSERT_THAT(load->Add("r", "latest", "q", "v"), IsOk());
  const auto is_refused = [](const std::string& cell, const std::string& at) {
    return StatusIs(
        Status::kInvalidArgument,
        AllOf(HasSubstr(cell + ": expected cells of a family by row"),
              HasSubstr("found one " + at)));
  };
  EXPECT_THAT(load->Add("q", "c", "q", "v", 1),
              is_refused("row \"q\", cell c:q", "at 1"));
  EXPECT_THAT(load->Add("r", "c", "a", "v", 1),
              is_refused("row \"r\", cell c:a", "at 1"));
  EXPECT_THAT(load->Add("r", "c", "q", "v", 20),
              is_refused("row \"r\", cell c:q", "at 20"));
  EXPECT_THAT(load->Add("r", "latest", "q", "v"),
              StatusIs(Status::kInvalidArgument, HasSubstr("cell latest:q")));
  EXPECT_THAT(load->Add("r", "nope", "r", "v"),
              StatusIs(Status::kInvalidArgument, HasSubstr("\"nope\"")));
  // The load goes on without them.
  ASSERT_THAT(load->Add("r", "c", "q", "v", 19), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  EXPECT_EQ(Versions("r", "c", "q").size(), 2u);
  EXPECT_EQ(Versions("r", "latest", "q").size(), 1u);
}

// A cell that is left out, as a delete of its row's version takes it.
TEST_F(Load, ADeletedCellHasItsPlaceInTheOrder) {
  const auto delete_at = [&](const char* row, uint64_t timestamp_ms) {
    return store_->Write(Change{.type = ChangeType::kDeleteFamilyVersion,
                                .row = row,
                                .family = "c",
                                .timestamp_ms = timestamp_ms});
  };
  ASSERT_THAT(delete_at("a", 6), IsOk());
  ASSERT_THAT(delete_at("b", 5), IsOk());
  const auto load = Begin();
  ASSERT_THAT(load->Add("a", "c", "p", "v", 6), IsOk());
  ASSERT_THAT(load->Add("a", "c", "p", "v", 5), IsOk());
  ASSERT_THAT(load->Add("b", "c", "q", "deleted", 5), IsOk());
  // Neither a cell before it may follow, nor the same one.
  for (const char* const row : {"a", "b"}) {
    EXPECT_THAT(load->Add(row, "c", "q", "v", 6 - (row[0] - 'a')),
                StatusIs(Status::kInvalidArgument, HasSubstr("by row")));
  }
  ASSERT_THAT(load->Add("b", "c", "q", "v", 4), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  EXPECT_THAT(Versions("a", "c", "p"), ElementsAre(Cell{"c", "p", 5, "v"}));
  EXPECT_THAT(Versions("a", "c", "q"), ElementsAre());
  EXPECT_THAT(Versions("b", "c", "q"), ElementsAre(Cell{"c", "q", 4, "v"}));
}

TEST_F(Load, DeletesTakeWhatIsThereAndWhatComes) {
  const auto put = [this](const char* qualifier, uint64_t timestamp_ms) {
    return store_->Put("r", "c", qualifier, "put",
                       {.timestamp_ms = timestamp_ms});
  };
  for (const char* qualifier : {"", "all", "one"}) {
    for (const uint64_t timestamp_ms : {10, 20}) {
      ASSERT_THAT(put(qualifier, timestamp_ms), IsOk());
    }
  }
  const auto load = Begin();
  using enum ChangeType;
  ASSERT_THAT(load->Add({kDeleteFamily, "r", "c", "", {}, 10}), IsOk());
  ASSERT_THAT(load->Add({kDelete, "r", "c", "all", {}, 30}), IsOk());
  ASSERT_THAT(load->Add("r", "c", "one", "load", 40), IsOk());
  ASSERT_THAT(load->Add({kDeleteVersion, "r", "c", "one", {}, 20}), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(Versions("r", "c", ""), ElementsAre(Cell{"c", "", 20, "put"}));
    EXPECT_THAT(Versions("r", "c", "all"), ElementsAre());
    EXPECT_THAT(Versions("r", "c", "one"),
                ElementsAre(Cell{"c", "one", 40, "load"}));
    // Late, and deleted all the same.
    ASSERT_THAT(put("all", 30), IsOk());
    ASSERT_THAT(put("one", 20), IsOk());
    ASSERT_THAT(put("other", 10), IsOk());
    ASSERT_THAT(store_->Compact(), IsOk());
  }
  EXPECT_THAT(Versions("r", "c", "other"), ElementsAre());
}

TEST_F(Load, DeletesOfAVersionOfTheRowTakeItInAllColumns) {
  const auto put = [this](const char* qualifier, uint64_t timestamp_ms) {
    return store_->Put("r", "c", qualifier, "put",
                       {.timestamp_ms = timestamp_ms});
  };
  for (const char* qualifier : {"", "a"}) {
    for (const uint64_t timestamp_ms : {10, 20}) {
      ASSERT_THAT(put(qualifier, timestamp_ms), IsOk());
    }
  }
  auto load = Begin();
  using enum ChangeType;
  ASSERT_THAT(load->Add({kDeleteFamilyVersion, "r", "c", "", {}, 20}), IsOk());
  EXPECT_THAT(
      load->Add({kDeleteFamilyVersion, "r", "c", "q", {}, 10}),
      StatusIs(Status::kInvalidArgument, HasSubstr("the qualifier \"q\"")));
  // Three are loaded; the deleted one takes no version's place.
  for (const uint64_t timestamp_ms : {30, 20, 5}) {
    ASSERT_THAT(load->Add("r", "c", "b", "load", timestamp_ms), IsOk());
  }
  ASSERT_THAT(load->Finish(), IsOk());
  load = Begin();
  // A put that the store has deleted takes no place either.
  for (const uint64_t timestamp_ms : {30, 20, 5}) {
    ASSERT_THAT(load->Add("r", "c", "d", "load", timestamp_ms), IsOk());
  }
  ASSERT_THAT(load->Finish(), IsOk());
  ASSERT_THAT(put("e", 20), IsOk());
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(Versions("r", "c", ""), ElementsAre(Cell{"c", "", 10, "put"}));
    EXPECT_THAT(Versions("r", "c", "a"),
                ElementsAre(Cell{"c", "a", 10, "put"}));
    EXPECT_THAT(
        Versions("r", "c", "b"),
        ElementsAre(Cell{"c", "b", 30, "load"}, Cell{"c", "b", 5, "load"}));
    EXPECT_THAT(
        Versions("r", "c", "d"),
        ElementsAre(Cell{"c", "d", 30, "load"}, Cell{"c", "d", 5, "load"}));
    EXPECT_THAT(Versions("r", "c", "e"), ElementsAre());
    ASSERT_THAT(store_->Compact(), IsOk());
  }
}

TEST_F(Load, DeletedVersionsTakeNoPlace) {
  path_ = dir_.File("places");
  store_ = OpenOrFail(
      {}, path_,
      {{"one", {.timestamps = Timestamps::kClient}},
       {"two", {.timestamps = Timestamps::kClient, .max_versions = 2}}});
  using enum ChangeType;
  // A delete of the cell's version, with that version, over an older one.
  ASSERT_THAT(store_->Put("r", "one", "b", "old", {.timestamp_ms = 3}), IsOk());
  auto load = Begin();
  for (const char* qualifier : {"a", "b"}) {
    ASSERT_THAT(load->Add({kDeleteVersion, "r", "one", qualifier, {}, 5}),
                IsOk());
    ASSERT_THAT(load->Add("r", "one", qualifier, "deleted", 5), IsOk());
  }
  ASSERT_THAT(load->Finish(), IsOk());
  EXPECT_THAT(Versions("r", "one", "b"),
              ElementsAre(Cell{"one", "b", 3, "old"}));
  load = Begin();
  ASSERT_THAT(load->Add({kDeleteVersion, "r", "one", "c", {}, 5}), IsOk());
  ASSERT_THAT(load->Add("r", "one", "c", "deleted", 5), IsOk());
  ASSERT_THAT(load->Add("r", "one", "c", "load", 3), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  EXPECT_THAT(Versions("r", "one", "c"),
              ElementsAre(Cell{"one", "c", 3, "load"}));
  // A delete of the store's version, with an older one.
  ASSERT_THAT(store_->Put("r", "one", "d", "old", {.timestamp_ms = 5}), IsOk());
  load = Begin();
  ASSERT_THAT(load->Add({kDeleteVersion, "r", "one", "d", {}, 5}), IsOk());
  ASSERT_THAT(load->Add("r", "one", "d", "load", 3), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(Versions("r", "one", "d"),
                ElementsAre(Cell{"one", "d", 3, "load"}));
    ASSERT_THAT(store_->Compact(), IsOk());
  }
  // A delete of the row's version, over one that the store has, with an older
  // one or before it.
  for (const char* row : {"r", "s"}) {
    for (const uint64_t timestamp_ms : {4, 5}) {
      ASSERT_THAT(
          store_->Put(row, "two", "q", "put", {.timestamp_ms = timestamp_ms}),
          IsOk());
    }
  }
  load = Begin();
  ASSERT_THAT(load->Add({kDeleteFamilyVersion, "r", "two", "", {}, 5}), IsOk());
  ASSERT_THAT(load->Add("r", "two", "q", "late", 3), IsOk());
  ASSERT_THAT(load->Add({kDeleteFamilyVersion, "s", "two", "", {}, 5}), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  ASSERT_THAT(store_->Put("s", "two", "q", "late", {.timestamp_ms = 3}),
              IsOk());
  for (int round = 0; round < 2; ++round) {
    for (const char* row : {"r", "s"}) {
      EXPECT_THAT(
          Versions(row, "two", "q"),
          ElementsAre(Cell{"two", "q", 4, "put"}, Cell{"two", "q", 3, "late"}));
    }
    ASSERT_THAT(store_->Compact(), IsOk());
  }
}

// Deletes of a load come before its puts.
TEST_F(Load, AnswersAsAModel) {
  Random random(SeedFromEnv());
  StoreModel model({{"c", kFamilies[0].options}});
  using enum ChangeType;
  constexpr ChangeType kDeletes[] = {kDelete, kDeleteVersion, kDeleteFamily,
                                     kDeleteFamilyVersion};
  const auto random_change = [&](uint64_t now_ms) {
    const ChangeType type = random.OneIn(3) ? kDeletes[random.Below(4)] : kPut;
    const char* const qualifiers[] = {"", "p", "q"};
    return Change{
        .type = type,
        .row = random.OneIn(2) ? "a" : "b",
        .family = "c",
        .qualifier = IsDeleteOfRow(type) ? "" : qualifiers[random.Below(3)],
        .value = type == kPut ? "v" : "",
        .timestamp_ms = now_ms + random.Below(16)};
  };
  const auto make_in_model = [&model](const Change& change) {
    const std::string row(change.row);
    const std::string qualifier(change.qualifier);
    const uint64_t ms = *change.timestamp_ms;
    switch (change.type) {
      case kDelete:
        return model.Delete(row, "c", qualifier, ms);
      case kDeleteVersion:
        return model.DeleteVersion(row, "c", qualifier, ms);
      case kDeleteFamily:
        return model.DeleteFamily(row, "c", ms);
      case kDeleteFamilyVersion:
        return model.DeleteFamilyVersion(row, "c", ms);
      default:
        return model.Put(row, "c", qualifier, ms, "v");
    }
  };
  const auto order = [](const Change& change) {
    return std::tuple(change.row, change.qualifier,
                      std::numeric_limits<int>::max() -
                          static_cast<int>(*change.timestamp_ms),
                      -static_cast<int>(change.type));
  };
  for (uint64_t step = 0; step < Scaled(400); ++step) {
    std::vector<Change> changes;
    for (uint64_t count = 1 + random.Below(6); count > 0; --count) {
      changes.push_back(random_change(/*now_ms=*/step));
    }
    if (random.OneIn(2)) {
      for (const Change& change : changes) {
        ASSERT_THAT(store_->Write(change), IsOk());
        make_in_model(change);
      }
    } else {
      std::ranges::sort(changes, {}, order);
      const auto is_same = [&order](const Change& a, const Change& b) {
        return order(a) == order(b);
      };
      changes.erase(std::unique(changes.begin(), changes.end(), is_same),
                    changes.end());
      const auto load = Begin({.file_bytes = 1});
      for (const Change& change : changes) {
        ASSERT_THAT(load->Add(change), IsOk());
      }
      ASSERT_THAT(load->Finish(), IsOk());
      for (const bool puts : {false, true}) {
        for (const Change& change : changes) {
          if (puts == (change.type == kPut)) make_in_model(change);
        }
      }
    }
    if (random.OneIn(8)) {
      ASSERT_THAT(store_->Compact(), IsOk());
    }
    if (random.OneIn(32)) Open();
    for (const char* row : {"a", "b"}) {
      const RowOptions all = {.max_versions = 9};
      ASSERT_EQ(GetRowOf(*store_, row, all),
                model.GetRow(row, all, /*now_ms=*/0))
          << step;
    }
  }
}

// Earlier versions applied a load's delete of a version to the columns of its
// row after the load, and kept a record until they had.
TEST_F(Load, OfAnEarlierVersionIsCompletedByAnOpening) {
  WriteBatch announced;
  announced.DeleteFamilyVersion("other", "c", 5);
  ASSERT_THAT(store_->Write(announced), IsOk());
  const auto put = [this](const char* row, uint64_t timestamp_ms) {
    ASSERT_THAT(store_->Put(row, "c", "q", "v", {.timestamp_ms = timestamp_ms}),
                IsOk());
  };
  for (const char* row : {"loaded", "not loaded"}) {
    for (const uint64_t timestamp_ms : {4, 5}) put(row, timestamp_ms);
  }
  store_.reset();
  ASSERT_NO_FATAL_FAILURE(
      PutRaw(path_, "c", std::string("loaded\0\1", 8),
             EncodeEntries({{ChangeType::kDeleteFamilyVersion, 5}})));
  const char* const records[] = {"pending/c:5:loaded", "pending/c:5:not loaded",
                                 "pending/dropped:5:loaded"};
  for (const char* record : records) {
    ASSERT_NO_FATAL_FAILURE(PutRaw(path_, "default", record, ""));
  }
  Open();
  put("loaded", 3);
  EXPECT_THAT(Versions("loaded", "c", "q"),
              ElementsAre(Cell{"c", "q", 4, "v"}, Cell{"c", "q", 3, "v"}));
  EXPECT_THAT(Versions("not loaded", "c", "q"),
              ElementsAre(Cell{"c", "q", 5, "v"}, Cell{"c", "q", 4, "v"}));
  store_.reset();
  Database database;
  ASSERT_NO_FATAL_FAILURE(OpenRaw(path_, &database));
  std::string value;
  for (const char* record : records) {
    EXPECT_TRUE(
        database->Get(rocksdb::ReadOptions(), record, &value).IsNotFound())
        << record;
  }
}

// A version that is deleted while it is loaded would push out a visible one.
TEST_F(Load, ADeleteOfAVersionOfTheRowEndsTheLoadsOfItsFamily) {
  path_ = dir_.File("one");
  store_ = OpenOrFail({}, path_, {{"c", {.timestamps = Timestamps::kClient}}});
  ASSERT_THAT(store_->Put("r", "c", "q", "visible", {.timestamp_ms = 10}),
              IsOk());
  const auto begin = [this](uint64_t timestamp_ms) {
    auto load = Begin();
    EXPECT_THAT(load->Add("r", "c", "q", "load", timestamp_ms), IsOk());
    return load;
  };
  const auto is_aborted =
      StatusIs(Status::kAborted, HasSubstr("written to family \"c\""));
  WriteBatch deletes;
  deletes.DeleteFamilyVersion("r", "c", 20);
  auto load = begin(20);
  ASSERT_THAT(store_->Write(deletes), IsOk());
  EXPECT_THAT(load->Finish(), is_aborted);
  // The delete may come by another load, too.
  load = begin(30);
  auto other = Begin();
  using enum ChangeType;
  ASSERT_THAT(other->Add({kDeleteFamilyVersion, "r", "c", "", {}, 30}), IsOk());
  ASSERT_THAT(other->Finish(), IsOk());
  EXPECT_THAT(load->Finish(), is_aborted);
  ASSERT_THAT(begin(20)->Finish(), IsOk());
  ASSERT_THAT(begin(30)->Finish(), IsOk());
  EXPECT_THAT(Versions("r", "c", "q"),
              ElementsAre(Cell{"c", "q", 10, "visible"}));
}

// A version that was left out of a load, as it was deleted, would be missing.
TEST_F(Load, ARemovedDeleteOfAVersionEndsTheLoadsOfItsFamily) {
  constexpr uint64_t kNow = 1'700'000'000'000;
  constexpr uint64_t kLate = kNow + 5000;
  path_ = dir_.File("one");
  store_ = OpenOrFail({}, path_, {{"c", {.timestamps = Timestamps::kClient}}},
                      [] { return kNow; });
  using enum ChangeType;
  const std::vector<std::vector<ChangeType>> removals = {
      {kRemoveFamily}, {kDeleteFamily, kRemoveFamily}};
  for (const std::vector<ChangeType>& removal : removals) {
    SCOPED_TRACE(removal.size());
    WriteBatch deletes;
    deletes.DeleteFamilyVersion("r", "c", kLate);
    ASSERT_THAT(store_->Write(deletes), IsOk());
    const auto load = Begin();
    ASSERT_THAT(load->Add("r", "c", "q", "load", kLate), IsOk());
    for (const ChangeType type : removal) {
      Change change{type, "r", "c"};
      if (type == kDeleteFamily) change.timestamp_ms = kLate;
      ASSERT_THAT(store_->Write(change), IsOk());
    }
    EXPECT_THAT(load->Finish(),
                StatusIs(Status::kAborted,
                         HasSubstr("family \"c\", or removed from it")));
  }
  const auto load = Begin();
  ASSERT_THAT(load->Add("r", "c", "q", "load", kLate), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  EXPECT_THAT(Versions("r", "c", "q"),
              ElementsAre(Cell{"c", "q", kLate, "load"}));
}

// A delete that expired stays while a put that it takes is in a file.
TEST_F(Load, OldPutsKeepTheDeletesThatTakeThem) {
  constexpr uint64_t kNow = 1'700'000'000'000;
  constexpr uint64_t kTtl = 1000;
  path_ = dir_.File("expiring");
  store_ = OpenOrFail(
      {}, path_, {{"c", {.timestamps = Timestamps::kClient, .ttl_ms = kTtl}}},
      [] { return kNow; });
  // From now on the store knows that there are no old puts.
  ASSERT_THAT(store_->Put("x", "c", "q", "v", {.timestamp_ms = kNow}), IsOk());
  ASSERT_THAT(store_->Compact(), IsOk());
  const auto load = Begin();
  ASSERT_THAT(load->Add("m", "c", "q", "deleted", kNow - 3 * kTtl), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  ASSERT_THAT(store_->Delete("m", "c", "q", {.timestamp_ms = kNow - 2 * kTtl}),
              IsOk());
  // Files of the highest level go to the next one, the load's lies deeper.
  const auto files_in_level_0 = [this] {
    StoreStats stats = StoreStatsOf(*store_);
    uint64_t files = 0;
    for (const LevelStats& level : stats.families["c"].levels) {
      if (level.level == 0) files = level.files;
    }
    return files;
  };
  for (int i = 0; i < 4; ++i) {
    for (const char* row : {"a", "z"}) {
      ASSERT_THAT(store_->Put(row, "c", "q", "v", {.timestamp_ms = kNow}),
                  IsOk());
    }
    ASSERT_THAT(store_->Flush(), IsOk());
  }
  ASSERT_TRUE(WaitFor([&] { return files_in_level_0() == 0; }))
      << files_in_level_0();
  ASSERT_THAT(store_->AlterFamily("c", {.timestamps = Timestamps::kClient}),
              IsOk());
  EXPECT_THAT(Versions("m", "c", "q"), ElementsAre());
}

TEST_F(Load, DeletesThatMeanNothingAreRefused) {
  const auto load = Begin();
  using enum ChangeType;
  const auto is_refused = [](const std::string& why) {
    return StatusIs(Status::kInvalidArgument, HasSubstr(why));
  };
  EXPECT_THAT(load->Add({kDelete, "r", "latest", "q", {}, 5}),
              is_refused("\"latest\" keeps the latest version only"));
  EXPECT_THAT(load->Add({kDeleteFamily, "r", "c", "q", {}, 5}),
              is_refused("with the qualifier \"q\""));
  EXPECT_THAT(load->Add({kDeleteRow, "r", "c", "", {}, 5}),
              is_refused("with the family \"c\""));
  EXPECT_THAT(load->Add({kDeleteRow, "r", "", "", {}, 5}),
              is_refused("a version, a column or a family"));
  EXPECT_THAT(load->Add({kRemove, "r", "c", "q", {}, 5}),
              is_refused("a version, a column or a family"));
  EXPECT_THAT(load->Add({kRemoveFamily, "r", "c", "", {}, 5}),
              is_refused("a version, a column or a family"));
  EXPECT_THAT(load->Add({kDelete, "r", "c", "q", {}}),
              is_refused("with their timestamps"));
  EXPECT_THAT(load->Add({kDelete, "r", "c", "q", "v", 5}),
              is_refused("a delete with a value"));
  EXPECT_THAT(load->Add({kDelete, "r", "c", "q", {}, kMaxTimestampMs + 1}),
              is_refused("timestamp"));
  // Entries at one timestamp come in the order of how much they take, each
  // once.
  ASSERT_THAT(load->Add("r", "c", "", "v", 6), IsOk());
  ASSERT_THAT(load->Add({kDeleteFamily, "r", "c", "", {}, 5}), IsOk());
  ASSERT_THAT(load->Add({kDeleteVersion, "r", "c", "", {}, 5}), IsOk());
  EXPECT_THAT(load->Add({kDelete, "r", "c", "", {}, 5}),
              is_refused("falling timestamp"));
  EXPECT_THAT(load->Add({kDeleteVersion, "r", "c", "", {}, 5}),
              is_refused("falling timestamp"));
  ASSERT_THAT(load->Add("r", "c", "", "v", 5), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  EXPECT_THAT(Versions("r", "c", ""), ElementsAre(Cell{"c", "", 6, "v"}));
}

TEST_F(Load, TheLaterArrivalOfALatestCellStays) {
  ASSERT_THAT(store_->Put("r", "latest", "q", "before"), IsOk());
  const auto load = Begin();
  ASSERT_THAT(store_->Put("r", "latest", "q", "meanwhile"), IsOk());
  for (const uint64_t not_past : {load->timestamp_ms(), kMaxTimestampMs}) {
    EXPECT_THAT(
        load->Add("r", "latest", "q", "v", not_past),
        StatusIs(Status::kInvalidArgument,
                 HasSubstr("timestamps=store: expected one before that of")));
  }
  ASSERT_THAT(load->Add("r", "latest", "now", "load"), IsOk());
  ASSERT_THAT(load->Add("r", "latest", "q", "load", 7), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(
        Versions("r", "latest", "now"),
        ElementsAre(Cell{"latest", "now", load->timestamp_ms(), "load"}));
    EXPECT_THAT(Versions("r", "latest", "q"),
                ElementsAre(Cell{"latest", "q", 7, "load"}));
    ASSERT_THAT(store_->Compact(), IsOk());
  }
  ASSERT_THAT(store_->Put("r", "latest", "q", "after"), IsOk());
  EXPECT_EQ(Versions("r", "latest", "q")[0].value, "after");
}

TEST_F(Load, TimestampsOfTheStoreAreOfThePast) {
  ASSERT_THAT(store_->Put("r", "store", "q", "before"), IsOk());
  const uint64_t before_ms = Versions("r", "store", "q")[0].timestamp_ms;
  const auto load = Begin();
  EXPECT_THAT(
      load->Add("r", "store", "q", "v", kMaxTimestampMs),
      StatusIs(Status::kInvalidArgument,
               HasSubstr("timestamps=store: expected one before that of")));
  EXPECT_THAT(
      load->Add({ChangeType::kDelete, "r", "store", "q", {}, kMaxTimestampMs}),
      StatusIs(Status::kInvalidArgument, HasSubstr("timestamps=store")));
  ASSERT_THAT(load->Add("r", "store", "q", "same", before_ms), IsOk());
  ASSERT_THAT(load->Add("r", "store", "q", "old", 7), IsOk());
  ASSERT_THAT(load->Finish(), IsOk());
  EXPECT_THAT(Versions("r", "store", "q"),
              ElementsAre(Cell{"store", "q", before_ms, "same"},
                          Cell{"store", "q", 7, "old"}));
  // A later put is newer.
  ASSERT_THAT(store_->Put("r", "store", "q", "after"), IsOk());
  EXPECT_EQ(Versions("r", "store", "q")[0].value, "after");
}

// A writer that has read a cell and not yet written it waits for the load, or
// the load for it: a change of what was there before never replaces the load's.
TEST_F(Load, DoesNotComeInBetweenAReadAndItsWrite) {
  constexpr int64_t kStep = int64_t{1} << 40;  // between two loads' counters
  const auto encoded = [](int64_t counter) {
    std::string value(8, '\0');
    for (int i = 7; i >= 0; --i, counter >>= 8) {
      value[static_cast<size_t>(i)] = static_cast<char>(counter);
    }
    return value;
  };
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> failures{0};
  std::atomic<uint64_t> increments_done{0};
  std::atomic<uint64_t> checks_applied{0};
  std::thread increments([&] {
    while (!stop) {
      const Status s = store_->Increment("a", "latest", "q", 1, nullptr);
      ++(s.ok() ? increments_done : failures);
    }
  });
  std::thread checks([&] {
    while (!stop) {
      std::optional<std::string> found;
      bool applied = false;
      const Status s = store_->Get("b", "latest", "q", &found);
      if (s.ok() && !found) continue;
      if (!s.ok() ||
          !store_->CheckAndPut("b", "latest", "q", found, *found, &applied, {})
               .ok()) {
        ++failures;
      }
      checks_applied += applied ? 1 : 0;
    }
  });
  for (int64_t i = 1; i <= 40; ++i) {
    const auto load = Begin();
    for (const char* row : {"a", "b"}) {
      EXPECT_THAT(load->Add(row, "latest", "q", encoded(i * kStep)), IsOk());
    }
    EXPECT_THAT(load->Finish(), IsOk());
    // The checks put what they found, once the load is there its value.
    std::optional<std::string> value;
    EXPECT_EQ(ValueOf(*store_, "b", "latest", "q"), encoded(i * kStep))
        << "load " << i;
    EXPECT_THAT(store_->Get("a", "latest", "q", &value), IsOk());
    EXPECT_TRUE(value);
    EXPECT_GE(value, encoded(i * kStep)) << "load " << i;
  }
  stop = true;
  increments.join();
  checks.join();
  EXPECT_EQ(failures, 0u);
  EXPECT_GT(increments_done, 0u);
  EXPECT_GT(checks_applied, 0u);
}

TEST_F(Load, LeavesNothingWhenItIsGivenUp) {
  {
    const auto load = Begin({.file_bytes = 1});
    for (const char* row : {"a", "b", "c"}) {
      ASSERT_THAT(load->Add(row, "latest", "q", "v"), IsOk());
    }
    EXPECT_EQ(LoadDirectories(), 1u);
  }
  EXPECT_EQ(LoadDirectories(), 0u);
  EXPECT_EQ(Versions("a", "latest", "q").size(), 0u);
  // Remains of a process that died go with the next opening.
  store_.reset();
  const std::string left = path_ + "/" + kLoadDirectoryPrefix + "3";
  ASSERT_TRUE(std::filesystem::create_directory(left));
  std::ofstream(left + "/latest-0.sst") << "half";
  {
    const auto reader = OpenOrFail({.read_only = true}, path_, {});
    EXPECT_EQ(LoadDirectories(), 1u);
  }
  Open();
  EXPECT_EQ(LoadDirectories(), 0u);
}

// RocksDB may have taken over the file, so that no load may write it.
TEST_F(Load, UsesNoRemainsThatCannotBeRemoved) {
  store_.reset();
  const std::string left = path_ + "/" + kLoadDirectoryPrefix + "0";
  ASSERT_TRUE(std::filesystem::create_directory(left));
  const auto file = [&left](int family) {
    return left + "/" + std::to_string(family) + "-0.sst";
  };
  constexpr int kMostFamilies = 9;
  for (int i = 0; i < kMostFamilies; ++i) WriteFile(file(i), "left");
  const auto files = std::make_shared<CallingFileSystem>();
  const auto env = rocksdb::NewCompositeEnv(files);
  files->On(FileCall::kDelete, [&left](const std::string& path) {
    return path.starts_with(left) ? rocksdb::IOStatus::IOError("injected")
                                  : rocksdb::IOStatus::OK();
  });
  {
    const auto store = OpenOrFail({.env = env.get()}, path_, {});
    const auto load = LoadInto(*store);
    ASSERT_THAT(load->Add("a", "latest", "q", "v"), IsOk());
    ASSERT_THAT(load->Finish(), IsOk());
    for (int i = 0; i < kMostFamilies; ++i) {
      EXPECT_EQ(ReadFile(file(i)), "left");
    }
  }
  Open();
  EXPECT_EQ(LoadDirectories(), 0u);
  EXPECT_EQ(Versions("a", "latest", "q").size(), 1u);
}

// The paths of the SSTs that the MANIFEST of a closed store names.
void NamedSsts(const std::string& path, std::set<std::string>* names) {
  Database database;
  ASSERT_NO_FATAL_FAILURE(OpenRaw(path, &database));
  std::vector<rocksdb::LiveFileMetaData> live;
  database->GetLiveFilesMetaData(&live);
  for (const auto& file : live) {
    names->insert(path + "/" + file.relative_filename);
  }
}

// Whichever call of the file system fails while a load is finished. After an
// error RocksDB's MANIFEST may name the files, which then must be there.
TEST(InterruptedLoad, IsThereWholeIfItSucceedsElseWholeOrNotAtAll) {
  const TempDir dir;
  uint64_t call = 0;
  size_t removed = 0;
  for (bool met = true; met;) {
    call += Stride(5);
    SCOPED_TRACE("call " + std::to_string(call) + " fails");
    const std::string path = dir.File("db" + std::to_string(call));
    FaultPlan plan;
    const auto env = NewFaultEnv(&plan);
    auto store = OpenOrFail({.env = env.get()}, path, {{"c", {}}});
    auto load = LoadInto(*store);
    for (const char* row : {"a", "b", "c"}) {
      ASSERT_THAT(load->Add(row, "c", "q", "loaded"), IsOk());
    }
    plan.FailCall(call, /*for_good=*/false);
    const Status s = load->Finish();
    met = plan.faults() > 0;
    plan.FailNoCall();
    ASSERT_TRUE(met || s.ok()) << s.ToString();
    load.reset();
    ScanCounts counts;
    ASSERT_THAT(store->Count({}, &counts), IsOk());
    EXPECT_EQ(counts.rows, s.ok() ? 3 : 0) << s.ToString();
    store.reset();
    const std::vector<std::string> before = FilesWithEnd(path, ".sst");
    store = OpenOrFail({.env = env.get()}, path, {{"c", {}}});
    ASSERT_THAT(store->Count({}, &counts), IsOk());
    EXPECT_TRUE(counts.rows == 3 || (counts.rows == 0 && !s.ok()))
        << counts.rows << ": " << s.ToString();
    store.reset();
    // Files that were kept after a failed MANIFEST are gone, if it names none.
    const std::vector<std::string> after = FilesWithEnd(path, ".sst");
    std::set<std::string> named;
    ASSERT_NO_FATAL_FAILURE(NamedSsts(path, &named));
    EXPECT_THAT(named, ::testing::IsSupersetOf(after));
    removed += static_cast<size_t>(
        std::ranges::count_if(before, [&](const auto& name) {
          return !std::ranges::binary_search(after, name);
        }));
  }
  EXPECT_GT(call, 20u);
  EXPECT_TRUE(removed > 0 || Stride(5) > 1);
}

// Keeps the second SST that RocksDB begins, which a compaction writes, until a
// file is linked, as RocksDB links those of a load, or half a second has
// passed.
class SlowCompaction {
 public:
  // Begins to count SSTs. Must outlive the store.
  explicit SlowCompaction(CallingFileSystem* files) {
    files->On(FileCall::kMake, [this](const std::string& path) {
      const bool is_of_load = path.find(kLoadDirectoryPrefix) != path.npos;
      if (path.ends_with(".sst") && !is_of_load) Begin();
    });
    files->On(FileCall::kLink, [this](const std::string& /*path*/) {
      const std::lock_guard lock(mutex_);
      linked_ = true;
      changed_.notify_all();
    });
  }

  void WaitForIt() {
    EXPECT_TRUE(WaitFor([this] {
      const std::lock_guard lock(mutex_);
      return begun_ >= 2;
    }));
  }
  // A file was linked while the second SST was kept.
  bool linked_meanwhile() {
    const std::lock_guard lock(mutex_);
    return linked_meanwhile_;
  }
  // An SST was begun after a file was linked.
  bool begun_after_link() {
    const std::lock_guard lock(mutex_);
    return begun_after_link_;
  }

 private:
  void Begin() {
    std::unique_lock lock(mutex_);
    begun_after_link_ |= linked_;
    if (++begun_ != 2) return;
    if (linked_) return;  // a compaction that waited for the load
    linked_meanwhile_ = changed_.wait_for(lock, std::chrono::milliseconds(500),
                                          [this] { return linked_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool linked_ = false;
  bool linked_meanwhile_ = false;
  bool begun_after_link_ = false;
  int begun_ = 0;
};

constexpr int kFilesForACompaction = 4;  // RocksDB's default

// RocksDB may not see that a load replaces older cells while a compaction or a
// flush changes the files that have them (CompactionGate).
class LoadBesideACompaction : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteFiles(kFilesForACompaction - 1);
    ASSERT_THAT(store_->NewBulkLoad({}, &load_), IsOk());
    ASSERT_THAT(load_->Add("row", "c", "q", "new"), IsOk());
    slow_.emplace(calling_.files.get());
  }

  void WriteFiles(int count) {
    for (int i = 0; i < count; ++i) {
      // A compaction of files with one key only moves them.
      ASSERT_THAT(store_->Put("another", "c", "q", "old"), IsOk());
      ASSERT_THAT(store_->Put("row", "c", "q", "old"), IsOk());
      ASSERT_THAT(store_->Flush(), IsOk());
    }
  }
  void Finish() {
    ASSERT_THAT(store_->Put("row", "c", "q", "in memory"), IsOk());
    ASSERT_THAT(load_->Finish(), IsOk());
    EXPECT_FALSE(slow_->linked_meanwhile());
    EXPECT_EQ(ValueOf(*store_, "row", "c", "q"), "new");
  }

  std::optional<SlowCompaction> slow_;
  CallingStore calling_;
  Store* const store_ = calling_.store.get();
  std::unique_ptr<BulkLoad> load_;
};

TEST_F(LoadBesideACompaction, WaitsForOneThatRuns) {
  WriteFiles(1);
  slow_->WaitForIt();
  Finish();
  EXPECT_FALSE(slow_->begun_after_link());
  // Others go on.
  WriteFiles(kFilesForACompaction);
  EXPECT_TRUE(WaitFor([&] {
    StoreStats stats;
    return store_->Stats(&stats).ok() &&
           stats.families.at("c").files < kFilesForACompaction;
  }));
}

TEST_F(LoadBesideACompaction, WaitsForOneThatItsFlushBegins) {
  Finish();
  slow_->WaitForIt();
}

// RocksDB gives a file that replaces nothing number 0: a snapshot that is taken
// while the MANIFEST is written would have it once it is there.
TEST(LoadBesideASnapshot, IsInItOrNot) {
  const CallingStore calling;
  CallingFileSystem* const files = calling.files.get();
  Store* const store = calling.store.get();
  const auto load = LoadInto(*store);
  ASSERT_THAT(load->Add("row", "c", "q", "v"), IsOk());
  std::unique_ptr<const Snapshot> snapshot;
  const auto value = [&] {
    std::optional<std::string> found;
    EXPECT_THAT(
        store->Get("row", "c", "q", &found, {.snapshot = snapshot.get()}),
        IsOk());
    return found;
  };
  std::optional<std::string> first_value;
  std::atomic<bool> linked{false};
  std::thread reader;
  files->On(FileCall::kLink,
            [&](const std::string& /*path*/) { linked = true; });
  files->On(FileCall::kSync, [&](const std::string& path) {
    if (!linked || path.find("MANIFEST") == path.npos) return;
    if (reader.joinable()) return;
    reader = std::thread([&] {
      snapshot = SnapshotOf(*store);
      first_value = value();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  });
  ASSERT_THAT(load->Finish(), IsOk());
  files->Off(FileCall::kLink);
  files->Off(FileCall::kSync);
  ASSERT_TRUE(reader.joinable());
  reader.join();
  EXPECT_EQ(value(), first_value);
}

// Reads cells of each load, over and over, while it comes in. RocksDB may look
// at the files of one cell before it, and of another one after it.
class LoadBesideReads : public ::testing::Test {
 protected:
  using Addresses = std::vector<CellAddress>;

  // `cells_of` gives the cells to read for a row, of which its load adds those
  // that are in the row.
  template <typename CellsOf>
  void ExpectAllOrNothing(CellsOf cells_of) {
    const TempDir dir;
    const auto store = OpenOrFail({}, dir.File("db"), {{"a", {}}, {"b", {}}});
    std::atomic<int> loading{0};
    std::atomic<int> before{0};
    std::atomic<int> after{0};
    std::atomic<int> torn{0};
    std::atomic<bool> done{false};
    const auto row_of = [](int i) { return "row" + std::to_string(i); };
    std::thread reader([&] {
      std::vector<std::vector<Cell>> found;
      while (!done) {
        const std::string row = row_of(loading);
        const std::string absent = row + "absent";
        const Addresses cells = cells_of(row, absent);
        EXPECT_THAT(store->MultiGet(cells, &found, {}), IsOk());
        const size_t count = found[0].size() + found[1].size();
        ++(count == 0 ? before : count == 1 ? torn : after);
      }
    });
    const auto loads = static_cast<int>(std::max<uint64_t>(Scaled(300), 60));
    EXPECT_TRUE(WaitFor([&before] { return before > 0; }));
    for (int i = 100'000; i < 100'000 + loads; ++i) {
      loading = i;
      const std::string row = row_of(i);
      const auto load = LoadInto(*store);
      for (const CellAddress& cell : cells_of(row, row + "absent")) {
        if (cell.row != row) continue;
        EXPECT_THAT(load->Add(row, cell.family, cell.qualifier, "v"), IsOk());
      }
      EXPECT_THAT(load->Finish(), IsOk());
    }
    EXPECT_TRUE(WaitFor([&after] { return after > 0; }));
    done = true;
    reader.join();
    EXPECT_EQ(torn, 0);
  }
};

TEST_F(LoadBesideReads, OfTwoFamilies) {
  ExpectAllOrNothing([](const std::string& row, const std::string&) {
    return Addresses{{row, "a", "q"}, {row, "b", "q"}};
  });
}

TEST_F(LoadBesideReads, OfOneFamilyAndAnAbsentRow) {
  ExpectAllOrNothing([](const std::string& row, const std::string& absent) {
    return Addresses{{row, "a", "p"}, {row, "a", "q"}, {absent, "a", "q"}};
  });
}

TEST_F(Load, ChecksAChangeAndAddsNothing) {
  const auto load = Begin();
  const Change put{ChangeType::kPut, "r", "c", "q", "v", 5};
  EXPECT_THAT(load->Check(put), IsOk());
  Change later = put;
  later.family = "store";
  later.timestamp_ms = load->timestamp_ms();
  EXPECT_THAT(load->Check(later), StatusIs(Status::kInvalidArgument,
                                           HasSubstr("timestamps=store")));
  EXPECT_EQ(load->Add(later), load->Check(later));
  EXPECT_THAT(load->Check({ChangeType::kPut, "r", "none", "q", "v"}),
              StatusIs(Status::kInvalidArgument, HasSubstr("none")));
  ASSERT_THAT(load->Add({ChangeType::kPut, "s", "c", "q", "v", 5}), IsOk());
  EXPECT_THAT(load->Check(put), IsOk());  // out of order is no error of its own
  ASSERT_THAT(load->Finish(), IsOk());
  EXPECT_THAT(Versions("r", "c", "q"), ::testing::IsEmpty());
}

TEST_F(Load, OfNothingIsFine) {
  ASSERT_THAT(Begin()->Finish(), IsOk());
  std::unique_ptr<BulkLoad> load;
  EXPECT_THAT(store_->NewBulkLoad({.file_bytes = 0}, &load),
              StatusIs(Status::kInvalidArgument, HasSubstr("file_bytes")));
}

}  // namespace
}  // namespace rowbloom::test
