// A database goes from RocksDB's filters to rowbloom's and back: no key is
// lost, and old filters stay in use where they can.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/storage/filter_policy/filtered_db.h"

namespace rowbloom {
namespace {

using test::ExpectOk;
using test::kLayout;
using test::MakeFilterPolicy;
using test::Rows;
using test::StatsOf;

std::shared_ptr<const rocksdb::FilterPolicy> Stock(const std::string& name) {
  if (name == "none") return nullptr;
  return std::shared_ptr<const rocksdb::FilterPolicy>(
      name == "ribbon" ? rocksdb::NewRibbonFilterPolicy(10, -1)
                       : rocksdb::NewBloomFilterPolicy(10));
}

// A file each, whose ranges overlap: a compaction writes both again.
const Rows kFirst = {.end = 400, .step = 2, .files = 1, .columns = "abc"};
const Rows kMore = {
    .end = 400, .first = 1, .step = 2, .files = 1, .columns = "abc"};

class DropIn
    : public test::FilteredDb,
      public testing::WithParamInterface<std::tuple<const char*, bool>> {
 protected:
  std::string stock() const { return std::get<0>(GetParam()); }
  void OpenWith(const std::shared_ptr<const rocksdb::FilterPolicy>& policy) {
    Open(policy, NewRowPrefixExtractor(kLayout), std::get<1>(GetParam()));
  }
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
  OpenWith(Stock(stock()));
  Write(kFirst);
  const auto policy = MakeFilterPolicy({.key_layout = kLayout});
  OpenWith(policy);
  ExpectRows(kFirst);
  const uint64_t stock_skips = SkipsOfAbsentRows(kFirst);
  if (stock() == "none") {
    EXPECT_EQ(stock_skips, 0u);
  } else {
    EXPECT_GT(stock_skips, 180u);
    EXPECT_GT(StatsOf(*policy).builtin_blocks_opened, 0u);
  }
  EXPECT_EQ(StatsOf(*policy).asked, 0u);
  // Mixed files, then one written by compaction.
  Write(kMore);
  ExpectRows(kFirst);
  ExpectRows(kMore);
  EXPECT_GT(SkipsOfAbsentRows(kMore), 180u);
  EXPECT_GT(StatsOf(*policy).row.skipped, 0u);
  ExpectOk(db_->CompactRange({}, nullptr, nullptr));
  ExpectRows(kFirst);
  ExpectRows(kMore);
  EXPECT_GT(SkipsOfAbsentRows(kFirst), 180u);
}

TEST_P(DropIn, RowbloomFiltersAreHarmlessToStock) {
  OpenWith(MakeFilterPolicy({.key_layout = kLayout}));
  Write(kFirst);
  OpenWith(Stock(stock()));
  ExpectRows(kFirst);
  EXPECT_EQ(SkipsOfAbsentRows(kFirst), 0u) << "RocksDB cannot read them";
  Write(kMore);
  ExpectRows(kFirst);
  ExpectRows(kMore);
  ExpectOk(db_->CompactRange({}, nullptr, nullptr));
  ExpectRows(kFirst);
  ExpectRows(kMore);
  if (stock() != "none") {
    EXPECT_GT(SkipsOfAbsentRows(kFirst), 180u);
  }
}

}  // namespace
}  // namespace rowbloom
