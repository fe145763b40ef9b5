// Reads and writes of an application with rowbloom's filters: answers are
// right, and counters show that the filters were probed. Iterators, table
// options and filter construction have test files of their own.
#include "tests/storage/filter_policy/features.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "rocksdb/wide_columns.h"

namespace rowbloom::features_test {
namespace {

using rocksdb::Slice;
using test::AbsentRow;
using test::ExpectOk;
using test::Features;
using test::Key;
using test::kFiles;
using test::kRows;
using test::MultiGet;
using test::Row;
using test::StatsOf;
using test::TempDir;

TEST_F(Features, MultiGetOfAnAbsentRowSkipsEveryFile) {
  Open(Options());
  WriteFiles();
  // An absent row within the range of every file.
  std::vector<std::string> keys;
  for (int column = 0; column < 10; ++column) {
    keys.push_back("row1100x:" + std::to_string(column));
  }
  std::vector<std::string> values;
  const FilterStats before = StatsOf(*policy_);
  for (const auto& status : MultiGet(db_.get(), keys, &values)) {
    EXPECT_TRUE(status.IsNotFound());
  }
  const FilterStats after = StatsOf(*policy_);
  EXPECT_EQ(after.asked - before.asked, keys.size() * kFiles);
  EXPECT_EQ(after.row.skipped - before.row.skipped, keys.size() * kFiles);
}

TEST_F(Features, DeletedRangesStayDeletedWhereFiltersSkip) {
  Open(Options());
  WriteFiles();
  // The tombstone lies in a file without a key of the row.
  ExpectOk(db_->DeleteRange({}, db_->DefaultColumnFamily(), Row(7),
                            Row(7) + "\xff"));
  ExpectOk(db_->Flush({}));
  const FilterStats before = StatsOf(*policy_);
  std::string value;
  EXPECT_TRUE(db_->Get({}, Key(7, "a"), &value).IsNotFound());
  EXPECT_EQ(CellsOf(Row(7)), 0);
  EXPECT_EQ(CellsOf(Row(8)), 2);
  EXPECT_GT(StatsOf(*policy_).row.skipped, before.row.skipped);
  ExpectOk(db_->Put({}, Key(7, "c"), "new"));
  EXPECT_EQ(CellsOf(Row(7)), 1);
}

TEST_F(Features, SingleDeletesAndTombstonesAreFound) {
  Open(Options());
  WriteFiles();
  ExpectOk(db_->SingleDelete({}, Key(3, "a")));
  ExpectOk(db_->Delete({}, Key(3, "b")));
  ExpectOk(db_->Flush({}));
  const FilterStats before = StatsOf(*policy_);
  std::string value;
  EXPECT_TRUE(db_->Get({}, Key(3, "a"), &value).IsNotFound());
  EXPECT_TRUE(db_->Get({}, Key(3, "b"), &value).IsNotFound());
  EXPECT_EQ(CellsOf(Row(3)), 0);
  EXPECT_GT(StatsOf(*policy_).may_match, before.may_match);
}

// Joins operands with a comma.
class Append : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value,
             std::string* result, rocksdb::Logger*) const override {
    *result = existing == nullptr
                  ? value.ToString()
                  : existing->ToString() + "," + value.ToString();
    return true;
  }
  const char* Name() const override { return "test.Append"; }
};

TEST_F(Features, MergeOperandsOfSeveralFilesAreAllFound) {
  rocksdb::Options options = Options();
  options.merge_operator = std::make_shared<Append>();
  Open(options);
  for (int file = 0; file < kFiles; ++file) {
    for (int row = 0; row < 50; ++row) {
      if (row % kFiles == file) continue;  // each row lacks one file
      ExpectOk(db_->Merge({}, Key(row, "m"), std::to_string(file)));
    }
    ExpectOk(db_->Flush({}));
  }
  const FilterStats before = StatsOf(*policy_);
  for (int row = 0; row < 50; ++row) {
    std::string expected;
    for (int file = 0; file < kFiles; ++file) {
      if (row % kFiles == file) continue;
      expected += (expected.empty() ? "" : ",") + std::to_string(file);
    }
    std::string value;
    ExpectOk(db_->Get({}, Key(row, "m"), &value));
    EXPECT_EQ(value, expected);
  }
  EXPECT_GT(StatsOf(*policy_).row.skipped - before.row.skipped, 40u);
}

