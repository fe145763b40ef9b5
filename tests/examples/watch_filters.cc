#include <iostream>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rowbloom/filter_policy.h"

void WatchFilters(rocksdb::DB* db, const rocksdb::FilterPolicy& policy) {
  std::vector<rowbloom::LevelFilterStats> levels;
  if (!GetFilterStats(policy, &levels).ok()) return;
  std::cout << "filters for new files: "
            << (rowbloom::IsFilterActive(db) ? "yes" : "no") << "\n";
  for (const auto& [level, stats] : levels) {
    for (const auto& [name, section] :
         {std::pair("ROW", stats.row), std::pair("ROWCOL", stats.row_col)}) {
      std::cout << "level " << level << ", " << name << ": skipped "
                << section.skipped << " of " << section.checked << ", unusable "
                << section.unusable << "; false positives "
                << section.false_positives << ", true "
                << section.true_positives << ", rate "
                << section.FalsePositiveRate() << "\n";
    }
  }
}
