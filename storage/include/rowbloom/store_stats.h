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
  // The level in the tree. -1 has the filter counters of bulk-loaded files,
  // which were made for no level.
  int level = 0;
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  // The counters of files that were made for this level, since the store was
  // opened. A file that RocksDB has moved to another level still counts here.
  FilterStats filter;
};

struct FamilyStats {
  FamilyOptions options;
  // RocksDB's estimate: puts less deletes, in memory and in files. Cells that
  // were overwritten, expired or taken by a row's delete count until compacted.
  uint64_t estimated_cells = 0;
  // Rows with a put, summed over files: a row in several files counts in each.
  // For cells in memory and in older files without a count, the same number of
  // rows per cell is assumed. nullopt: there are cells, and no counted file.
  std::optional<uint64_t> estimated_rows;
  uint64_t memtable_bytes = 0;  // cells not flushed yet
  uint64_t files = 0;
  uint64_t file_bytes = 0;    // SSTs, compressed
  uint64_t filter_bytes = 0;  // filter blocks in those SSTs
  uint64_t blob_files = 0;
  uint64_t blob_file_bytes = 0;    // garbage included
  std::vector<LevelStats> levels;  // those with files or counts, by level
  FilterStats filter;              // all levels', since the store was opened
  // Files that scans and reads of rows skipped since the store was opened, as
  // all of their versions are older than the time range. Each read counts.
  uint64_t files_passed_over = 0;
};

// Lookups of data blocks in the block cache since the store was opened. Index
// and filter blocks are not looked up there: open files hold them.
struct CacheStats {
  uint64_t hits = 0;
  uint64_t misses = 0;
};

struct StoreStats {
  std::string key_layout;
  std::map<std::string, FamilyStats> families;
  // A put with a TTL of its own was written to the store, or may have been.
  bool cell_ttls = false;
  uint64_t block_cache_bytes_used = 0;  // all users of the cache together
  // After the opening, families are kArming until a thread has read their
  // files. nullopt: the store was opened without a front filter.
  std::optional<FrontFilterStats> front_filter;
  // The counters of all families; nullopt without StoreOptions::statistics.
  std::optional<CacheStats> cache;
};

}  // namespace rowbloom
