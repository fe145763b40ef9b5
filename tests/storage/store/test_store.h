// Stores for tests, and what is underneath them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/db.h"
#include "rowbloom/store.h"
#include "storage/store/database.h"
#include "storage/store/family_rules.h"
#include "storage/store/open_store.h"
#include "tests/support/files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test {

// Ends the test with an exception, unless a call that it cannot go on without
// has succeeded.
inline void Require(const rocksdb::Status& status) {
  EXPECT_THAT(status, IsOk());
  if (!status.ok()) throw std::runtime_error("the test cannot go on");
}

// Opens a store that must open.
inline std::unique_ptr<Store> OpenOrFail(
    const StoreOptions& options, const std::string& path,
    const std::vector<FamilyDescriptor>& families,
    const WallClock& wall_clock = SystemWallClock) {
  std::unique_ptr<Store> store;
  Require(OpenStore(options, path, families, wall_clock, &store));
  return store;
}

// The value of a cell; none, if the cell is absent.
inline std::optional<std::string> ValueOf(Store& store, std::string_view row,
                                          std::string_view family,
                                          std::string_view qualifier,
                                          const ReadOptions& options = {}) {
  std::optional<std::string> value;
  EXPECT_THAT(store.Get(row, family, qualifier, &value, options), IsOk());
  return value;
}

inline std::vector<Cell> GetVersionsOf(Store& store, std::string_view row,
                                       std::string_view family,
                                       std::string_view qualifier,
                                       const ReadOptions& options = {}) {
  std::vector<Cell> cells;
  EXPECT_THAT(store.GetVersions(row, family, qualifier, &cells, options),
              IsOk());
  return cells;
}

inline std::vector<Cell> GetRowOf(Store& store, std::string_view row,
                                  const RowOptions& options = {}) {
  std::vector<Cell> cells;
  EXPECT_THAT(store.GetRow(row, &cells, options), IsOk());
  return cells;
}

// Begins a scan that must begin.
inline RowScanner ScanOf(Store& store, const ScanOptions& options = {}) {
  RowScanner rows;
  EXPECT_THAT(store.Scan(options, &rows), IsOk());
  return rows;
}

// The rows of a scan that must not fail.
inline std::vector<Row> RowsOf(Store& store, const ScanOptions& options = {}) {
  RowScanner scan = ScanOf(store, options);
  std::vector<Row> rows;
  for (const Row& row : scan) rows.push_back(row);
  EXPECT_THAT(scan.status(), IsOk());
  return rows;
}

inline std::unique_ptr<const Snapshot> SnapshotOf(Store& store) {
  std::unique_ptr<const Snapshot> snapshot;
  Require(store.GetSnapshot(&snapshot));
  return snapshot;
}

// Begins a bulk load that must begin.
inline std::unique_ptr<BulkLoad> LoadInto(Store& store,
                                          const BulkLoadOptions& options = {}) {
  std::unique_ptr<BulkLoad> load;
  Require(store.NewBulkLoad(options, &load));
  return load;
}

inline ScanCounts CountsOf(Store& store) {
  ScanCounts counts;
  EXPECT_THAT(store.Count({}, &counts), IsOk());
  return counts;
}

inline StoreStats StoreStatsOf(Store& store) {
  StoreStats stats;
  EXPECT_THAT(store.Stats(&stats), IsOk());
  return stats;
}

// The statistics of a store, as of when its front filter has read all files.
inline StoreStats ArmedStats(Store* store) {
  const auto arms = [](const FrontFilterFamilyStats& family) {
    return family.state == FrontFilterState::kArming;
  };
  StoreStats stats;
  do {
    stats = StoreStatsOf(*store);
  } while (stats.front_filter &&
           std::ranges::any_of(stats.front_filter->families, arms));
  return stats;
}

// The paths of a directory's files whose names end so, in order.
inline std::vector<std::string> FilesWithEnd(const std::string& directory,
                                             std::string_view end) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().string().ends_with(end)) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// Opens the RocksDB database of a store that is closed, past the store.
// Versions are merged as in families with max_versions 2.
inline void OpenRaw(const std::string& path, Database* database,
                    const rocksdb::DBOptions& db_options = {}) {
  std::vector<std::string> names;
  ASSERT_THAT(
      rocksdb::DB::ListColumnFamilies(rocksdb::DBOptions(), path, &names),
      IsOk());
  rocksdb::ColumnFamilyOptions options;
  options.merge_operator = NewVersionMergeOperator(
      std::make_shared<SharedRules>(VersionRules{.max_versions = 2},
                                    /*memtable_bytes=*/0));
  std::vector<rocksdb::ColumnFamilyDescriptor> column_families;
  for (const std::string& name : names) {
    column_families.emplace_back(name, options);
  }
  ASSERT_THAT(database->Open(db_options, path, column_families,
                             Database::Access::kReadWrite),
              IsOk());
}

// Writes a key of a column family past the store.
inline void PutRaw(const std::string& path, const std::string& column_family,
                   std::string_view key, std::string_view value) {
  Database database;
  ASSERT_NO_FATAL_FAILURE(OpenRaw(path, &database));
  const ColumnFamily handle = database.Find(column_family);
  ASSERT_NE(handle, nullptr) << column_family;
  ASSERT_THAT(database->Put(rocksdb::WriteOptions(), handle.get(),
                            rocksdb::Slice(key), rocksdb::Slice(value)),
              IsOk());
}

}  // namespace rowbloom::test