TEST_F(Features, MultiGetAnswersAndSkipsAsSingleGets) {
  for (const bool partitioned : {false, true}) {
    SCOPED_TRACE(partitioned);
    Remove();
    Open(Options(partitioned));
    WriteFiles();
    // Present cells, absent columns, absent rows; several of a row, some twice.
    std::vector<std::string> keys;
    for (int row = 0; row < kRows; row += 3) {
      for (const char* column : {"a", "absent", "b", "", "b"}) {
        keys.push_back(Key(row, column));
      }
      keys.push_back(AbsentRow(row) + "a");
      keys.push_back(AbsentRow(row) + "b");
    }
    std::vector<std::string> values;
    const FilterStats before = StatsOf(*policy_);
    const auto statuses = MultiGet(db_.get(), keys, &values);
    const FilterStats batch = StatsOf(*policy_);
    for (size_t i = 0; i < keys.size(); ++i) {
      std::string value;
      const rocksdb::Status status = db_->Get({}, keys[i], &value);
      EXPECT_EQ(status.code(), statuses[i].code()) << keys[i];
      if (status.ok()) {
        EXPECT_EQ(values[i], value) << keys[i];
      }
    }
    const FilterStats single = StatsOf(*policy_);
    EXPECT_EQ(batch.asked - before.asked, single.asked - batch.asked);
    EXPECT_EQ(batch.row.skipped - before.row.skipped,
              single.row.skipped - batch.row.skipped);
    EXPECT_EQ(batch.row_col.skipped - before.row_col.skipped,
              single.row_col.skipped - batch.row_col.skipped);
    EXPECT_GT(batch.row.skipped - before.row.skipped, keys.size());
    EXPECT_GT(batch.row_col.skipped - before.row_col.skipped, 60u);
  }
}

// RocksDB's own counters count rowbloom's answers, too.
TEST_F(Features, StatisticsOfRocksdbCountGets) {
  Open(Options());
  WriteFiles();
  const FilterStats before = StatsOf(*policy_);
  std::string value;
  for (int row = 0; row < kRows; ++row) {
    ExpectOk(db_->Get({}, Key(row, "a"), &value));
    EXPECT_TRUE(db_->Get({}, Key(row, "absent"), &value).IsNotFound());
  }
  const FilterStats after = StatsOf(*policy_);
  EXPECT_GT(Ticker(rocksdb::BLOOM_FILTER_USEFUL), uint64_t{kRows});
  EXPECT_EQ(Ticker(rocksdb::BLOOM_FILTER_USEFUL),
            after.row.skipped - before.row.skipped + after.row_col.skipped -
                before.row_col.skipped);
  EXPECT_EQ(Ticker(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE), uint64_t{kRows});
  EXPECT_EQ(Ticker(rocksdb::BLOOM_FILTER_FULL_POSITIVE),
            after.may_match - before.may_match);
}

TEST_F(Features, StatisticsOfRocksdbCountScans) {
  Open(Options());
  WriteFiles();
  const FilterStats before = StatsOf(*policy_);
  for (int row = 0; row < kRows; ++row) {
    EXPECT_EQ(CellsOf(Row(row)), 2);
  }
  const FilterStats after = StatsOf(*policy_);
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 803
  const uint64_t filtered = Ticker(rocksdb::NON_LAST_LEVEL_SEEK_FILTERED) +
                            Ticker(rocksdb::LAST_LEVEL_SEEK_FILTERED);
#else
  const uint64_t filtered = Ticker(rocksdb::BLOOM_FILTER_PREFIX_USEFUL);
#endif
  EXPECT_EQ(filtered, after.row.skipped - before.row.skipped);
  EXPECT_GT(filtered, 2u * kRows);
}

TEST_F(Features, BatchesAndTransactionsReadTheBaseThroughFilters) {
  // Rows of the oldest file, which is probed last.
  TempDir dir;
  rocksdb::TransactionDB* opened = nullptr;
  ExpectOk(rocksdb::TransactionDB::Open(
      Options(), rocksdb::TransactionDBOptions(), dir.File("db"), &opened));
  db_.reset(opened);
  WriteFiles();
  const auto same = test::SamePrefix();
  const auto cells = [](rocksdb::Iterator* owned, const std::string& row) {
    const std::unique_ptr<rocksdb::Iterator> it(owned);
    int count = 0;
    for (it->Seek(row); it->Valid() && it->key().starts_with(row); it->Next()) {
      ++count;
    }
    ExpectOk(it->status());
    return count;
  };
  std::string value;
  {
    rocksdb::WriteBatchWithIndex batch;
    ExpectOk(batch.Put(Key(8, "c"), "new"));
    ExpectOk(batch.Delete(Key(8, "a")));
    const FilterStats before = StatsOf(*policy_);
    ExpectOk(batch.GetFromBatchAndDB(db_.get(), {}, Key(8, "b"), &value));
    ExpectOk(batch.GetFromBatchAndDB(db_.get(), {}, Key(8, "c"), &value));
    EXPECT_TRUE(batch.GetFromBatchAndDB(db_.get(), {}, Key(8, "a"), &value)
                    .IsNotFound());
    EXPECT_TRUE(batch.GetFromBatchAndDB(db_.get(), {}, "row1100x:a", &value)
                    .IsNotFound());
    EXPECT_EQ(cells(batch.NewIteratorWithBase(db_->NewIterator(same)), Row(8)),
              2);
    EXPECT_EQ(StatsOf(*policy_).row.skipped - before.row.skipped,
              kFiles - 1u + kFiles + kFiles - 1u);
  }
  {
    const std::unique_ptr<rocksdb::Transaction> transaction(
        opened->BeginTransaction({}));
    ExpectOk(transaction->Put(Key(12, "c"), "new"));
    const FilterStats before = StatsOf(*policy_);
    ExpectOk(transaction->Get({}, Key(12, "b"), &value));
    ExpectOk(transaction->GetForUpdate({}, Key(16, "b"), &value));
    EXPECT_TRUE(transaction->Get({}, "row1100x:a", &value).IsNotFound());
    EXPECT_EQ(cells(transaction->GetIterator(same), Row(12)), 3);
    EXPECT_GE(StatsOf(*policy_).row.skipped - before.row.skipped,
              3 * (kFiles - 1u) + kFiles);
    ExpectOk(transaction->Commit());
  }
  EXPECT_EQ(CellsOf(Row(12)), 3);
}

