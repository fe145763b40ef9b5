// Every mode of RocksDB's iterators, with rowbloom's extractor and filters:
// what is read, and whether the ROW section was probed.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/perf_context.h"
#include "tests/storage/filter_policy/features.h"

namespace rowbloom::features_scan_test {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Slice;
using test::ExpectOk;
using test::Features;
using test::Key;
using test::kFiles;
using test::kRows;
using test::MakeFilterPolicy;
using test::Row;
using test::StatsOf;

using Keys = std::vector<std::string>;

// Within the range of every file, in none.
const std::string kAbsentRow = "row1100x:";

class ScanFeatures : public Features {
 protected:
  // Four files, full or partitioned.
  void OpenAndWrite(bool partitioned) {
    Remove();
    Open(Options(partitioned));
    WriteFiles();
  }
  Keys Forward(const ReadOptions& read, const std::string& from) {
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read));
    Keys keys;
    for (it->Seek(from); it->Valid(); it->Next()) {
      keys.push_back(it->key().ToString());
    }
    ExpectOk(it->status());
    return keys;
  }
  Keys Backward(const ReadOptions& read, const std::string& from) {
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(read));
    Keys keys;
    for (it->SeekForPrev(from); it->Valid(); it->Prev()) {
      keys.push_back(it->key().ToString());
    }
    ExpectOk(it->status());
    return keys;
  }
  // Returns the files that the ROW section ruled out since the last call.
  uint64_t RowSkips() { return Since(StatsOf(*policy_).row.skipped, &skips_); }
  // Returns the lookups in rowbloom's filters since the last call.
  uint64_t Asked() { return Since(StatsOf(*policy_).asked, &asked_); }

 private:
  static uint64_t Since(uint64_t now, uint64_t* last) {
    return now - std::exchange(*last, now);
  }
  uint64_t skips_ = 0;
  uint64_t asked_ = 0;
};

TEST_F(ScanFeatures, SamePrefixForwardAndBackward) {
  const auto read = test::SamePrefix();
  for (const bool partitioned : {false, true}) {
    SCOPED_TRACE(partitioned);
    OpenAndWrite(partitioned);
    RowSkips();
    EXPECT_EQ(Forward(read, Row(7)), Keys({Key(7, "a"), Key(7, "b")}));
    EXPECT_EQ(RowSkips(), kFiles - 1u);
    EXPECT_EQ(Backward(read, Row(7) + "\xff"),
              Keys({Key(7, "b"), Key(7, "a")}));
    EXPECT_EQ(RowSkips(), kFiles - 1u);
    // Within the row, between its columns and before the first.
    EXPECT_EQ(Forward(read, Key(7, "aa")), Keys({Key(7, "b")}));
    EXPECT_EQ(Backward(read, Key(7, "aa")), Keys({Key(7, "a")}));
    EXPECT_EQ(Backward(read, Row(7)), Keys());
    EXPECT_EQ(RowSkips(), 3 * (kFiles - 1u));
    // A row that no file has.
    EXPECT_EQ(Forward(read, kAbsentRow), Keys());
    EXPECT_EQ(Backward(read, kAbsentRow + "\xff"), Keys());
    EXPECT_EQ(RowSkips(), 2u * kFiles);
    // RocksDB may see by the range of a file that keys before the first row and
    // behind the last are not in it, and need no filter.
    EXPECT_EQ(Forward(read, "aaa:"), Keys());
    EXPECT_EQ(Backward(read, "zzz:x"), Keys());
  }
}

TEST_F(ScanFeatures, TotalOrderSeekAsksNothingAndSeesAll) {
  Open(Options());
  WriteFiles();
  ReadOptions scan;
  scan.total_order_seek = true;
  EXPECT_EQ(Forward(scan, kAbsentRow).size(), (kRows - 101) * 2u);
  EXPECT_EQ(Asked(), 0u);
  // Since RocksDB 9.7 this option is not overruled any more.
  scan.prefix_same_as_start = true;
  EXPECT_EQ(Forward(scan, kAbsentRow), Keys());
  EXPECT_EQ(Asked() > 0, ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 907);
}

