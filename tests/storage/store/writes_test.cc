// Writes that look first, and how safely writes are kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "storage/store/row_locks.h"
#include "tests/storage/store/calling_store.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/random.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test::writes_test {
namespace {

using rocksdb::Status;
using ::testing::HasSubstr;

const std::vector<FamilyDescriptor> kFamilies = {
    {"client", {.timestamps = Timestamps::kClient, .max_versions = 2}},
    {"latest", {}},
};

class Writes : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { store_ = OpenOrFail({}, dir_.File("db"), kFamilies); }
  const char* family() const { return GetParam(); }
  // "-": no cell.
  std::string Value(const std::string& qualifier = "q") {
    std::optional<std::string> value;
    const Status s = store_->Get("r", family(), qualifier, &value);
    EXPECT_THAT(s, IsOk());
    return value.value_or("-");
  }

  TempDir dir_;
  std::unique_ptr<Store> store_;
};

TEST_P(Writes, CheckAndPutWritesOnlyWhatWasExpected) {
  bool applied = true;
  ASSERT_THAT(store_->CheckAndPut("r", family(), "q", "x", "y", &applied),
              IsOk());
  EXPECT_FALSE(applied);
  EXPECT_EQ(Value(), "-");
  ASSERT_THAT(
      store_->CheckAndPut("r", family(), "q", std::nullopt, "", &applied),
      IsOk());
  EXPECT_TRUE(applied);
  EXPECT_EQ(Value(), "");
  // An empty value is not an absent one.
  ASSERT_THAT(
      store_->CheckAndPut("r", family(), "q", std::nullopt, "b", &applied),
      IsOk());
  EXPECT_FALSE(applied);
  ASSERT_THAT(store_->CheckAndPut("r", family(), "q", "", "b", &applied),
              IsOk());
  EXPECT_TRUE(applied);
  EXPECT_EQ(Value(), "b");
}

TEST_P(Writes, CheckAndDeleteDeletesOnlyWhatWasExpected) {
  ASSERT_THAT(store_->Put("r", family(), "q", "v"), IsOk());
  bool applied = true;
  ASSERT_THAT(store_->CheckAndDelete("r", family(), "q", "w", &applied),
              IsOk());
  EXPECT_FALSE(applied);
  EXPECT_EQ(Value(), "v");
  ASSERT_THAT(store_->CheckAndDelete("r", family(), "q", "v", &applied),
              IsOk());
  EXPECT_TRUE(applied);
  EXPECT_EQ(Value(), "-");
}

TEST_P(Writes, ChangesThatMeanNothingAreRefused) {
  const auto is_refused = [](const std::string& why) {
    return StatusIs(Status::kInvalidArgument, HasSubstr(why));
  };
  EXPECT_THAT(
      store_->Write({static_cast<ChangeType>(7), "r", family(), "q", {}}),
      is_refused("unknown type 7"));
  EXPECT_THAT(store_->Write({ChangeType::kDelete, "r", family(), "q", "v"}),
              is_refused("a delete with a value"));
  for (const ChangeType type :
       {ChangeType::kDeleteFamily, ChangeType::kDeleteRow}) {
    EXPECT_THAT(store_->Write({type, "r", family(), "q", {}}),
                is_refused("with the qualifier \"q\""));
  }
  EXPECT_THAT(store_->Write({ChangeType::kDeleteRow, "r", family(), "", {}}),
              is_refused(std::string("with the family \"") + family()));
  EXPECT_EQ(Value(), "-");
}

TEST_P(Writes, CheckAndWriteIsOfOneRow) {
  WriteBatch batch;
  batch.Put("r", family(), "a", "1");
  batch.Put("r", "latest", "b", "2");
  bool applied = false;
  const Condition absent = Condition::Equal(family(), "q", std::nullopt);
  ASSERT_THAT(store_->CheckAndWrite("r", {&absent, 1}, batch, &applied),
              IsOk());
  EXPECT_TRUE(applied);
  EXPECT_EQ(Value("a"), "1");
  batch.Put("other", family(), "a", "3");
  EXPECT_THAT(store_->CheckAndWrite("r", {&absent, 1}, batch, &applied),
              StatusIs(Status::kInvalidArgument,
                       HasSubstr("a change of row \"other\" after a look at "
                                 "row \"r\"")));
}

