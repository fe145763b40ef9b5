// A database of four files that rowbloom filters, for tests of one feature of
// RocksDB each.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test {

inline const KeyLayout kLayout = KeyLayout::Delimited(':');
inline constexpr int kFiles = 4;
inline constexpr int kRows = 200;

inline std::string Row(int row) {
  return "row" + std::to_string(1000 + row) + ":";
}
inline std::string Key(int row, const std::string& column) {
  return Row(row) + column;
}

class Features : public testing::Test {
 protected:
  Features() : policy_(MakeFilterPolicy({.key_layout = kLayout})) {}

  rocksdb::Options Options(bool partitioned = false) {
    return TestDbOptions(
        {policy_, NewRowPrefixExtractor(kLayout), partitioned});
  }
  rocksdb::BlockBasedTableOptions* Table(rocksdb::Options* options) {
    return options->table_factory
        ->GetOptions<rocksdb::BlockBasedTableOptions>();
  }
  void Open(const rocksdb::Options& options) {
    db_.reset();
    db_ = OpenDb(options, dir_.File("db"));
  }
  // Four files whose ranges overlap: every fourth row in each, columns a and b.
  void WriteFiles() {
    for (int file = 0; file < kFiles; ++file) {
      for (int row = file; row < kRows; row += kFiles) {
        ExpectOk(db_->Put({}, Key(row, "a"), "a" + std::to_string(row)));
        ExpectOk(db_->Put({}, Key(row, "b"), "b" + std::to_string(row)));
      }
      ExpectOk(db_->Flush({}));
    }
  }
  // Every cell is found, and reads of absent ones skip files by both sections.
  void ExpectCellsAndSkips(rocksdb::DB* db) {
    std::string value;
    const FilterStats before = StatsOf(*policy_);
    for (int row = 0; row < kRows; ++row) {
      ExpectOk(db->Get({}, Key(row, "a"), &value));
      EXPECT_EQ(value, "a" + std::to_string(row));
      EXPECT_TRUE(db->Get({}, Key(row, "absent"), &value).IsNotFound());
      EXPECT_EQ(CellsInRow(db, row), 2) << row;
    }
    const FilterStats after = StatsOf(*policy_);
    EXPECT_GT(after.row.skipped, before.row.skipped + kRows);
    EXPECT_GT(after.row_col.skipped, before.row_col.skipped + kRows / 2);
  }
  static int CellsInRow(rocksdb::DB* db, int row) {
    rocksdb::ReadOptions scan;
    scan.prefix_same_as_start = true;
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(scan));
    int cells = 0;
    for (it->Seek(Row(row)); it->Valid(); it->Next()) ++cells;
    ExpectOk(it->status());
    return cells;
  }

  TempDir dir_;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace rowbloom::test
