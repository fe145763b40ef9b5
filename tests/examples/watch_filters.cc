#include <iostream>
#include <vector>

#include "rocksdb/db.h"
#include "rowbloom/filter_policy.h"

void Print(const char* section, const rowbloom::SectionStats& stats) {
  std::cout << "  " << section << " skipped " << stats.skipped << " of "
            << stats.checked << ", unusable " << stats.unusable
            << "; true positives " << stats.true_positives << ", false "
            << stats.false_positives << ", rate " << stats.FalsePositiveRate()
            << "\n";
}

void WatchFilters(rocksdb::DB* db, const rocksdb::FilterPolicy& policy) {
  std::vector<rowbloom::LevelFilterStats> levels;
  rocksdb::TablePropertiesCollection files;
  if (!GetFilterStats(policy, &levels).ok()) return;
  if (!db->GetPropertiesOfAllTables(&files).ok()) return;
  size_t ours = 0;
  for (const auto& [name, properties] : files) {
    ours +=
        properties->user_collected_properties.count(rowbloom::kFilterProperty);
  }
  std::cout << "new files get filters: "
            << (rowbloom::IsFilterActive(db) ? "yes" : "no") << "; " << ours
            << " of " << files.size() << " files have them\n";
  for (const rowbloom::LevelFilterStats& level : levels) {
    std::cout << level.column_family << ", level " << level.level << ", "
              << level.stats.bytes_loaded << " bytes loaded\n";
    Print("ROW", level.stats.row);
    Print("ROWCOL", level.stats.row_col);
  }
}