// The rows to both sides of each edge of a partition.
TEST_F(ScanFeatures, EveryRowIsFoundBothWays) {
  const auto read = test::SamePrefix();
  for (const bool partitioned : {false, true}) {
    OpenAndWrite(partitioned);
    RowSkips();
    for (int row = 0; row < kRows; ++row) {
      ASSERT_EQ(Forward(read, Row(row)), Keys({Key(row, "a"), Key(row, "b")}));
      ASSERT_EQ(Backward(read, Row(row) + "\xff"),
                Keys({Key(row, "b"), Key(row, "a")}));
    }
    // Some rows at the ends are outside the range of a file.
    EXPECT_GT(RowSkips(), 2u * (kRows - 2 * kFiles) * (kFiles - 1));
  }
}

TEST_F(ScanFeatures, AutoPrefixModeAsksForwardInsideTheRowOnly) {
  for (const bool partitioned : {false, true}) {
    SCOPED_TRACE(partitioned);
    OpenAndWrite(partitioned);
    RowSkips();
    Asked();
    ReadOptions read;
    read.auto_prefix_mode = true;
    const std::string in_row = Row(7) + "\xff";
    const Slice upper_in_row(in_row);
    read.iterate_upper_bound = &upper_in_row;
    EXPECT_EQ(Forward(read, Row(7)), Keys({Key(7, "a"), Key(7, "b")}));
    EXPECT_EQ(RowSkips(), kFiles - 1u);
    EXPECT_GT(Asked(), 0u);
    // Reverse scans in total order are right, and never probe the filter.
    const std::string low = Row(7);
    const Slice lower_bound(low);
    read.iterate_lower_bound = &lower_bound;
    EXPECT_EQ(Backward(read, Row(7) + "\xfe"),
              Keys({Key(7, "b"), Key(7, "a")}));
    EXPECT_EQ(Asked(), 0u);
    read.iterate_lower_bound = nullptr;
    // The successor of the row is another row.
    const std::string successor = Row(8);
    const Slice upper_outside(successor);
    read.iterate_upper_bound = &upper_outside;
    EXPECT_EQ(Forward(read, Row(7)), Keys({Key(7, "a"), Key(7, "b")}));
    EXPECT_EQ(Asked(), 0u);
    read.iterate_upper_bound = nullptr;
    EXPECT_EQ(Forward(read, Row(kRows - 2)).size(), 4u) << "both last rows";
    EXPECT_EQ(Asked(), 0u);
  }
}

// RocksDB's old default: an iterator without any option is in prefix mode as
// soon as there is an extractor, and only the row of the seek key is promised.
TEST_F(ScanFeatures, IteratorWithoutOptionsAsksTheRow) {
  OpenAndWrite(false);
  RowSkips();
  const Keys keys = Forward({}, Row(7));
  ASSERT_GE(keys.size(), 2u);
  EXPECT_EQ(keys[0], Key(7, "a"));
  EXPECT_EQ(keys[1], Key(7, "b"));
  EXPECT_EQ(RowSkips(), kFiles - 1u);
}

TEST_F(ScanFeatures, PrefixSeekOptInOnlyLeavesOtherIteratorsInTotalOrder) {
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 907
  for (const bool partitioned : {false, true}) {
    rocksdb::Options options = Options(partitioned);
    options.prefix_seek_opt_in_only = true;
    Remove();
    Open(options);
    WriteFiles();
    RowSkips();
    Asked();
    EXPECT_EQ(Forward({}, Row(7)).size(), 2u * (kRows - 7));
    EXPECT_EQ(Backward({}, Row(7)).size(), 2u * 7);
    EXPECT_EQ(Asked(), 0u);
    const auto same = test::SamePrefix();
    EXPECT_EQ(Forward(same, Row(7)), Keys({Key(7, "a"), Key(7, "b")}));
    EXPECT_EQ(Backward(same, Row(7) + "\xff"),
              Keys({Key(7, "b"), Key(7, "a")}));
    EXPECT_EQ(RowSkips(), 2 * (kFiles - 1u));
    ReadOptions automatic;
    automatic.auto_prefix_mode = true;
    const std::string bound = Row(7) + "\xff";
    const Slice upper_bound(bound);
    automatic.iterate_upper_bound = &upper_bound;
    EXPECT_EQ(Forward(automatic, Row(7)), Keys({Key(7, "a"), Key(7, "b")}));
    EXPECT_EQ(RowSkips(), kFiles - 1u);
  }
#else
  GTEST_SKIP() << "prefix_seek_opt_in_only came with RocksDB 9.7";
#endif
}

