// A RocksDB database for tests of filters: L0 files where the test flushes,
// statistics, and no background work unless asked for.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/open_db.h"

namespace rowbloom::test {

inline void ExpectOk(const rocksdb::Status& status) {
  ASSERT_TRUE(status.ok()) << status.ToString();
}

// Options that name no layout get Escaped(). REQUIRES valid ones.
inline std::shared_ptr<const rocksdb::FilterPolicy> MakeFilterPolicy(
    FilterPolicyOptions options) {
  if (!options.key_layout) options.key_layout = KeyLayout::Escaped();
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status = NewFilterPolicy(options, &policy);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return policy;
}

// Policies of RocksDB's own.
inline std::shared_ptr<const rocksdb::FilterPolicy> StockBloom(
    double bits = 10) {
  return std::shared_ptr<const rocksdb::FilterPolicy>(
      rocksdb::NewBloomFilterPolicy(bits));
}
inline std::shared_ptr<const rocksdb::FilterPolicy> StockRibbon(
    double bits = 10) {
  return std::shared_ptr<const rocksdb::FilterPolicy>(
      rocksdb::NewRibbonFilterPolicy(bits));
}

struct TableChoices {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  std::shared_ptr<const rocksdb::SliceTransform> extractor;
  bool partitioned = false;
  bool whole_key_filtering = true;
};

inline rocksdb::Options TestDbOptions(const TableChoices& choices) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = choices.policy;
  table.whole_key_filtering = choices.whole_key_filtering;
  if (choices.partitioned) {
    table.partition_filters = true;
    table.index_type =
        rocksdb::BlockBasedTableOptions::IndexType::kTwoLevelIndexSearch;
    table.metadata_block_size = 256;
    table.block_size = 256;
  }
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor = choices.extractor;
  options.disable_auto_compactions = true;
  options.level0_slowdown_writes_trigger = 10'000;
  options.level0_stop_writes_trigger = 10'000;
  options.compression = rocksdb::kLZ4Compression;
  options.statistics = rocksdb::CreateDBStatistics();
  return options;
}

// With filters of rows that end with ':'.
inline rocksdb::Options DelimitedDbOptions() {
  const KeyLayout layout = KeyLayout::Delimited(':');
  return TestDbOptions({MakeFilterPolicy({.key_layout = layout}),
                        NewRowPrefixExtractor(layout)});
}

inline std::unique_ptr<rocksdb::DB> OpenDb(const rocksdb::Options& options,
                                           const std::string& path) {
  std::unique_ptr<rocksdb::DB> db;
  const rocksdb::Status status = rocksdb::DB::Open(options, path, Into(&db));
  EXPECT_TRUE(status.ok()) << status.ToString();
  return db;
}

// Writes all files anew, those of the last level, too.
inline void CompactAll(rocksdb::DB* db) {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForce;
  ExpectOk(db->CompactRange(options, nullptr, nullptr));
}

// The options of scans that end with the row, or the prefix, they begin in.
inline rocksdb::ReadOptions SamePrefix() {
  rocksdb::ReadOptions options;
  options.prefix_same_as_start = true;
  return options;
}

inline FilterStats StatsOf(const rocksdb::FilterPolicy& policy) {
  FilterStats stats;
  ExpectOk(GetFilterStats(policy, &stats));
  return stats;
}

// Gets of several keys, by the call that asks a filter for all of them at once.
inline std::vector<rocksdb::Status> MultiGet(
    rocksdb::DB* db, const std::vector<std::string>& keys,
    std::vector<std::string>* values) {
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> pinned(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  db->MultiGet({}, db->DefaultColumnFamily(), keys.size(), slices.data(),
               pinned.data(), statuses.data());
  values->clear();
  for (const auto& value : pinned) values->push_back(value.ToString());
  return statuses;
}

}  // namespace rowbloom::test
