#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"

void Check(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

int main() {
  rowbloom::FilterPolicyOptions filter;  // ROW and ROWCOL, 1 % false positives
  filter.key_layout = rowbloom::KeyLayout::Delimited(':');
  rocksdb::BlockBasedTableOptions table;
  Check(rowbloom::NewFilterPolicy(filter, &table.filter_policy));
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor = rowbloom::NewRowPrefixExtractor(filter.key_layout);
  rocksdb::DB* opened = nullptr;
  Check(rocksdb::DB::Open(options, "users.db", &opened));
  const std::unique_ptr<rocksdb::DB> db(opened);

  Check(db->Put({}, "user_1001:mail", "ada@example.org"));
  Check(db->Put({}, "user_1003:mail", "eve@example.org"));
  Check(db->Flush({}));  // the file gets its filter block
  std::string mail;
  if (!db->Get({}, "user_1002:mail", &mail).IsNotFound()) return 1;
  rocksdb::ReadOptions read;
  read.prefix_same_as_start = true;  // a row scan: asks the ROW section
  const std::unique_ptr<rocksdb::Iterator> cell(db->NewIterator(read));
  for (cell->Seek("user_1001:"); cell->Valid(); cell->Next()) {
    std::cout << cell->key().ToString() << "\n";
  }
  Check(cell->status());
  rowbloom::FilterStats stats;
  Check(rowbloom::GetFilterStats(*table.filter_policy, &stats));
  std::cout << "asked " << stats.asked << " times, file skipped "
            << stats.asked - stats.may_match << " times\n";
}