// Keys and seeks without the delimiter. RocksDB leaves the result of a seek
// outside the extractor's domain open before 11.2; here no key is lost.
TEST_F(ScanFeatures, KeysAndSeeksOutsideTheLayout) {
  for (const bool partitioned : {false, true}) {
    SCOPED_TRACE(partitioned);
    OpenAndWrite(partitioned);
    for (const char* key : {"row10", "row1007", "row1007;", "zzz"}) {
      ExpectOk(db_->Put({}, key, "outside"));
    }
    ExpectOk(db_->Flush({}));
    const size_t all = 2u * kRows + 4;
    ReadOptions total;
    total.total_order_seek = true;
    Asked();
    EXPECT_EQ(Forward(total, "").size(), all);
    EXPECT_EQ(Backward(total, "zzzz").size(), all);
    EXPECT_EQ(Forward(total, "row1007")[0], "row1007");
    EXPECT_EQ(Asked(), 0u);
    ReadOptions automatic;
    automatic.auto_prefix_mode = true;
    EXPECT_EQ(Forward(automatic, "").size(), all);
    const Slice upper_bound("row1008");
    automatic.iterate_upper_bound = &upper_bound;
    EXPECT_EQ(Forward(automatic, "row1007"),
              Keys({"row1007", Key(7, "a"), Key(7, "b"), "row1007;"}));
    const auto same = test::SamePrefix();
    EXPECT_EQ(Forward(same, Row(7)), Keys({Key(7, "a"), Key(7, "b")}))
        << "none of the keys outside";
    const Keys seek_outside = Forward(same, "row1007");
    ASSERT_FALSE(seek_outside.empty());
    EXPECT_EQ(seek_outside[0], "row1007");
    std::string value;
    for (const char* key : {"row10", "row1007", "row1007;", "zzz"}) {
      ExpectOk(db_->Get({}, key, &value));
    }
    EXPECT_TRUE(db_->Get({}, "row1008;", &value).IsNotFound());
  }
}

TEST_F(ScanFeatures, EmptyRowsAndEmptyColumns) {
  for (const bool partitioned : {false, true}) {
    OpenAndWrite(partitioned);
    for (const char* key : {":", ":column", "bare:", "row1007:"}) {
      ExpectOk(db_->Put({}, key, "v"));
      ExpectOk(db_->Flush({}));
    }
    const auto same = test::SamePrefix();
    RowSkips();
    EXPECT_EQ(Forward(same, ":"), Keys({":", ":column"}));
    EXPECT_EQ(Backward(same, ":\xff"), Keys({":column", ":"}));
    EXPECT_EQ(Forward(same, "bare:"), Keys({"bare:"}));
    EXPECT_EQ(Forward(same, Row(7)),
              Keys({"row1007:", Key(7, "a"), Key(7, "b")}));
    EXPECT_GE(RowSkips(), kFiles - 1u);
    std::string value;
    for (const char* key : {":", ":column", "bare:", "row1007:"}) {
      ExpectOk(db_->Get({}, key, &value));
    }
    EXPECT_TRUE(db_->Get({}, ":absent", &value).IsNotFound());
    EXPECT_TRUE(db_->Get({}, "bare:absent", &value).IsNotFound());
    EXPECT_TRUE(db_->Get({}, "row1008:", &value).IsNotFound());
  }
}