TEST_P(Writes, CheckAndWriteComparesBytes) {
  using Comparison = Condition::Comparison;
  ASSERT_THAT(store_->Put("r", family(), "q", "m\xff"), IsOk());
  // Each is less than the cell's value (-1), equal (0) or greater (1).
  const std::vector<std::pair<std::string, int>> values = {
      {"", -1}, {"m", -1},  {"m\xff", 0}, {std::string("m\xff\0", 3), 1},
      {"n", 1}, {"\xff", 1}};
  for (const auto& [value, order] : values) {
    const std::vector<std::pair<Comparison, bool>> expected = {
        {Comparison::kLess, order > 0},     {Comparison::kAtMost, order >= 0},
        {Comparison::kEqual, order == 0},   {Comparison::kNotEqual, order != 0},
        {Comparison::kAtLeast, order <= 0}, {Comparison::kGreater, order < 0},
        {Comparison::kAbsent, false},       {Comparison::kPresent, true}};
    for (const auto& [comparison, meets] : expected) {
      const Condition condition{family(), "q", comparison, value};
      bool applied = !meets;
      ASSERT_THAT(store_->CheckAndWrite("r", {&condition, 1}, {}, &applied),
                  IsOk());
      EXPECT_EQ(applied, meets) << value << static_cast<int>(comparison);
      // An absent cell meets kAbsent alone.
      const Condition absent{family(), "none", comparison, value};
      ASSERT_THAT(store_->CheckAndWrite("r", {&absent, 1}, {}, &applied),
                  IsOk());
      EXPECT_EQ(applied, comparison == Comparison::kAbsent);
    }
  }
}

TEST_P(Writes, CheckAndWriteNeedsEachCondition) {
  ASSERT_THAT(store_->Put("r", family(), "a", "1"), IsOk());
  ASSERT_THAT(store_->Put("r", "latest", "b", "2"), IsOk());
  std::vector<Condition> conditions = {
      Condition::Equal(family(), "a", "1"),
      Condition::Equal("latest", "b", "2"),
      Condition::Equal(family(), "c", std::nullopt),
      // The same cell once more.
      {family(), "a", Condition::Comparison::kLess, "2"}};
  WriteBatch batch;
  batch.Put("r", family(), "c", "3");
  bool applied = true;
  for (size_t i = 0; i < conditions.size(); ++i) {
    std::vector<Condition> wrong = conditions;
    wrong[i] = {wrong[i].family, wrong[i].qualifier,
                Condition::Comparison::kEqual, "wrong"};
    ASSERT_THAT(store_->CheckAndWrite("r", wrong, batch, &applied), IsOk());
    EXPECT_FALSE(applied) << i;
    EXPECT_EQ(Value("c"), "-");
  }
  ASSERT_THAT(store_->CheckAndWrite("r", conditions, batch, &applied), IsOk());
  EXPECT_TRUE(applied);
  EXPECT_EQ(Value("c"), "3");
  ASSERT_THAT(store_->CheckAndWrite("r", conditions, batch, &applied), IsOk());
  EXPECT_FALSE(applied);
  // Without a condition it is a write.
  ASSERT_THAT(store_->CheckAndWrite("r", {}, batch, &applied), IsOk());
  EXPECT_TRUE(applied);
}

TEST_P(Writes, ConditionsThatMeanNothingAreRefused) {
  WriteBatch batch;
  batch.Put("r", family(), "c", "3");
  const auto refuses = [&](const Condition& condition, const char* why) {
    bool applied = true;
    EXPECT_THAT(store_->CheckAndWrite("r", {&condition, 1}, batch, &applied),
                StatusIs(Status::kInvalidArgument, HasSubstr(why)));
    EXPECT_FALSE(applied);
    EXPECT_EQ(Value("c"), "-");
  };
  refuses({"none", "q"}, "family \"none\" is not in the store");
  refuses({family(), "q", static_cast<Condition::Comparison>(8)},
          "the unknown comparison 8");
  refuses({family(), "q", Condition::Comparison::kPresent, "", {5, 4}},
          "the time range begins at 5, after its end at 4");
}

TEST_P(Writes, ChangesOfABatchSeeThoseBefore) {
  WriteBatch batch;
  batch.Append("r", family(), "q", "a");
  batch.Increment("r", family(), "n", 5);
  batch.Append("r", family(), "q", "b");
  batch.Increment("other", family(), "n", 1);
  batch.Increment("r", family(), "n", -7);
  ASSERT_THAT(store_->Write(batch), IsOk());
  EXPECT_EQ(Value(), "ab");
  EXPECT_EQ(Value("n"), EncodeCounter(-2));
  batch.Clear();
  batch.Put("r", family(), "q", "x");
  batch.Append("r", family(), "q", "y");
  batch.Delete("r", family(), "n");
  batch.Increment("r", family(), "n", 3);
  batch.DeleteFamily("r", family());
  batch.Append("r", family(), "q", "1");
  batch.Append("r", family(), "q", "2");
  batch.Put("r", family(), "p", "of the past");
  batch.Put("r", family(), "p", "p");
  batch.Append("r", family(), "p", "q");
  ASSERT_THAT(store_->Write(batch), IsOk());
  EXPECT_EQ(Value(), "12");
  EXPECT_EQ(Value("n"), "-");
  EXPECT_EQ(Value("p"), "pq");
  batch.Clear();
  batch.DeleteRow("r");
  batch.Append("r", family(), "", "e");
  batch.Append("r", family(), "", "f");
  ASSERT_THAT(store_->Write(batch), IsOk());
  EXPECT_EQ(Value(), "-");
  EXPECT_EQ(Value(""), "ef");
}

