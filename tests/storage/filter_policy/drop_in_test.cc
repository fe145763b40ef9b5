// A database goes from RocksDB's filters to rowbloom's and back: no key is
// lost, and old filters stay in use where they can.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/temp_dir.h"

namespace rowbloom {
namespace {

using test::ExpectOk;
using test::MakeFilterPolicy;
using test::OpenDb;
using test::StatsOf;
using test::TempDir;
using test::TestDbOptions;

const KeyLayout kLayout = KeyLayout::Delimited(':');

std::shared_ptr<const rocksdb::FilterPolicy> Stock(const std::string& name) {
  if (name == "none") return nullptr;
  return std::shared_ptr<const rocksdb::FilterPolicy>(
      name == "ribbon" ? rocksdb::NewRibbonFilterPolicy(10, -1)
                       : rocksdb::NewBloomFilterPolicy(10));
}

std::string Key(int i) {
  return "row" + std::to_string(i / 3) + ":" + std::to_string(i % 3);
}

class DropIn : public testing::TestWithParam<std::tuple<const char*, bool>> {
 protected:
  std::string stock() const { return std::get<0>(GetParam()); }
  std::unique_ptr<rocksdb::DB> Open(
      const std::shared_ptr<const rocksdb::FilterPolicy>& policy) {
    options_ = TestDbOptions(
        {policy, NewRowPrefixExtractor(kLayout), std::get<1>(GetParam())});
    return OpenDb(options_, dir_.File("db"));
  }
  // One file of 600 keys, from key `first` on.
  static void WriteFile(rocksdb::DB* db, int first) {
    for (int i = first; i < first + 600; ++i) {
      ExpectOk(db->Put({}, Key(i), std::to_string(i)));
    }
    ExpectOk(db->Flush({}));
  }
  static void ExpectKeys(rocksdb::DB* db, int end) {
    std::string value;
    for (int i = 0; i < end; ++i) {
      ExpectOk(db->Get({}, Key(i), &value));
      ASSERT_EQ(value, std::to_string(i));
    }
    rocksdb::ReadOptions scan;
    scan.prefix_same_as_start = true;
    for (int i = 0; i < end; i += 3) {
      const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(scan));
      int cells = 0;
      const std::string row = "row" + std::to_string(i / 3) + ":";
      for (it->Seek(row); it->Valid(); it->Next()) ++cells;
      ASSERT_EQ(cells, 3) << row;
    }
  }
  // Of 1,000 gets between the keys that are there, how many the filters of
  // files ruled out.
  uint64_t Skips(rocksdb::DB* db) {
    const uint64_t before =
        options_.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL);
    std::string value;
    for (int i = 0; i < 1000; ++i) {
      EXPECT_TRUE(
          db->Get({}, "row1" + std::to_string(i) + "x:0", &value).IsNotFound());
    }
    return options_.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL) -
           before;
  }

  TempDir dir_;
  rocksdb::Options options_;
};

INSTANTIATE_TEST_SUITE_P(FilterPolicy, DropIn,
                         testing::Combine(testing::Values("bloom", "ribbon",
                                                          "none"),
                                          testing::Bool()),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)) +
                                  (std::get<1>(test.param) ? "Partitioned"
                                                           : "Full");
                         });

TEST_P(DropIn, StockFiltersStayInUseUnderRowbloom) {
  WriteFile(Open(Stock(stock())).get(), 0);
  const auto policy = MakeFilterPolicy({.key_layout = kLayout});
  const auto db = Open(policy);
  ExpectKeys(db.get(), 600);
  const uint64_t stock_skips = Skips(db.get());
  if (stock() == "none") {
    EXPECT_EQ(stock_skips, 0u);
  } else {
    EXPECT_GT(stock_skips, 900u);
    EXPECT_GT(StatsOf(*policy).builtin_blocks_opened, 0u);
  }
  EXPECT_EQ(StatsOf(*policy).asked, 0u);
  // Mixed files, then one written by compaction.
  WriteFile(db.get(), 600);
  ExpectKeys(db.get(), 1200);
  EXPECT_GT(Skips(db.get()), stock_skips);
  EXPECT_GT(StatsOf(*policy).row.skipped, 0u);
  ExpectOk(db->CompactRange({}, nullptr, nullptr));
  ExpectKeys(db.get(), 1200);
  EXPECT_GT(Skips(db.get()), 900u);
}

TEST_P(DropIn, RowbloomFiltersAreHarmlessToStock) {
  WriteFile(Open(MakeFilterPolicy({.key_layout = kLayout})).get(), 0);
  const auto db = Open(Stock(stock()));
  ExpectKeys(db.get(), 600);
  EXPECT_EQ(Skips(db.get()), 0u) << "RocksDB cannot read them";
  WriteFile(db.get(), 600);
  ExpectKeys(db.get(), 1200);
  ExpectOk(db->CompactRange({}, nullptr, nullptr));
  ExpectKeys(db.get(), 1200);
  if (stock() != "none") {
    EXPECT_GT(Skips(db.get()), 900u);
  }
}

}  // namespace
}  // namespace rowbloom
