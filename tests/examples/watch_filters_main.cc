// Runs the example of the guide on a small database.
#include <iostream>
#include <memory>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/open_db.h"
#include "tests/examples/watch_filters.h"

namespace {

std::string Row(int number) { return std::to_string(10'000 + number) + ":"; }

// Three files of 1,000 rows, whose ranges overlap; every fourth row in none.
rocksdb::Status Write(rocksdb::DB* db) {
  rocksdb::Status s;
  for (int file = 0; file < 3 && s.ok(); ++file) {
    for (int row = file; row < 4'000 && s.ok(); row += 4) {
      s = db->Put({}, Row(row) + "mail", "ada@example.org");
    }
    if (s.ok()) s = db->Flush({});
  }
  return s;
}

// Reads every row that lies within the key range of each file: gets a column
// that it has and one that it lacks, and scans it.
rocksdb::Status Read(rocksdb::DB* db) {
  rocksdb::Status s;
  std::string value;
  rocksdb::ReadOptions in_row;
  in_row.prefix_same_as_start = true;
  for (int row = 10; row < 3'990 && s.ok(); ++row) {
    for (const char* column : {"mail", "phone"}) {
      s = db->Get({}, Row(row) + column, &value);
      if (!s.ok() && !s.IsNotFound()) return s;
    }
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(in_row));
    for (it->Seek(Row(row)); it->Valid() && it->key().starts_with(Row(row));) {
      it->Next();
    }
    s = it->status();
  }
  return s;
}

}  // namespace

int main() {
  rowbloom::FilterPolicyOptions filter;
  filter.key_layout = rowbloom::KeyLayout::Delimited(':');
  rocksdb::BlockBasedTableOptions table;
  table.optimize_filters_for_memory = false;  // the same bytes everywhere
  rocksdb::Status s = rowbloom::NewFilterPolicy(filter, &table.filter_policy);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor =
      rowbloom::NewRowPrefixExtractor(*filter.key_layout);
  options.statistics = rowbloom::NewFilterStatistics();
  std::unique_ptr<rocksdb::DB> db;
  if (s.ok()) s = rocksdb::DB::Open(options, "watch.db", rowbloom::Into(&db));
  if (s.ok()) s = Write(db.get());
  if (s.ok()) s = Read(db.get());
  if (s.ok()) WatchFilters(db.get(), *table.filter_policy);
  if (!s.ok()) std::cerr << s.ToString() << "\n";
  return s.ok() ? 0 : 1;
}