TEST_P(Writes, ABatchWithABadIncrementWritesNothing) {
  ASSERT_THAT(store_->Put("r", family(), "text", "12"), IsOk());
  WriteBatch batch;
  batch.Put("r", family(), "q", "v");
  batch.Increment("r", family(), "text", 1);
  EXPECT_THAT(store_->Write(batch),
              StatusIs(Status::kInvalidArgument,
                       HasSubstr("row \"r\", cell " + std::string(family()) +
                                 ":text: a counter of 2 bytes: expected 8")));
  EXPECT_EQ(Value(), "-");
  EXPECT_THAT(store_->Write({ChangeType::kIncrement, "r", family(), "q", "1"}),
              StatusIs(Status::kInvalidArgument,
                       HasSubstr("an increment by a value of 1 bytes")));
}

TEST_P(Writes, ABulkLoadTakesNoUpdates) {
  const auto load = LoadInto(*store_);
  for (const ChangeType type : {ChangeType::kIncrement, ChangeType::kAppend}) {
    EXPECT_THAT(load->Add({type, "r", family(), "q", EncodeCounter(1), 5}),
                StatusIs(Status::kInvalidArgument,
                         HasSubstr("no increments and no appends")));
  }
}

TEST_P(Writes, IncrementCountsFromNothingAndRefusesWhatIsNoCounter) {
  int64_t sum = 0;
  ASSERT_THAT(store_->Increment("r", family(), "q", 5, &sum), IsOk());
  EXPECT_EQ(sum, 5);
  ASSERT_THAT(store_->Increment("r", family(), "q", -7, &sum), IsOk());
  EXPECT_EQ(sum, -2);
  EXPECT_EQ(Value(), "\xff\xff\xff\xff\xff\xff\xff\xfe");
  ASSERT_THAT(store_->Increment("r", family(), "q", INT64_MIN + 2, &sum),
              IsOk());
  EXPECT_THAT(store_->Increment("r", family(), "q", -1, nullptr),
              StatusIs(Status::kInvalidArgument, HasSubstr("does not fit")));
  ASSERT_THAT(store_->Put("r", family(), "text", "12"), IsOk());
  EXPECT_THAT(store_->Increment("r", family(), "text", 1, &sum),
              StatusIs(Status::kInvalidArgument,
                       HasSubstr("a counter of 2 bytes: expected 8")));
}

TEST_P(Writes, AppendJoins) {
  std::string joined;
  ASSERT_THAT(store_->Append("r", family(), "q", "ab", &joined), IsOk());
  EXPECT_EQ(joined, "ab");
  ASSERT_THAT(store_->Append("r", family(), "q", "c", nullptr), IsOk());
  EXPECT_EQ(Value(), "abc");
}

