// strict_load DB: loads the options of a database strictly, as a program should
// that counts on its filters, and prints what they name. It is built without
// rowbloom. Exit status: 0 loaded, 1 refused, 2 usage.
#include <cstdio>
#include <string>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/options_util.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: strict_load DB\n");
    return 2;
  }
  rocksdb::ConfigOptions strict;
  strict.ignore_unknown_options = false;
  strict.ignore_unsupported_options = false;
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  const rocksdb::Status status =
      rocksdb::LoadLatestOptions(strict, argv[1], &db_options, &families);
  if (!status.ok()) {
    std::printf("%s\n", status.ToString().c_str());
    return 1;
  }
  for (const auto& family : families) {
    const auto* table = family.options.table_factory
                            ->GetOptions<rocksdb::BlockBasedTableOptions>();
    const auto& extractor = family.options.prefix_extractor;
    std::printf(
        "%s: %s, %s\n", family.name.c_str(),
        table == nullptr || table->filter_policy == nullptr
            ? "no filter policy"
            : table->filter_policy->Name(),
        extractor == nullptr ? "no prefix extractor" : extractor->Name());
  }
  return 0;
}
