// A program that has RocksDB linked in: it writes a file, and its filter is
// used.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/open_db.h"

namespace {

int Fail(const rocksdb::Status& status) {
  std::fprintf(stderr, "FAILED: %s\n", status.ToString().c_str());
  return 1;
}

int Run(const std::string& path) {
  const rowbloom::KeyLayout layout = rowbloom::KeyLayout::Delimited(':');
  rocksdb::BlockBasedTableOptions table;
  rocksdb::Status s =
      rowbloom::NewFilterPolicy({.key_layout = layout}, &table.filter_policy);
  if (!s.ok()) return Fail(s);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor = rowbloom::NewRowPrefixExtractor(layout);
  std::unique_ptr<rocksdb::DB> db;
  s = rocksdb::DB::Open(options, path, rowbloom::Into(&db));
  if (s.ok()) s = db->Put({}, "1001:mail", "ada@example.org");
  if (s.ok()) s = db->Put({}, "1003:mail", "eve@example.org");
  if (s.ok()) s = db->Flush({});
  std::string mail;
  if (s.ok()) s = db->Get({}, "1001:mail", &mail);
  if (!s.ok()) return Fail(s);
  s = db->Get({}, "1002:mail", &mail);
  if (!s.IsNotFound()) return Fail(s);
  rowbloom::FilterStats stats;
  s = rowbloom::GetFilterStats(*table.filter_policy, &stats);
  if (!s.ok()) return Fail(s);
  if (!rowbloom::IsFilterActive(db.get()) || stats.row.skipped != 1) {
    return Fail(rocksdb::Status::Corruption("the filter was not used"));
  }
  return 0;
}

}  // namespace

int main() {
  std::string path =
      std::filesystem::temp_directory_path() / "static_rocksdb_XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return 1;
  const int exit_code = Run(path);
  std::filesystem::remove_all(path);
  return exit_code;
}