TEST_P(Writes, ThreadsThatIncrementLoseNothing) {
  constexpr int kThreads = 4;
  const auto steps = static_cast<int>(Scaled(300));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < steps; ++i) {
        EXPECT_THAT(store_->Increment("r", family(), "q", 1, nullptr), IsOk());
        // Writers of other rows, many rows and whole rows go on beside.
        WriteBatch batch;
        for (int row = 0; row < 10; ++row) {
          batch.Put("row" + std::to_string((row * 7 + t) % 10), family(), "q",
                    std::to_string(i));
        }
        EXPECT_THAT(store_->Write(batch), IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int64_t sum = 0;
  ASSERT_THAT(store_->Increment("r", family(), "q", 0, &sum), IsOk());
  EXPECT_EQ(sum, kThreads * steps);
}

TEST_P(Writes, OneOfManyThreadsTakesALock) {
  std::atomic<int> winners{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      bool applied = false;
      EXPECT_THAT(store_->CheckAndPut("r", family(), "lock", std::nullopt,
                                      std::to_string(t), &applied),
                  IsOk());
      winners += applied ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
}

TEST(RowLocks, OfAllRowsComeBeforeTheNextWriteOfARow) {
  RowLocks locks;
  const Change change{.row = "r"};
  std::atomic<int> writes = 0;
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    while (!stop && writes < 10'000) {
      const RowLocks::Guard row = locks.Lock({&change, 1});
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // as a sync
      ++writes;
    }
  });
  EXPECT_TRUE(WaitFor([&writes] { return writes > 0; }));
  for (int i = 0; i < 100; ++i) {
    const RowLocks::Guard all = locks.LockAll();
  }
  stop = true;
  writer.join();
  EXPECT_LT(writes, 10'000);
}

INSTANTIATE_TEST_SUITE_P(Formats, Writes, ::testing::Values("latest", "client"),
                         [](const auto& param) {
                           return std::string(param.param);
                         });

TEST(CheckAndWrite, LooksAtTheNewestValueOfATimeRange) {
  const TempDir dir;
  const auto store = OpenOrFail({}, dir.File("db"), kFamilies);
  WriteBatch batch;
  batch.Put("r", "client", "q", "old", 100);
  batch.Put("r", "client", "q", "new", 200);
  ASSERT_THAT(store->Write(batch), IsOk());
  const auto meets = [&](Condition condition, const TimeRange& range) {
    condition.time_range = range;
    bool applied = false;
    EXPECT_THAT(store->CheckAndWrite("r", {&condition, 1}, {}, &applied),
                IsOk());
    return applied;
  };
  EXPECT_TRUE(meets(Condition::Equal("client", "q", "new"), TimeRange::All()));
  EXPECT_TRUE(meets(Condition::Equal("client", "q", "old"), {0, 200}));
  EXPECT_TRUE(meets(Condition::Equal("client", "q", {}), {101, 200}));
  EXPECT_FALSE(meets({"client", "q"}, {201, 300}));
  EXPECT_TRUE(meets({"client", "q"}, {200, 201}));
}

TEST(Update, OfAVersionInTheFutureIsSeen) {
  const TempDir dir;
  const auto store = OpenOrFail({}, dir.File("db"), kFamilies);
  const uint64_t future_ms = SystemWallClock() + 1'000'000'000;
  ASSERT_THAT(store->Put("r", "client", "q", "a", {.timestamp_ms = future_ms}),
              IsOk());
  std::string joined;
  ASSERT_THAT(store->Append("r", "client", "q", "b", &joined), IsOk());
  PinnableCell cell;
  ASSERT_THAT(store->Get("r", "client", "q", &cell), IsOk());
  EXPECT_EQ(cell.timestamp_ms(), future_ms);
  EXPECT_EQ(cell.value(), "ab");
}

TEST(Update, IsRefusedByAReadOnlyStore) {
  const TempDir dir;
  OpenOrFail({}, dir.File("db"), kFamilies);
  const auto store = OpenOrFail({.read_only = true}, dir.File("db"), {});
  bool applied = true;
  const auto is_refused =
      StatusIs(Status::kNotSupported, HasSubstr("open for reading only"));
  EXPECT_THAT(store->CheckAndPut("r", "latest", "q", {}, "v", &applied),
              is_refused);
  EXPECT_FALSE(applied);
  EXPECT_THAT(store->Increment("r", "latest", "q", 1, nullptr), is_refused);
  EXPECT_THAT(store->Append("r", "latest", "q", "v", nullptr), is_refused);
  EXPECT_THAT(store->Compact(), is_refused);
}

TEST(Durability, IsOfTheWriteThatAsksForIt) {
  const CallingStore calling;
  Store* const store = calling.store.get();
  const std::string path = calling.dir.File("db");
  const auto put = [store](const char* row, Durability durability) {
    ASSERT_THAT(store->Put(row, "c", "q", "v", {.durability = durability}),
                IsOk());
  };
  const auto is_logged = [&path](const std::string& row) {
    return std::ranges::any_of(Contents(path), [&row](const auto& file) {
      return file.first.ends_with(".log") &&
             file.second.find(row) != std::string::npos;
    });
  };
  put("first", Durability::kAsync);  // the clock
  std::atomic<int> syncs{0};
  calling.files->On(FileCall::kSync, [&syncs](const std::string& file) {
    syncs += file.ends_with(".log") ? 1 : 0;
  });
  put("async", Durability::kAsync);
  EXPECT_EQ(syncs, 0);
  EXPECT_TRUE(is_logged("async"));
  put("synced", Durability::kSync);
  EXPECT_EQ(syncs, 1);
  calling.files->Off(FileCall::kSync);
  put("flushed", Durability::kSkipWal);
  EXPECT_FALSE(is_logged("flushed"));
  ASSERT_THAT(store->Flush(), IsOk());
  put("skipped", Durability::kSkipWal);
  EXPECT_FALSE(is_logged("skipped"));
  EXPECT_TRUE(ValueOf(*store, "skipped", "c", "q"));
  // The copy has what survives the process.
  CopyOpenDatabase(path, calling.dir.File("copy"));
  const auto copy = OpenOrFail({}, calling.dir.File("copy"), {});
  for (const char* row : {"async", "synced", "flushed"}) {
    EXPECT_TRUE(ValueOf(*copy, row, "c", "q")) << row;
  }
  EXPECT_FALSE(ValueOf(*copy, "skipped", "c", "q"));
}

}  // namespace
}  // namespace rowbloom::test::writes_test
