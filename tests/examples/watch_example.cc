#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"

void Print(const char* section, const rowbloom::SectionStats& stats) {
  std::cout << "  " << section << ": checked " << stats.checked << ", skipped "
            << stats.skipped << ", unusable " << stats.unusable
            << "; last word: true positives " << stats.true_positives
            << ", false " << stats.false_positives << ", rate "
            << stats.FalsePositiveRate() << "\n";
}

int main() {
  rowbloom::FilterPolicyOptions filter;
  filter.key_layout = rowbloom::KeyLayout::Delimited(':');
  rocksdb::BlockBasedTableOptions table;
  table.optimize_filters_for_memory = false;  // true from RocksDB 9.2 on
  rocksdb::Status s = rowbloom::NewFilterPolicy(filter, &table.filter_policy);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor = rowbloom::NewRowPrefixExtractor(filter.key_layout);
  options.statistics =
      rowbloom::NewFilterStatistics(rocksdb::CreateDBStatistics());
  options.table_properties_collector_factories.push_back(
      rowbloom::NewFilterPropertiesFactory());
  rocksdb::DB* opened = nullptr;
  if (s.ok()) s = rocksdb::DB::Open(options, "watch.db", &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);

  // Three files of 1,000 rows, whose ranges overlap; every fourth row in none.
  const auto row = [](int i) { return std::to_string(10'000 + i) + ":"; };
  for (int file = 0; file < 3 && s.ok(); ++file) {
    for (int i = file; i < 4'000 && s.ok(); i += 4) {
      s = db->Put({}, row(i) + "mail", "ada@example.org");
    }
    if (s.ok()) s = db->Flush({});
  }
  std::string mail;
  rocksdb::ReadOptions in_row;
  in_row.prefix_same_as_start = true;
  for (int i = 100; i < 3'900 && s.ok(); ++i) {  // within all ranges
    db->Get({}, row(i) + "mail", &mail);         // a quarter are absent rows
    db->Get({}, row(i) + "phone", &mail);        // all are absent columns
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(in_row));
    for (it->Seek(row(i)); it->Valid() && it->key().starts_with(row(i));) {
      it->Next();
    }
    s = it->status();
  }

  std::vector<rowbloom::LevelFilterStats> levels;
  if (s.ok()) s = GetFilterStats(*table.filter_policy, &levels);
  rocksdb::TablePropertiesCollection files;
  if (s.ok()) s = db->GetPropertiesOfAllTables(&files);
  std::cout << s.ToString() << ", filters of new files: "
            << (s.ok() && rowbloom::IsFilterActive(db.get())) << "\n";
  for (const rowbloom::LevelFilterStats& level : levels) {
    std::cout << level.column_family << ", level " << level.level << ": "
              << level.stats.blocks_built << " blocks, "
              << level.stats.bytes_loaded << " bytes loaded\n";
    Print("ROW", level.stats.row);
    Print("ROWCOL", level.stats.row_col);
  }
  if (files.empty()) return 1;
  std::cout << files.begin()->second->user_collected_properties.at(
                   rowbloom::kFilterProperty)
            << "\n";
}
