#include <iostream>
#include <memory>

#include "rocksdb/db.h"
#include "rocksdb/table.h"
// The page begins.
#include "rowbloom/filter_policy.h"
#include "rowbloom/open_db.h"

// The page ends.
int main() {
  // The page begins.
  rowbloom::FilterPolicyOptions filter;  // ROW and ROWCOL, 1 % false positives
  filter.key_layout = rowbloom::KeyLayout::Delimited(':');  // user_1001:mail
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::Status s = rowbloom::ConfigureRowFilters(filter, &options);
  std::unique_ptr<rocksdb::DB> db;
  if (s.ok()) s = rocksdb::DB::Open(options, "users.db", rowbloom::Into(&db));
  if (s.ok()) s = db->Put({}, "user_1001:mail", "ada@example.org");
  if (s.ok()) s = db->Put({}, "user_1003:mail", "eve@example.org");
  if (s.ok()) s = db->Flush({});  // writes the file and its filter block
  std::string mail;
  if (s.ok()) s = db->Get({}, "user_1002:mail", &mail);  // skips the file
  // The page ends.
  const auto* table =
      options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  rowbloom::FilterStats stats;
  if (s.IsNotFound()) s = GetFilterStats(*table->filter_policy, &stats);
  std::cout << s.ToString() << ", skipped " << stats.row.skipped << " file\n";
}
