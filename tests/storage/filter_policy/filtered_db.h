// A database of rows in files whose ranges overlap, so that filters alone keep
// reads from files that do not hold the answer.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test {

// The rows are "row1000:", "row1001:" and so on.
inline const KeyLayout kLayout = KeyLayout::Delimited(':');
inline std::string Row(int row) {
  return "row" + std::to_string(1000 + row) + ":";
}
// A row that nobody writes, right behind Row(row).
inline std::string AbsentRow(int row) {
  return "row" + std::to_string(1000 + row) + "x:";
}
inline std::string Key(int row, const std::string& column) {
  return Row(row) + column;
}

// Each `step`-th row from `first` to before `end`: every one in one of the
// files, in turn, with a cell in each column, whose value is the column and the
// row's number.
struct Rows {
  int end = 200;
  int first = 0;
  int step = 1;
  int files = 4;
  std::string columns = "ab";  // one character each
};

class FilteredDb : public testing::Test {
 protected:
  // Opens the database, after closing it.
  void Open(const rocksdb::Options& options) {
    options_ = options;
    db_.reset();
    db_ = OpenDb(options_, dir_.File("db"));
  }
  void Open(const std::shared_ptr<const rocksdb::FilterPolicy>& policy,
            const std::shared_ptr<const rocksdb::SliceTransform>& extractor =
                NewRowPrefixExtractor(kLayout),
            bool partitioned = false) {
    Open(TestDbOptions({policy, extractor, partitioned}));
  }

  // Removes the database, so that Open makes an empty one.
  void Remove() {
    db_.reset();
    std::filesystem::remove_all(dir_.File("db"));
  }

  void Write(const Rows& rows) {
    for (int file = 0; file < rows.files; ++file) {
      for (int row = rows.first + file * rows.step; row < rows.end;
           row += rows.files * rows.step) {
        for (const char column : rows.columns) {
          ExpectOk(db_->Put({}, Key(row, {column}), ValueOf(row, column)));
        }
      }
      ExpectOk(db_->Flush({}));
    }
  }
  static std::string ValueOf(int row, char column) {
    return column + std::to_string(row);
  }

  // Every get is right, of absent columns and rows, too, and, with an
  // extractor, every scan of a row.
  void ExpectRows(const Rows& rows) {
    std::string value;
    for (int row = rows.first; row < rows.end; row += rows.step) {
      for (const char column : rows.columns) {
        ExpectOk(db_->Get({}, Key(row, {column}), &value));
        ASSERT_EQ(value, ValueOf(row, column));
      }
      ASSERT_TRUE(db_->Get({}, Key(row, "~"), &value).IsNotFound()) << row;
      ASSERT_TRUE(db_->Get({}, AbsentRow(row) + "a", &value).IsNotFound());
      if (options_.prefix_extractor == nullptr) continue;
      ASSERT_EQ(CellsOf(Row(row)), static_cast<int>(rows.columns.size()));
      ASSERT_EQ(CellsOf(AbsentRow(row)), 0);
    }
  }

  // The cells from a key on that a read by iterator finds; of one row, where
  // there is an extractor.
  static int CellsFrom(rocksdb::DB* db, const std::string& key,
                       const rocksdb::ReadOptions& read) {
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
    int cells = 0;
    for (it->Seek(key); it->Valid(); it->Next()) ++cells;
    ExpectOk(it->status());
    return cells;
  }
  static int CellsOf(rocksdb::DB* db, const std::string& row) {
    return CellsFrom(db, row, SamePrefix());
  }
  int CellsOf(const std::string& row) { return CellsOf(db_.get(), row); }

  // Files that filters of any policy ruled out for gets of a row behind each of
  // these.
  uint64_t SkipsOfAbsentRows(const Rows& rows) {
    const uint64_t before = Ticker(rocksdb::BLOOM_FILTER_USEFUL);
    std::string value;
    for (int row = rows.first; row < rows.end; row += rows.step) {
      EXPECT_TRUE(db_->Get({}, AbsentRow(row) + "a", &value).IsNotFound());
    }
    return Ticker(rocksdb::BLOOM_FILTER_USEFUL) - before;
  }

  uint64_t Ticker(uint32_t ticker) const {
    return options_.statistics->getTickerCount(ticker);
  }

  // The value of one name in the properties of each file.
  std::multiset<std::string> NamesOfFiles(
      std::string rocksdb::TableProperties::*name) {
    rocksdb::TablePropertiesCollection properties;
    ExpectOk(db_->GetPropertiesOfAllTables(&properties));
    std::multiset<std::string> names;
    for (const auto& [file, table] : properties) {
      names.insert((*table).*name);
    }
    return names;
  }
  std::multiset<std::string> PolicyNames() {
    return NamesOfFiles(&rocksdb::TableProperties::filter_policy_name);
  }

  TempDir dir_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace rowbloom::test
