// A family's merges and compaction filter throw nothing and remove nothing,
// wherever memory runs out: RocksDB is not exception-safe. A write that is
// there is no failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/merge_operator.h"
#include "rowbloom/store.h"
#include "storage/cells/cell_versions.h"
#include "storage/cells/given_times.h"
#include "storage/format/no_exceptions.h"
#include "storage/store/family_rules.h"
#include "storage/store/metadata.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/failing_new.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test {
namespace {

using rocksdb::CompactionFilter;
using rocksdb::MergeOperator;
using rocksdb::Slice;

constexpr uint64_t kNowMs = 1'700'000'000'000;
constexpr uint64_t kTtlMs = 1000;
const std::string kLong(100, 'x');  // takes memory of its own

std::string Put(uint64_t timestamp_ms) {
  return EncodeEntries({{ChangeType::kPut, timestamp_ms, kLong}});
}

// Expects `call` to be true only when no operator new fails, wherever memory
// runs out.
template <typename Call>
void ExpectFailures(Call call) {
  const auto attempt_it = [&call](Attempt* attempt) {
    attempt->Begin();
    const bool succeeded = call();
    attempt->End();
    EXPECT_NE(succeeded, attempt->failed());
  };
  EXPECT_GT(WithEachFailure(FailingNew::For::kAllCalls, attempt_it), 2u);
}

class StoreNoMemory : public ::testing::Test {
 protected:
  std::shared_ptr<SharedRules> rules_ = std::make_shared<SharedRules>(
      VersionRules{.max_versions = 2, .ttl_ms = kTtlMs}, /*memtable_bytes=*/0);
};

TEST_F(StoreNoMemory, MergesFailWithoutAnException) {
  const auto merge = NewVersionMergeOperator(rules_);
  const std::string value = Put(1);
  const std::string first = Put(2);
  const std::string second = Put(3);
  const Slice existing(value);
  const std::vector<Slice> operands = {first, second};
  const MergeOperator::MergeOperationInput in("key", &existing, operands,
                                              /*logger=*/nullptr);
  ExpectFailures([&] {
    std::string merged;
    Slice same(nullptr, 0);
    MergeOperator::MergeOperationOutput out(merged, same);
    return merge->FullMergeV2(in, &out);
  });
  const std::deque<Slice> all = {first, second};
  ExpectFailures([&] {
    std::string merged;
    return merge->PartialMergeMulti("key", all, &merged, /*logger=*/nullptr);
  });
}

TEST_F(StoreNoMemory, CompactionsKeepWhatTheyHaveNoMemoryFor) {
  const auto shared = std::make_shared<SharedState>([] { return kNowMs; });
  const auto factory = NewReclaim(
      {CellFormat::kVersioned, rules_, KeyLayout::Escaped(), shared});
  const std::string kept_and_expired =
      EncodeEntries({{ChangeType::kPut, kNowMs, kLong},
                     {ChangeType::kPut, kNowMs - 2 * kTtlMs, kLong}});
  const std::string key = kLong + std::string("\0\1q", 3);
  ExpectFailures([&] {
    const auto filter = factory->CreateCompactionFilter({});
    if (filter == nullptr) return false;
    std::string now;
    return filter->FilterV2(0, key, CompactionFilter::ValueType::kValue,
                            kept_and_expired, &now, nullptr) ==
           CompactionFilter::Decision::kChangeValue;
  });
}

TEST(StoreNoMemoryForALoad, NoPartOfACellIsLoaded) {
  const TempDir dir;
  std::unique_ptr<Store> store;
  ASSERT_THAT(
      Store::Open(
          {}, dir.File("db"),
          {{"f", {.timestamps = Timestamps::kClient, .max_versions = 2}}},
          &store),
      IsOk());
  const std::string value(10'000, 'x');
  size_t failures = 0;
  for (bool failed = true; failed; ++failures) {
    std::unique_ptr<BulkLoad> load;
    ASSERT_THAT(store->NewBulkLoad({}, &load), IsOk());
    ASSERT_THAT(load->Add("r", "f", "q", value, 2), IsOk());
    {
      const FailingNew failing(failures, FailingNew::For::kOneCall);
      failed = !load->Add("r", "f", "q", value, 1).ok();
    }
    EXPECT_EQ(load->Finish().ok(), !failed);
    std::vector<Cell> cells;
    EXPECT_THAT(store->GetVersions("r", "f", "q", &cells, {.max_versions = 2}),
                IsOk());
    EXPECT_EQ(cells.size(), failed ? 0U : 2U);
  }
  EXPECT_GT(failures, 1U);
}

// A reset of the clock keeps the newest time on disk.
TEST(StoreNoMemoryForATime, AResetFindsNoneOfTheFuture) {
  WithEachFailure(FailingNew::For::kOneCall, [](Attempt* attempt) {
    GivenTimes given;
    attempt->Begin();
    const rocksdb::Status s = CatchExceptions([&given] {
      given.Put(1, 10, kNowMs, /*replaces=*/false);
      return rocksdb::Status::OK();
    });
    attempt->End();
    EXPECT_NE(s.ok(), attempt->failed());
    EXPECT_EQ(given.ForgetBeyond(kNowMs), s.ok() ? kNowMs : 0);
  });
}

// The first put after a large batch allocates as much as the first of all: the
// batch has left no table.
TEST(StoreNoMemoryForATime, ALargeBatchLeavesNone) {
  const auto calls_of_a_put = [](GivenTimes* given) {
    const FailingNew none(1000, FailingNew::For::kOneCall);
    given->Put(1, 10, kNowMs, /*replaces=*/false);
    return none.Calls();
  };
  GivenTimes unused;
  GivenTimes used;
  for (uint64_t cell = 2; cell < 10'000; ++cell) {
    used.Put(1, cell, kNowMs, /*replaces=*/false);
  }
  EXPECT_FALSE(used.MoveTo(kNowMs + 1));
  EXPECT_EQ(calls_of_a_put(&used), calls_of_a_put(&unused));
}

// The answer takes no more memory than the write.
TEST(StoreNoMemoryForAnAnswer, TheWriteIsThereAndOk) {
  const TempDir dir;
  std::unique_ptr<Store> store;
  ASSERT_THAT(Store::Open({}, dir.File("db"), {{"f", {}}}, &store), IsOk());
  const auto append = [&](std::string* joined) {
    return store->Append("r", "f", "q", kLong, joined).ok();
  };
  ASSERT_TRUE(append(nullptr) && append(nullptr));
  size_t calls = 0;
  {
    const FailingNew none(1000, FailingNew::For::kOneCall);
    ASSERT_TRUE(append(nullptr));
    calls = none.Calls();
  }
  std::string joined;
  bool is_there = false;
  {
    const FailingNew after_the_write(calls, FailingNew::For::kOneCall);
    is_there = append(&joined);
  }
  EXPECT_TRUE(is_there);
  EXPECT_EQ(joined.size(), 4 * kLong.size());
}

// The mark of a load, which stands before the change, is not lost.
TEST(StoreNoMemoryForAChange, TheLoadBeforeItIsNotPassedOver) {
  const TempDir dir;
  const std::string path = dir.File("db");
  const StoreOptions options = {.kept_log_seconds = 3600};
  auto store = OpenOrFail(options, path, {{"f", {}}});
  ASSERT_THAT(store->Put("a", "f", "q", kLong), IsOk());
  store.reset();
  {
    Database database;
    rocksdb::DBOptions raw;
    raw.avoid_flush_during_recovery = true;
    raw.WAL_ttl_seconds = options.kept_log_seconds;
    ASSERT_NO_FATAL_FAILURE(OpenRaw(path, &database, raw));
    const ColumnFamily family = database.Find("f");
    const std::unique_ptr<rocksdb::Iterator> cell(
        database->NewIterator({}, family.get()));
    cell->SeekToFirst();
    ASSERT_TRUE(cell->Valid());
    rocksdb::WriteBatch mark;
    MarkLoad("f", 1, &mark);
    ASSERT_THAT(database->Write({}, &mark), IsOk());
    ASSERT_THAT(database->Put({}, family.get(), cell->key().ToString() + kLong,
                              cell->value()),
                IsOk());
  }
  store = OpenOrFail(options, path, {});
  std::unique_ptr<ChangeStream> stream;
  WithEachFailure(FailingNew::For::kOneCall, [&](Attempt* attempt) {
    ASSERT_THAT(store->GetUpdatesSince(0, &stream), IsOk());
    while (stream->change().kind != ChangeKind::kCell) stream->Next();
    attempt->Begin();
    stream->Next();
    attempt->End();
    if (!stream->status().ok()) {
      ASSERT_THAT(store->GetUpdatesSince(stream->number(), &stream), IsOk());
    }
    ASSERT_TRUE(stream->Valid());
    ASSERT_EQ(stream->change().kind, ChangeKind::kBulkLoad);
  });
}

}  // namespace
}  // namespace rowbloom::test
