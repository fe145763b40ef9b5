// A program of somebody who has rowbloom installed: RocksDB with the filter
// policy, several files, and a look at whether filters kept files closed.
// Prints what is wrong, and exits with 1, otherwise.
#include <cstdio>
#include <memory>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/key_layout.h"
#include "rowbloom/open_db.h"

namespace {

constexpr int kFiles = 3;
constexpr int kRowsPerFile = 100;

// Rows of all files interleave, so that only a filter can rule a file out.
std::string Row(int file, int row) {
  return "row" + std::to_string(1000 + row * kFiles + file) + ":";
}

rocksdb::Status Run(const std::string& path, std::string* problem) {
  rowbloom::FilterPolicyOptions filter;
  filter.key_layout = rowbloom::KeyLayout::Delimited(':');
  rocksdb::BlockBasedTableOptions table;
  rocksdb::Status status =
      rowbloom::NewFilterPolicy(filter, &table.filter_policy);
  if (!status.ok()) return status;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.disable_auto_compactions = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor =
      rowbloom::NewRowPrefixExtractor(*filter.key_layout);
  std::unique_ptr<rocksdb::DB> db;
  status = rocksdb::DB::Open(options, path, rowbloom::Into(&db));
  if (!status.ok()) return status;
  if (!rowbloom::IsFilterActive(db.get())) {
    *problem = "the filter is not active";
  }
  for (int file = 0; file < kFiles; ++file) {
    for (int row = 0; row < kRowsPerFile; ++row) {
      const std::string key = Row(file, row) + "mail";
      status = db->Put({}, key, "value of " + key);
      if (!status.ok()) return status;
    }
    status = db->Flush({});
    if (!status.ok()) return status;
  }
  std::string value;
  for (int file = 0; file < kFiles; ++file) {
    for (int row = 0; row < kRowsPerFile; ++row) {
      const std::string key = Row(file, row) + "mail";
      status = db->Get({}, key, &value);
      if (!status.ok()) return status;
      if (value != "value of " + key) *problem = "a wrong value for " + key;
      status = db->Get({}, Row(file, row) + "phone", &value);
      if (!status.IsNotFound()) *problem = "a phone number in " + key;
    }
  }
  rowbloom::FilterStats stats;
  status = rowbloom::GetFilterStats(*table.filter_policy, &stats);
  if (!status.ok()) return status;
  std::printf("asked %llu times, files skipped %llu times\n",
              static_cast<unsigned long long>(stats.asked),
              static_cast<unsigned long long>(stats.asked - stats.may_match));
  if (stats.blocks_built != kFiles) *problem = "not every file has a filter";
  // The newest file is probed first: two on average until a cell is found, all
  // three for a cell that does not exist. That makes 1,500 lookups of which 300
  // deserve a yes; a false positive rate of 1 % leaves 12 more.
  constexpr uint64_t kGets = uint64_t{kFiles} * kRowsPerFile;
  if (stats.asked != 5 * kGets ||
      stats.asked - stats.may_match < 39 * kGets / 10) {
    *problem = "the filters skipped too few files";
  }
  if (stats.row.skipped == 0 || stats.row_col.skipped == 0) {
    *problem = "one of the sections skipped nothing";
  }
  return db->Close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s NEW_DATABASE_DIRECTORY\n", argv[0]);
    return 2;
  }
  std::string problem;
  const rocksdb::Status status = Run(argv[1], &problem);
  if (problem.empty() && !status.ok()) problem = status.ToString();
  if (!problem.empty()) std::fprintf(stderr, "%s\n", problem.c_str());
  return problem.empty() ? 0 : 1;
}
