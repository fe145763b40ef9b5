// ConfigureRowFilters: one call sets up a column family, all or nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rocksdb/cache.h"
#include "rocksdb/table_properties.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::configure_test {
namespace {

using rocksdb::BlockBasedTableOptions;
using rocksdb::ColumnFamilyOptions;
using test::ExpectOk;
using test::MakeFilterPolicy;
using test::OpenDb;
using test::StatsOf;
using test::StatusIs;
using test::TempDir;
using test::TestDbOptions;
using testing::HasSubstr;

const KeyLayout kLayout = KeyLayout::Delimited(':');
const FilterPolicyOptions kFilter = {.key_layout = kLayout};

const BlockBasedTableOptions& TableOf(const ColumnFamilyOptions& family) {
  return *family.table_factory->GetOptions<BlockBasedTableOptions>();
}

const rocksdb::FilterPolicy& PolicyOf(const ColumnFamilyOptions& family) {
  return *TableOf(family).filter_policy;
}

// A collector factory of the application's own, which collects nothing.
class OwnCollectorFactory final
    : public rocksdb::TablePropertiesCollectorFactory {
 public:
  const char* Name() const override { return "own"; }
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(
      Context context) override {
    return NewFilterPropertiesFactory()->CreateTablePropertiesCollector(
        context);
  }
};

// Expects 20 rows of one file to be found, and absent ones to be skipped, by
// gets in both sections and by scans in ROW.
void ExpectFiltersAreUsed(rocksdb::DB* db,
                          const rocksdb::FilterPolicy& policy) {
  std::string value;
  const FilterStats before = StatsOf(policy);
  for (int row = 0; row < 20; ++row) {
    const std::string name = "row" + std::to_string(row);
    ExpectOk(db->Get({}, name + ":mail", &value));
    EXPECT_TRUE(db->Get({}, name + ":phone", &value).IsNotFound());
    EXPECT_TRUE(db->Get({}, name + "x:mail", &value).IsNotFound());
  }
  const FilterStats gets = StatsOf(policy);
  EXPECT_GT(gets.row.skipped - before.row.skipped, 15u);
  EXPECT_GT(gets.row_col.skipped - before.row_col.skipped, 15u);
  const std::unique_ptr<rocksdb::Iterator> it(
      db->NewIterator(test::SamePrefix()));
  for (int row = 0; row < 20; ++row) {
    const std::string name = "row" + std::to_string(row);
    it->Seek(name + ":");
    EXPECT_TRUE(it->Valid() && it->key() == name + ":mail");
    it->Seek(name + "x:");
    EXPECT_FALSE(it->Valid());
  }
  EXPECT_GT(StatsOf(policy).row.skipped - gets.row.skipped, 15u);
}

TEST(ConfigureRowFilters, DatabasesUseTheFiltersAndReopen) {
  const TempDir dir;
  for (const bool reopened : {false, true}) {
    SCOPED_TRACE(reopened);
    rocksdb::Options options;
    options.create_if_missing = !reopened;
    ASSERT_THAT(ConfigureRowFilters(kFilter, &options), test::IsOk());
    const auto db = OpenDb(options, dir.File("db"));
    ASSERT_NE(db, nullptr);
    const rocksdb::DB* const_db = db.get();
    EXPECT_TRUE(IsFilterActive(const_db));
    EXPECT_TRUE(IsFilterActive(const_db, db->DefaultColumnFamily()));
    if (!reopened) {
      for (int row = 0; row < 20; ++row) {
        ExpectOk(db->Put({}, "row" + std::to_string(row) + ":mail", "v"));
      }
      ExpectOk(db->Flush({}));
    }
    ExpectFiltersAreUsed(db.get(), PolicyOf(options));
    rocksdb::TablePropertiesCollection files;
    ExpectOk(db->GetPropertiesOfAllTables(&files));
    ASSERT_EQ(files.size(), 1u);
    const auto& properties = files.begin()->second->user_collected_properties;
    ASSERT_TRUE(properties.contains(kFilterProperty));
    EXPECT_THAT(properties.at(kFilterProperty), HasSubstr("row.keys=20"));
  }
}

TEST(ConfigureRowFilters, WhatWasSetBeforeStays) {
  BlockBasedTableOptions table;
  table.block_size = 12'345;
  table.block_cache = rocksdb::NewLRUCache(1 << 20);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  ColumnFamilyOptions family;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family.compression = rocksdb::kZSTD;
  const auto own = std::make_shared<OwnCollectorFactory>();
  family.table_properties_collector_factories = {own};
  ASSERT_THAT(ConfigureRowFilters(kFilter, &family), test::IsOk());
  EXPECT_EQ(TableOf(family).block_size, 12'345u);
  EXPECT_EQ(TableOf(family).block_cache, table.block_cache);
  EXPECT_STREQ(PolicyOf(family).Name(), MakeFilterPolicy(kFilter)->Name());
  EXPECT_EQ(family.compression, rocksdb::kZSTD);
  ASSERT_EQ(family.table_properties_collector_factories.size(), 2u);
  EXPECT_EQ(family.table_properties_collector_factories[0], own);
  EXPECT_STREQ(family.table_properties_collector_factories[1]->Name(),
               kFilterProperty);
}

TEST(ConfigureRowFilters, AnotherCallWithTheSameOptionsChangesNothing) {
  ColumnFamilyOptions family;
  ASSERT_THAT(ConfigureRowFilters(kFilter, &family), test::IsOk());
  const ColumnFamilyOptions before = family;
  ASSERT_THAT(ConfigureRowFilters(kFilter, &family), test::IsOk());
  EXPECT_EQ(family.table_factory, before.table_factory);
  EXPECT_EQ(family.prefix_extractor, before.prefix_extractor);
  EXPECT_EQ(family.table_properties_collector_factories,
            before.table_properties_collector_factories);
}

TEST(ConfigureRowFilters, AnotherCallWithOtherOptionsChangesThePolicy) {
  ColumnFamilyOptions family;
  ASSERT_THAT(ConfigureRowFilters(kFilter, &family), test::IsOk());
  const ColumnFamilyOptions before = family;
  FilterPolicyOptions other = kFilter;
  other.false_positive_rate = 0.001;
  ASSERT_THAT(ConfigureRowFilters(other, &family), test::IsOk());
  EXPECT_STREQ(PolicyOf(family).Name(), MakeFilterPolicy(other)->Name());
  EXPECT_STREQ(PolicyOf(before).Name(), MakeFilterPolicy(kFilter)->Name())
      << "options that were copied keep theirs";
  EXPECT_EQ(family.prefix_extractor, before.prefix_extractor);
  EXPECT_EQ(family.table_properties_collector_factories,
            before.table_properties_collector_factories);
}

TEST(ConfigureRowFilters, WhatWasSetByHandIsTaken) {
  ColumnFamilyOptions family = TestDbOptions(
      {MakeFilterPolicy(kFilter), NewRowPrefixExtractor(kLayout)});
  family.table_properties_collector_factories = {NewFilterPropertiesFactory()};
  const ColumnFamilyOptions before = family;
  ASSERT_THAT(ConfigureRowFilters(kFilter, &family), test::IsOk());
  EXPECT_EQ(family.table_factory, before.table_factory);
  EXPECT_EQ(family.prefix_extractor, before.prefix_extractor);
  EXPECT_EQ(family.table_properties_collector_factories.size(), 1u);
}

TEST(ConfigureRowFilters, NoTableFactoryBecomesABlockBasedOne) {
  ColumnFamilyOptions family;
  family.table_factory = nullptr;
  ASSERT_THAT(ConfigureRowFilters(kFilter, &family), test::IsOk());
  EXPECT_STREQ(PolicyOf(family).Name(), MakeFilterPolicy(kFilter)->Name());
}

TEST(ConfigureRowFilters, ErrorsChangeNothing) {
  const auto expect_refused = [](const FilterPolicyOptions& filter,
                                 ColumnFamilyOptions family,
                                 const std::string& message) {
    SCOPED_TRACE(message);
    const ColumnFamilyOptions before = family;
    EXPECT_THAT(
        ConfigureRowFilters(filter, &family),
        StatusIs(rocksdb::Status::kInvalidArgument, HasSubstr(message)));
    EXPECT_EQ(family.table_factory, before.table_factory);
    EXPECT_EQ(family.prefix_extractor, before.prefix_extractor);
    EXPECT_TRUE(family.table_properties_collector_factories.empty());
  };
  expect_refused({}, {}, "key_layout is not set");
  expect_refused({.key_layout = KeyLayout::FixedRow(0)}, {}, "fixed:0");
  expect_refused({.key_layout = kLayout, .false_positive_rate = 2}, {},
                 "false_positive_rate 2");
  ColumnFamilyOptions plain;
  plain.table_factory.reset(rocksdb::NewPlainTableFactory());
  expect_refused(kFilter, plain, "table_factory PlainTable");
  ColumnFamilyOptions stock_extractor;
  stock_extractor.prefix_extractor.reset(rocksdb::NewCappedPrefixTransform(8));
  expect_refused(kFilter, stock_extractor,
                 "prefix_extractor rocksdb.CappedPrefix.8 is set: expected "
                 "none, or rowbloom.row:delimited::");
  ColumnFamilyOptions other_layout;
  ExpectOk(
      ConfigureRowFilters({.key_layout = KeyLayout::Escaped()}, &other_layout));
  other_layout.table_properties_collector_factories.clear();
  expect_refused(kFilter, other_layout,
                 "prefix_extractor rowbloom.row:escaped is set");
}

}  // namespace
}  // namespace rowbloom::configure_test
