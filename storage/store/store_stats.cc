// Store::Stats, gathered from RocksDB and the filter policies.
#include <map>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/metadata.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table_properties.h"
#include "storage/store/row_counter.h"
#include "storage/store/store_impl.h"

namespace rowbloom {
namespace {

using rocksdb::Status;
using Properties = rocksdb::DB::Properties;

// Estimates the rows from the counts in the files, and adds the filter bytes.
Status ReadTables(const OpenedStore& opened, const Family& family,
                  FamilyStats* stats) {
  rocksdb::TablePropertiesCollection tables;
  Status s =
      opened.database->GetPropertiesOfAllTables(family.handle(), &tables);
  uint64_t rows = 0;
  uint64_t puts = 0;
  for (const auto& [file, properties] : tables) {
    stats->filter_bytes += properties->filter_size;
    const auto of_rows = NumberOf(*properties, kRowsProperty);
    const auto of_puts = NumberOf(*properties, kPutsProperty);
    if (!of_rows || !of_puts || *of_rows > *of_puts) continue;
    rows += *of_rows;
    puts += *of_puts;
  }
  if (stats->estimated_cells == 0) {
    stats->estimated_rows = 0;
  } else if (puts > 0) {
    stats->estimated_rows = static_cast<uint64_t>(
        static_cast<double>(rows) / static_cast<double>(puts) *
        static_cast<double>(stats->estimated_cells));
  }
  return s;
}

Status ReadLevels(const OpenedStore& opened, const Family& family,
                  FamilyStats* stats) {
  std::map<int, LevelStats> levels;
  rocksdb::ColumnFamilyMetaData tree;
  opened.database->GetColumnFamilyMetaData(family.handle(), &tree);
  stats->files = tree.file_count;
  stats->file_bytes = tree.size;
  stats->blob_files = tree.blob_file_count;
  stats->blob_file_bytes = tree.blob_file_size;
  for (const rocksdb::LevelMetaData& level : tree.levels) {
    if (level.files.empty()) continue;
    levels[level.level].files = level.files.size();
    levels[level.level].file_bytes = level.size;
  }
  std::vector<LevelFilterStats> filters;
  Status s = family.filter_policy->Stats(&filters);
  if (!s.ok()) return s;
  for (const LevelFilterStats& filter : filters) {
    levels[filter.level].filter += filter.stats;
    stats->filter += filter.stats;
  }
  for (auto& [number, level] : levels) {
    level.level = number;
    stats->levels.push_back(level);
  }
  return s;
}

}  // namespace

Status Store::Stats(StoreStats* stats) {
  const OpenedStore& opened = impl_->opened;
  return CatchExceptions([&]() -> Status {
    *stats = {};
    stats->key_layout = opened.key_layout().ToString();
    stats->cell_ttls = opened.shared->MayHave(kCellTtls);
    stats->block_cache_bytes_used = opened.options.block_cache->GetUsage();
    const SharedFamilies families = opened.families->Get();
    for (const auto& [name, family] : *families) {
      FamilyStats& found = stats->families[name];
      found.options = family.options;
      found.files_passed_over = family.shared_rules->files_passed_over;
      rocksdb::ColumnFamilyHandle* const handle = family.handle();
      // RocksDB has these properties of every family.
      const auto number = [&](const std::string& property) {
        uint64_t value = 0;
        opened.database->GetIntProperty(handle, property, &value);
        return value;
      };
      found.estimated_cells = number(Properties::kEstimateNumKeys);
      found.memtable_bytes = number(Properties::kCurSizeAllMemTables);
      Status s = ReadLevels(opened, family, &found);
      if (s.ok()) s = ReadTables(opened, family, &found);
      if (!s.ok()) return s;
    }
    if (const FrontFilter* const front = opened.database.front_filter()) {
      stats->front_filter = front->Stats();
    }
    if (const auto counted = opened.database->GetDBOptions().statistics) {
      stats->cache = {counted->getTickerCount(rocksdb::BLOCK_CACHE_DATA_HIT),
                      counted->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS)};
    }
    return Status::OK();
  });
}

}  // namespace rowbloom
