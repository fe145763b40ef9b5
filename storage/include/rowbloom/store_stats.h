// The statistics that Store::Stats gives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rowbloom/filter_policy.h"
#include "rowbloom/store_options.h"

namespace rowbloom {

// One level of the LSM tree of a family. Files of level 0 may overlap; those of
// a deeper one do not.
struct LevelStats {
  // -1: no level of the tree, but what the filters of files from bulk loads
  // counted.
  int level = 0;
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  // The counters of files that were made for this level, since the store was
  // opened. RocksDB may move a file to another level: it goes on counting here.
  FilterStats filter;
};

struct FamilyStats {
  FamilyOptions options;
  // RocksDB's estimate: puts less deletes, in memory and in files. What is
  // overwritten, expired or taken by a row's delete counts until compacted.
  uint64_t estimated_cells = 0;
  // Rows with a put are counted in each file as it is written, so that a row in
  // several files counts in each; cells in memory, and in files from before
  // there were such counts, are taken to be as many a row. nullopt: there are
  // cells, and no counted file.
  std::optional<uint64_t> estimated_rows;
  uint64_t memtable_bytes = 0;  // what is not flushed yet
  uint64_t files = 0;
  uint64_t file_bytes = 0;         // SSTs, compressed
  uint64_t filter_bytes = 0;       // filter blocks in those SSTs
  std::vector<LevelStats> levels;  // those that have something, by level
  FilterStats filter;              // of all levels, since the store was opened
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
  uint64_t block_cache_bytes_used = 0;  // of all families
  // The counters of all families; nullopt without StoreOptions::statistics.
  std::optional<CacheStats> cache;
};

}  // namespace rowbloom
