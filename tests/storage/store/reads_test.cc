// Reads of rows, ranges and many cells: what they give. versions_model_test.cc
// has the combinations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <thread>
#include <utility>
#include <vector>

#include "rocksdb/env.h"
#include "tests/storage/store/test_store.h"
#include "tests/support/calling_file_system.h"
#include "tests/support/owned_address.h"
#include "tests/support/random.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test {
namespace {

using rocksdb::Status;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

static_assert(std::ranges::input_range<RowScanner>);
static_assert(std::input_iterator<RowScanner::Iterator>);

std::vector<std::string> Columns(const std::vector<Cell>& cells) {
  std::vector<std::string> columns;
  for (const Cell& cell : cells) {
    columns.push_back(cell.family + ":" + cell.qualifier);
  }
  return columns;
}

class Reads : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenOrFail({}, dir_.File("db"), {{"a", {}}, {"b", {}}});
    WriteBatch batch;
    for (const char* row : {"a", "b", "ba", "bb", "c"}) {
      batch.Put(row, "a", "q", "v");
    }
    batch.Put("bc", "b", "q", "v");
    for (const char* qualifier : {"", "x1", "x2", "y"}) {
      batch.Put("wide", "a", qualifier, "v");
      batch.Put("wide", "b", qualifier, "v");
    }
    ASSERT_THAT(store_->Write(batch), IsOk());
  }
  std::vector<std::string> Scan(const ScanOptions& options) {
    std::vector<std::string> names;
    for (const Row& row : RowsOf(*store_, options)) names.push_back(row.row);
    return names;
  }
  std::vector<std::string> Wide(const RowOptions& options) {
    return Columns(GetRowOf(*store_, "wide", options));
  }

  TempDir dir_;
  std::unique_ptr<Store> store_;
};

// Calls a function when its thread ends.
struct AtThreadEnd {
  ~AtThreadEnd() { call(); }

  std::function<void()> call;
};

// Memory that the end of the thread has freed belongs to others by then.
TEST_F(Reads, ObjectsOfAThreadThatEndsMayRead) {
  const std::string row(100, 'r');
  ASSERT_THAT(store_->Put(row, "a", "q", "v"), IsOk());
  std::thread([this, &row] {
    thread_local AtThreadEnd end;  // made before the first read, so gone last
    end.call = [this, &row] {
      std::vector<std::string> others;
      for (int i = 0; i < 16; ++i) others.emplace_back(200, 'x');
      EXPECT_EQ(ValueOf(*store_, row, "a", "q"), "v");
      EXPECT_THAT(others, Each(std::string(200, 'x')));
    };
    EXPECT_EQ(ValueOf(*store_, row, "a", "q"), "v");
  }).join();
}

// Keys around 256 bytes are where they take memory from the heap.
TEST_F(Reads, KeysOfAnyLengthAreFound) {
  const auto store = OpenOrFail({}, dir_.File("long"),
                                {{"l", {}}, {"v", {.max_versions = 2}}});
  std::vector<OwnedAddress> addresses;
  WriteBatch batch;
  for (const size_t row_bytes : {1, 200, 250, 253, 254, 255, 256, 32767}) {
    for (const bool escapes : {false, true}) {
      std::string row(row_bytes, 'r');
      if (escapes) row[row_bytes / 2] = '\0';
      for (const size_t qualifier_bytes : {0, 1, 2, 3, 4, 5, 54, 300}) {
        for (const char* family : {"l", "v"}) {
          addresses.push_back({row, family, std::string(qualifier_bytes, 'q')});
          const auto& [r, f, q] = addresses.back();
          batch.Put(r, f, q, std::to_string(addresses.size()));
        }
      }
    }
  }
  ASSERT_THAT(store->Write(batch), IsOk());
  ASSERT_THAT(store->Flush(), IsOk());
  std::vector<std::vector<Cell>> cells;
  ASSERT_THAT(store->MultiGet(ViewsOf(addresses), &cells), IsOk());
  for (size_t i = 0; i < addresses.size(); ++i) {
    const auto& [row, family, qualifier] = addresses[i];
    SCOPED_TRACE(std::to_string(row.size()) + " + " +
                 std::to_string(qualifier.size()) + " bytes in " + family);
    const std::string expected = std::to_string(i + 1);
    EXPECT_EQ(ValueOf(*store, row, family, qualifier), expected);
    ASSERT_EQ(cells[i].size(), 1u);
    EXPECT_EQ(cells[i][0].value, expected);
    EXPECT_EQ(ValueOf(*store, row, family, qualifier + "x"), std::nullopt);
  }
}