// The longest rows that each layout has, or 64 KiB where it has no limit.
TEST_F(ScanFeatures, RowsAtTheLimitsOfTheirLayouts) {
  const auto number = [](int i) { return std::to_string(1000 + i); };
  const auto filled = [&](int i, size_t bytes) {
    return std::string(bytes - 4, 'r') + number(i);
  };
  struct Case {
    KeyLayout layout;
    std::function<std::string(int)> row;
  };
  const Case cases[] = {
      {KeyLayout::FixedRow(KeyLayout::kMaxRowBytes),
       [&](int i) { return filled(i, 65535); }},
      {KeyLayout::FixedRow(1),
       [](int i) { return std::string(1, static_cast<char>('a' + i)); }},
      {KeyLayout::LengthPrefixed(),
       [&](int i) { return "\xff\xff" + filled(i, 65535); }},
      {KeyLayout::LengthPrefixed(),
       [](int i) {
         return std::string("\0\1", 2) + static_cast<char>('a' + i);
       }},
      {KeyLayout::Delimited(':'),
       [&](int i) { return filled(i, 65536) + ":"; }},
      {KeyLayout::Escaped(), [&](int i) {
         return std::string(65536, 'r') + number(i) + std::string("\0\1", 2);
       }}};
  for (const Case& c : cases) {
    for (const bool partitioned : {false, true}) {
      SCOPED_TRACE(c.layout.ToString() + (partitioned ? ", partitioned" : ""));
      policy_ = MakeFilterPolicy({.key_layout = c.layout});
      Remove();
      Open(policy_, NewRowPrefixExtractor(c.layout), partitioned);
      // Rows 0, 2, 4, 6 in one file, 8 alone in another.
      for (const int row : {0, 2, 4, 6}) {
        ExpectOk(db_->Put({}, c.row(row) + "a", "v"));
        ExpectOk(db_->Put({}, c.row(row) + "b", "v"));
      }
      ExpectOk(db_->Flush({}));
      ExpectOk(db_->Put({}, c.row(8) + "a", "v"));
      ExpectOk(db_->Put({}, c.row(1) + "a", "v"));
      ExpectOk(db_->Flush({}));
      const auto same = test::SamePrefix();
      std::string value;
      const FilterStats before = StatsOf(*policy_);
      for (const int row : {0, 2, 4, 6}) {
        EXPECT_EQ(Forward(same, c.row(row)),
                  Keys({c.row(row) + "a", c.row(row) + "b"}));
        EXPECT_EQ(Backward(same, c.row(row) + "\xff"),
                  Keys({c.row(row) + "b", c.row(row) + "a"}));
        ExpectOk(db_->Get({}, c.row(row) + "b", &value));
        EXPECT_TRUE(db_->Get({}, c.row(row) + "c", &value).IsNotFound());
      }
      for (const int row : {3, 5}) {
        EXPECT_EQ(Forward(same, c.row(row)), Keys());
        EXPECT_TRUE(db_->Get({}, c.row(row) + "a", &value).IsNotFound());
      }
      const FilterStats after = StatsOf(*policy_);
      EXPECT_GE(after.row.skipped - before.row.skipped, 8u);
      EXPECT_GE(after.row_col.skipped - before.row_col.skipped, 3u);
    }
  }
}

// The memtable's filter is RocksDB's own, on the rows of the extractor.
TEST_F(ScanFeatures, MemtableBloomHoldsTheRows) {
  for (const bool whole_keys : {false, true}) {
    SCOPED_TRACE(whole_keys);
    rocksdb::Options options = Options();
    options.memtable_prefix_bloom_size_ratio = 0.1;
    options.memtable_whole_key_filtering = whole_keys;
    Remove();
    Open(options);
    for (int row = 0; row < kRows; row += 2) {
      ExpectOk(db_->Put({}, Key(row, "a"), "v"));
      ExpectOk(db_->Put({}, Key(row, "b"), "v"));
    }
    ExpectOk(db_->Put({}, "outside", "v"));
    // One range starts at a key outside the layout, the other ends at one.
    ExpectOk(
        db_->DeleteRange({}, db_->DefaultColumnFamily(), Row(20), "row1021"));
    ExpectOk(
        db_->DeleteRange({}, db_->DefaultColumnFamily(), "row1030", Row(31)));
    const auto same = test::SamePrefix();
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    std::string value;
    for (int row = 0; row < kRows; ++row) {
      const bool present = row % 2 == 0 && row != 20 && row != 30;
      EXPECT_EQ(Forward(same, Row(row)).size(), present ? 2u : 0u) << row;
      EXPECT_EQ(Backward(same, Row(row) + "\xff").size(), present ? 2u : 0u);
      EXPECT_EQ(db_->Get({}, Key(row, "b"), &value).ok(), present) << row;
    }
    ExpectOk(db_->Get({}, "outside", &value));
    EXPECT_GT(rocksdb::get_perf_context()->bloom_memtable_miss_count,
              kRows / 2u * 2)
        << "of gets and scans";
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  }
}

