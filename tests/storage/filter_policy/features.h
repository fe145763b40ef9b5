// A database of four files that rowbloom filters, for tests of one feature of
// RocksDB each.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/storage/filter_policy/filtered_db.h"

namespace rowbloom::test {

inline constexpr int kFiles = 4;
inline constexpr int kRows = 200;

class Features : public FilteredDb {
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
  void WriteFiles() { Write({.end = kRows, .files = kFiles}); }
  // Every cell is found, and reads of absent ones skip files by both sections.
  void ExpectCellsAndSkips(rocksdb::DB* db) {
    std::string value;
    const FilterStats before = StatsOf(*policy_);
    for (int row = 0; row < kRows; ++row) {
      ExpectOk(db->Get({}, Key(row, "a"), &value));
      EXPECT_EQ(value, "a" + std::to_string(row));
      EXPECT_TRUE(db->Get({}, Key(row, "absent"), &value).IsNotFound());
      EXPECT_EQ(CellsOf(db, Row(row)), 2) << row;
    }
    const FilterStats after = StatsOf(*policy_);
    EXPECT_GT(after.row.skipped, before.row.skipped + kRows);
    EXPECT_GT(after.row_col.skipped, before.row_col.skipped + kRows / 2);
  }

  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
};

}  // namespace rowbloom::test