TEST_F(Reads, ScanGivesRowsInOrder) {
  EXPECT_THAT(Scan({}), ElementsAre("a", "b", "ba", "bb", "bc", "c", "wide"));
  EXPECT_THAT(Scan({.reverse = true}),
              ElementsAre("wide", "c", "bc", "bb", "ba", "b", "a"));
  EXPECT_THAT(Scan({.start_row = "b", .stop_row = "bc"}),
              ElementsAre("b", "ba", "bb"));
  EXPECT_THAT(Scan({.start_row = "b0", .stop_row = "bc", .reverse = true}),
              ElementsAre("bb", "ba"));
  EXPECT_THAT(Scan({.row_prefix = "b"}), ElementsAre("b", "ba", "bb", "bc"));
  EXPECT_THAT(Scan({.start_row = "bb", .row_prefix = "b"}),
              ElementsAre("bb", "bc"));
  EXPECT_THAT(Scan({.row_prefix = "b", .limit = 2}), ElementsAre("b", "ba"));
  EXPECT_THAT(Scan({.limit = 2, .reverse = true}), ElementsAre("wide", "c"));
  EXPECT_THAT(Scan({.limit = 0}), IsEmpty());
  EXPECT_THAT(Scan({.start_row = "c", .stop_row = "b"}), IsEmpty());
  EXPECT_THAT(Scan({.row_prefix = "d"}), IsEmpty());
  EXPECT_THAT(Scan({.row = {.columns = {{"b"}}}}), ElementsAre("bc", "wide"));
  EXPECT_THAT(Scan({.row = {.columns = {{"a", "x1"}, {"b", "q"}}}}),
              ElementsAre("bc", "wide"));
}

TEST_F(Reads, AScanKeepsNoMemoryOfLargeCellsOfEarlierRows) {
  constexpr size_t kLarge = size_t{1} << 18;
  constexpr int kRows = 8;
  for (int row = 0; row < kRows; ++row) {
    WriteBatch batch;
    for (int column = 0; column < kRows; ++column) {
      const size_t bytes = column == row ? kLarge : 1;
      batch.Put("large" + std::to_string(row), "a",
                std::to_string(column) + std::string(bytes - 1, 'q'),
                std::string(bytes, 'v'));
    }
    ASSERT_THAT(store_->Write(batch), IsOk());
  }
  int rows = 0;
  RowScanner large = ScanOf(*store_, {.row_prefix = "large"});
  for (const Row& row : large) {
    size_t kept = 0;
    for (const Cell& cell : row.cells) {
      kept += cell.qualifier.capacity() + cell.value.capacity();
    }
    EXPECT_LE(kept, 3 * kLarge) << row.row;
    ++rows;
  }
  EXPECT_THAT(large.status(), IsOk());
  EXPECT_EQ(rows, kRows);
}

TEST_F(Reads, ScanIsARangeOfTheMomentItBegan) {
  RowScanner rows = ScanOf(*store_, {.row_prefix = "b"});
  ASSERT_THAT(store_->DeleteRow("ba"), IsOk());
  ASSERT_THAT(store_->Put("b0", "a", "q", "v"), IsOk());
  const RowScanner::Iterator first = rows.begin();
  RowScanner moved = std::move(rows);
  EXPECT_TRUE(first == std::default_sentinel);  // `rows` has no rows now
  std::string names;
  std::ranges::for_each(moved,
                        [&names](const Row& row) { names += row.row + " "; });
  EXPECT_EQ(names, "b ba bb bc ");
  // It is over, and stays so.
  EXPECT_TRUE(moved.begin() == moved.end());
}

TEST_F(Reads, RowOptionsChooseColumns) {
  EXPECT_THAT(Wide({.columns = {{"b"}}}),
              ElementsAre("b:", "b:x1", "b:x2", "b:y"));
  EXPECT_THAT(
      Wide({.columns = {{"b", "y"}, {"a", ""}, {"a", "no"}, {"a", ""}}}),
      ElementsAre("a:", "b:y"));
  EXPECT_THAT(Wide({.columns = {{"b", "y"}, {"a"}, {"a", "x1"}}}),
              ElementsAre("a:", "a:x1", "a:x2", "a:y", "b:y"));
  EXPECT_THAT(Wide({.qualifier_prefix = "x"}),
              ElementsAre("a:x1", "a:x2", "b:x1", "b:x2"));
  EXPECT_THAT(Wide({.column_offset = 3, .column_limit = 2}),
              ElementsAre("a:y", "b:"));
  EXPECT_THAT(Wide({.column_limit = 0}), IsEmpty());
  EXPECT_THAT(Wide({.column_offset = 8}), IsEmpty());
}