TEST_F(ScanFeatures, RefreshedAndTailingIteratorsSeeNewCellsOfTheRow) {
  OpenAndWrite(false);
  auto same = test::SamePrefix();
  const std::unique_ptr<rocksdb::Iterator> refreshed(db_->NewIterator(same));
  same.tailing = true;
  const std::unique_ptr<rocksdb::Iterator> tailing(db_->NewIterator(same));
  const auto cells = [](rocksdb::Iterator* it, const std::string& row) {
    int count = 0;
    for (it->Seek(row); it->Valid(); it->Next()) ++count;
    ExpectOk(it->status());
    return count;
  };
  EXPECT_EQ(cells(refreshed.get(), Row(7)), 2);
  EXPECT_EQ(cells(tailing.get(), Row(7)), 2);
  for (const bool flushed : {false, true}) {
    ExpectOk(db_->Put({}, Key(7, flushed ? "d" : "c"), "new"));
    ExpectOk(db_->Put({}, Key(9, flushed ? "d" : "c"), "new"));
    if (flushed) ExpectOk(db_->Flush({}));
    ExpectOk(refreshed->Refresh());
    const int expected = flushed ? 4 : 3;
    RowSkips();
    EXPECT_EQ(cells(refreshed.get(), Row(7)), expected);
    EXPECT_GE(RowSkips(), kFiles - 1u);
    EXPECT_EQ(cells(tailing.get(), Row(7)), expected);
    EXPECT_GE(RowSkips(), 1u);
    EXPECT_EQ(cells(refreshed.get(), kAbsentRow), 0);
    EXPECT_EQ(cells(tailing.get(), kAbsentRow), 0);
    EXPECT_GE(RowSkips(), uint64_t{kFiles});
  }
}

// With prefix_same_as_start RocksDB 7.8.3 finds less by later seeks of a
// tailing iterator than by the first, with any filter.
TEST_F(ScanFeatures, TailingIteratorsSeekOnceOrInTotalOrder) {
  OpenAndWrite(false);
  ReadOptions options;
  options.tailing = true;
  options.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> total(db_->NewIterator(options));
  options.total_order_seek = false;
  options.prefix_same_as_start = true;
  constexpr int kStep = 7;  // so that seeks go back and forth
  static_assert(kRows % kStep != 0);
  RowSkips();
  for (int i = 0; i < kRows; ++i) {
    const int row = i * kStep % kRows;
    const Keys keys = {Key(row, "a"), Key(row, "b")};
    ASSERT_EQ(Forward(options, Row(row)), keys);
    total->Seek(Row(row));
    for (const std::string& key : keys) {
      ASSERT_TRUE(total->Valid()) << total->status().ToString();
      ASSERT_EQ(total->key(), key);
      total->Next();
    }
  }
  EXPECT_GT(RowSkips(), 2u * kRows);
}

TEST_F(ScanFeatures, ReverseOrderFindsRowsToo) {
  rocksdb::Options options = Options();
  options.comparator = rocksdb::ReverseBytewiseComparator();
  Open(options);
  WriteFiles();
  const auto same = test::SamePrefix();
  RowSkips();
  for (int row = 0; row < kRows; ++row) {
    ASSERT_EQ(Forward(same, Row(row) + "\xff"),
              Keys({Key(row, "b"), Key(row, "a")}));
    ASSERT_EQ(Backward(same, Row(row)), Keys({Key(row, "a"), Key(row, "b")}));
  }
  EXPECT_GT(RowSkips(), 2u * (kRows - 2 * kFiles) * (kFiles - 1));
}

}  // namespace
}  // namespace rowbloom::features_scan_test
