// The statistics that Store::Stats gives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rowbloom/filter_policy.h"
#include "rowbloom/front_filter.h"
#include "rowbloom/store_options.h"

namespace rowbloom {

// One level of the LSM tree of a family. Files of level 0 may overlap; those of
// a deeper one do not.
struct LevelStats {
  // The level in the tree. -1 has the counters of filters of bulk-loaded files,
  // which were made for no level.
  int level = 0;
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  // The counters of files that were made for this level, since the store was
  // opened. RocksDB may move a file to another level: it goes on counting here.
  FilterStats filter;
};

struct FamilyStats {
  FamilyOptions options;
  // RocksDB's estimate: puts less deletes, in memory and in files. Cells that
  // were overwritten, expired or taken by a row's delete count until compacted.
  uint64_t estimated_cells = 0;
  // Rows with a put are counted in each file as it is written, so that a row in
  // several files counts in each. Cells in memory, and in older files without
  // such counts, are taken to have as many rows per cell. nullopt: there are
  // cells, and no counted file.
  std::optional<uint64_t> estimated_rows;
  uint64_t memtable_bytes = 0;  // cells not flushed yet
  uint64_t files = 0;
  uint64_t file_bytes = 0;    // SSTs, compressed
  uint64_t filter_bytes = 0;  // filter blocks in those SSTs
  uint64_t blob_files = 0;
  uint64_t blob_file_bytes = 0;    // garbage included
  std::vector<LevelStats> levels;  // those that have something, by level
  FilterStats filter;              // all levels', since the store was opened
  // Files that scans and reads of rows passed over since the store was opened,
  // as all that they have is older than the time range. Each read counts.
  uint64_t files_passed_over = 0;
};

// Data blocks that reads looked for in the block cache, since the store was
// opened. Index and filter blocks are not looked for: open files hold them.
struct CacheStats {
  uint64_t hits = 0;
  uint64_t misses = 0;
  // hits / (hits + misses); 0 without any.
  double HitRate() const;
};

struct StoreStats {
  std::string key_layout;
  std::map<std::string, FamilyStats> families;
  // A put with a TTL of its own was written to the store, or may have been.
  bool cell_ttls = false;
  uint64_t block_cache_bytes_used = 0;  // all users of the cache together
  // Its families are kArming until a thread has read their files, after the
  // store was opened. nullopt: the store was opened without one.
  std::optional<FrontFilterStats> front_filter;
  // The counters of all families; nullopt without StoreOptions::statistics.
  std::optional<CacheStats> cache;
};

}  // namespace rowbloom