TEST_F(Reads, MultiGetAnswersInTheOrderOfTheQuestion) {
  const std::vector<CellAddress> addresses = {
      {"c", "a", "q"}, {"no", "a", "q"}, {"wide", "b", ""}, {"c", "a", "q"}};
  std::vector<std::vector<Cell>> cells;
  ASSERT_THAT(store_->MultiGet(addresses, &cells), IsOk());
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(Columns(cells[0]), std::vector<std::string>{"a:q"});
  EXPECT_THAT(cells[1], IsEmpty());
  EXPECT_EQ(Columns(cells[2]), std::vector<std::string>{"b:"});
  EXPECT_EQ(cells[3], cells[0]);
  ASSERT_THAT(store_->MultiGet({}, &cells), IsOk());
  EXPECT_THAT(cells, IsEmpty());
  EXPECT_THAT(
      store_->MultiGet(std::vector<CellAddress>{{"c", "z", "q"}}, &cells),
      StatusIs(Status::kInvalidArgument, HasSubstr("family \"z\"")));
}

// Its numbers and its families mean something else there.
TEST_F(Reads, SnapshotOfAnotherStoreIsRefused) {
  const auto other = OpenOrFail({}, dir_.File("other"), {{"a", {}}});
  auto taken = SnapshotOf(*other);
  const Snapshot* const snapshot = taken.get();
  const auto is_refused =
      StatusIs(Status::kInvalidArgument, HasSubstr("of another store"));
  std::optional<std::string> value;
  EXPECT_THAT(store_->Get("a", "a", "q", &value, {.snapshot = snapshot}),
              is_refused);
  std::vector<Cell> cells;
  EXPECT_THAT(
      store_->GetVersions("a", "a", "q", &cells, {.snapshot = snapshot}),
      is_refused);
  EXPECT_THAT(store_->GetRow("a", &cells, {.snapshot = snapshot}), is_refused);
  RowScanner rows;
  EXPECT_THAT(store_->Scan({.row = {.snapshot = snapshot}}, &rows), is_refused);
  ScanCounts counts;
  EXPECT_THAT(store_->Count({.row = {.snapshot = snapshot}}, &counts),
              is_refused);
  std::unique_ptr<CellIterator> iterator;
  EXPECT_THAT(
      store_->NewCellIterator({.family = "a", .snapshot = snapshot}, &iterator),
      is_refused);
}

// A removal takes a version together with the delete that hides it. A read that
// looked the version up before, and the delete after it, would show it.
TEST(ReadsBesideARemoval, DoNotShowWhatADeleteHid) {
  const TempDir dir;
  const auto store = OpenOrFail({}, dir.File("db"),
                                {{"f", {.timestamps = Timestamps::kClient}}});
  std::atomic<bool> done{false};
  std::atomic<int> reads{0};
  std::atomic<int> shown{0};
  std::thread reader([&] {
    std::optional<std::string> value;
    while (!done) {
      EXPECT_THAT(store->Get("r", "f", "q", &value), IsOk());
      ++reads;
      shown += value.has_value();
    }
  });
  EXPECT_TRUE(WaitFor([&reads] { return reads > 0; }));
  WriteBatch hidden;
  hidden.Put("r", "f", "q", "deleted", 10);
  hidden.DeleteFamily("r", "f", kMaxTimestampMs);
  for (uint64_t i = 0; i < Scaled(2000); ++i) {
    EXPECT_THAT(store->Write(hidden), IsOk());
    EXPECT_THAT(store->Write(Change{ChangeType::kRemoveFamily, "r", "f"}),
                IsOk());
  }
  done = true;
  reader.join();
  EXPECT_EQ(shown, 0);
}

// Under a shorter TTL, compactions remove a version and then the delete that
// hides it. A read that began under the longer one would show it.
TEST(ReadsBesideAnAlteration, DoNotShowWhatADeleteHid) {
  constexpr uint64_t kNowMs = 1'700'000'000'000;
  for (const bool in_transaction : {false, true}) {
    SCOPED_TRACE(in_transaction);
    const TempDir dir;
    const auto files = std::make_shared<CallingFileSystem>();
    const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
    FamilyOptions family = {.timestamps = Timestamps::kClient};
    const auto store =
        OpenOrFail({.front_filter_limit_bytes = 0,
                    .auto_compaction = false,
                    .transactions = true,
                    .env = env.get()},
                   dir.File("db"), {{"f", family}}, [] { return kNowMs; });
    ASSERT_THAT(
        store->Put("r", "f", "q", "deleted", {.timestamp_ms = kNowMs - 3000}),
        IsOk());
    ASSERT_THAT(store->Flush(), IsOk());
    ASSERT_THAT(store->DeleteFamily("r", "f", {.timestamp_ms = kNowMs - 2000}),
                IsOk());
    ASSERT_THAT(store->Flush(), IsOk());
    std::unique_ptr<Transaction> transaction;
    if (in_transaction) {
      ASSERT_THAT(store->Begin(&transaction), IsOk());
    }
    family.ttl_ms = 1000;
    files->On(FileCall::kRead, [&](const std::string& /*path*/) {
      files->Off(FileCall::kRead);
      std::thread([&] {
        EXPECT_THAT(store->AlterFamily("f", family), IsOk());
        for (int i = 0; i < 2; ++i) {
          EXPECT_THAT(store->Compact(), IsOk());
        }
      }).join();
    });
    std::optional<std::string> value;
    EXPECT_THAT(in_transaction ? transaction->Get("r", "f", "q", &value)
                               : store->Get("r", "f", "q", &value),
                IsOk());
    EXPECT_EQ(value, std::nullopt);
    // The transaction's snapshot keeps the delete.
    EXPECT_EQ(StoreStatsOf(*store).families["f"].files,
              in_transaction ? 1u : 0u);
  }
}