// A wide-column entity is one key: its columns are not in the filter.
TEST_F(Features, EntitiesAreFilteredByTheirKey) {
  Open(Options());
  for (int file = 0; file < kFiles; ++file) {
    for (int row = file; row < kRows; row += kFiles) {
      ExpectOk(db_->PutEntity({}, db_->DefaultColumnFamily(), Key(row, "a"),
                              {{"x", "1"}, {"y", std::to_string(row)}}));
    }
    ExpectOk(db_->Flush({}));
  }
  const FilterStats before = StatsOf(*policy_);
  for (int row = 0; row < kRows; ++row) {
    rocksdb::PinnableWideColumns columns;
    ExpectOk(db_->GetEntity({}, db_->DefaultColumnFamily(), Key(row, "a"),
                            &columns));
    const std::string y = std::to_string(row);
    const rocksdb::WideColumns expected = {{"x", "1"}, {"y", y}};
    EXPECT_EQ(columns.columns(), expected);
    EXPECT_TRUE(
        db_->GetEntity({}, db_->DefaultColumnFamily(), Key(row, "x"), &columns)
            .IsNotFound());
  }
  const FilterStats after = StatsOf(*policy_);
  EXPECT_GT(after.row.skipped - before.row.skipped, uint64_t{kRows});
  EXPECT_GT(after.row_col.skipped - before.row_col.skipped, kRows * 9u / 10);
}

TEST_F(Features, UserDefinedTimestampsAreNoPartOfTheKey) {
  rocksdb::Options options = Options();
  ExpectOk(rocksdb::Comparator::CreateFromString(
      {}, "leveldb.BytewiseComparator.u64ts", &options.comparator));
  Open(options);
  const auto timestamp = [](uint64_t time) {
    std::string bytes(8, '\0');
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(time >> (8 * i));
    return bytes;
  };
  for (int file = 0; file < kFiles; ++file) {
    for (int row = file; row < kRows; row += kFiles) {
      ExpectOk(db_->Put({}, Key(row, "a"), timestamp(10 + file), "v"));
    }
    ExpectOk(db_->Flush({}));
  }
  const std::string now = timestamp(100);
  const Slice now_slice(now);
  rocksdb::ReadOptions read;
  read.timestamp = &now_slice;
  const FilterStats before = StatsOf(*policy_);
  std::string value;
  for (int row = 0; row < kRows; ++row) {
    ExpectOk(db_->Get(read, Key(row, "a"), &value));
    EXPECT_TRUE(db_->Get(read, Key(row, "b"), &value).IsNotFound());
    rocksdb::ReadOptions scan = read;
    scan.prefix_same_as_start = true;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(scan));
    it->Seek(Row(row));
    EXPECT_TRUE(it->Valid());
  }
  const FilterStats after = StatsOf(*policy_);
  EXPECT_GT(after.row.skipped - before.row.skipped, uint64_t{kRows});
  EXPECT_GT(after.row_col.skipped - before.row_col.skipped, kRows * 9u / 10);
}

TEST_F(Features, OddKeysAreKept) {
  for (const bool partitioned : {false, true}) {
    Remove();
    Open(Options(partitioned));
    const std::vector<std::string> keys = {
        "",              // outside the layout
        ":",             // an empty row, bare
        ":column",       // a column of the empty row
        "no delimiter",  // outside the layout
        std::string(64 << 10, 'r') + ":column",
        std::string(64 << 10, 'r') + ":",
        "row:" + std::string(64 << 10, 'c')};
    for (const std::string& key : keys) {
      ExpectOk(db_->Put({}, key, "v"));
      ExpectOk(db_->Flush({}));
    }
    std::string value;
    for (const std::string& key : keys) {
      const uint64_t before = StatsOf(*policy_).may_match;
      ExpectOk(db_->Get({}, key, &value));
      EXPECT_GT(StatsOf(*policy_).may_match, before);
      EXPECT_TRUE(db_->Get({}, key.substr(0, key.size() / 2) + "|", &value)
                      .IsNotFound());
    }
    rocksdb::ReadOptions scan;
    scan.total_order_seek = true;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(scan));
    size_t found = 0;
    for (it->Seek(""); it->Valid(); it->Next()) ++found;
    EXPECT_EQ(found, keys.size());
  }
}

}  // namespace
}  // namespace rowbloom::features_test