// A lease is given once the one before it has expired. The clock gives the next
// lease right after it was read.
TEST(ReadsBesideALease, ShowOneLeaseAtATime) {
  constexpr uint64_t kLeaseMs = 10;
  const TempDir dir;
  uint64_t now_ms = 1'700'000'000'000;
  std::function<void()> after_a_look;
  const auto store =
      OpenOrFail({}, dir.File("db"), {{"f", {}}, {"g", {}}}, [&] {
        const uint64_t read_ms = now_ms;
        if (const auto act = std::exchange(after_a_look, nullptr)) act();
        return read_ms;
      });
  const CellAddress leases[] = {{"r", "f", "1"}, {"r", "f", "2"}};
  RowOptions of_family;
  of_family.columns = {{"f", std::nullopt}};
  RowOptions of_columns;
  of_columns.columns = {{"f", "1"}, {"f", "2"}};
  RowOptions from_end = of_family;
  from_end.columns_from_end = true;
  std::vector<std::function<size_t()>> reads;
  for (const RowOptions& options :
       {RowOptions(), of_family, of_columns, from_end}) {
    reads.emplace_back(
        [&store, options] { return GetRowOf(*store, "r", options).size(); });
    reads.emplace_back([&store, options] {
      ScanCounts counts;
      EXPECT_THAT(store->Count({.row = options}, &counts), IsOk());
      return counts.cells;
    });
  }
  reads.emplace_back([&] {
    std::vector<std::vector<Cell>> cells;
    EXPECT_THAT(store->MultiGet(leases, &cells), IsOk());
    return cells[0].size() + cells[1].size();
  });
  reads.emplace_back([&] {
    std::unique_ptr<CellIterator> cells;
    EXPECT_THAT(store->NewCellIterator({.family = "f"}, &cells), IsOk());
    size_t count = 0;
    for (; cells->Valid(); cells->Next()) ++count;
    return count;
  });
  for (const auto& read : reads) {
    ASSERT_THAT(store->Delete("r", "f", "2"), IsOk());
    now_ms += 1000;
    ASSERT_THAT(store->Put("r", "f", "1", "v", {.ttl_ms = kLeaseMs}), IsOk());
    now_ms += kLeaseMs;  // the last one at which it is shown
    after_a_look = [&] {
      ++now_ms;
      WriteBatch next;
      next.Put("r", "f", "2", "v");
      const Condition expired = Condition::Equal("f", "1", std::nullopt);
      bool applied = false;
      EXPECT_THAT(store->CheckAndWrite("r", {&expired, 1}, next, &applied),
                  IsOk());
      EXPECT_TRUE(applied);
    };
    EXPECT_EQ(read(), 1u) << &read - reads.data();
    EXPECT_EQ(after_a_look, nullptr);
  }
}

// The first put of a store that has a TTL has run out before it is written.
TEST(ReadsBesideTheFirstTtl, DoNotShowWhatHasRunOut) {
  constexpr int kStores = 12;
  std::atomic<int> reads{0};
  std::atomic<int> wrong{0};
  for (int i = 0; i < kStores; ++i) {
    const TempDir dir;
    const auto store = OpenOrFail(
        {.front_filter_limit_bytes = 0}, dir.File("db"),
        {{"f", {.timestamps = Timestamps::kClient, .max_versions = 2}}});
    ASSERT_THAT(store->Put("r", "f", "q", "good", {.timestamp_ms = 10}),
                IsOk());
    std::atomic<bool> done{false};
    std::vector<std::thread> readers;
    for (int thread = 0; thread < 8; ++thread) {
      readers.emplace_back([&] {
        std::vector<Cell> cells;
        while (!done) {
          EXPECT_THAT(store->GetRow("r", &cells), IsOk());
          ++reads;
          wrong += cells.size() != 1 || cells[0].value != "good";
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_THAT(
        store->Put("r", "f", "q", "run out", {.timestamp_ms = 20, .ttl_ms = 5}),
        IsOk());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    done = true;
    for (std::thread& reader : readers) reader.join();
  }
  EXPECT_GT(reads, kStores);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace rowbloom::test
