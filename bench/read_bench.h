// Reads of databases under RocksDB's own filters and under rowbloom's.
//
// BenchReads writes the same cells into one database for each filter. The files
// are the same, and so are the bytes of the filters. Then it runs the same
// reads on each, checks every answer, counts files that were opened for nothing
// and blocks, and measures times: all databases are open at once and take turns
// of milliseconds, so that what else the machine does meets all alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cells.h"
#include "rocksdb/status.h"

namespace rowbloom::bench {

// All of them take at most the bytes of kStock, and come close to them.
enum class Filter : uint8_t {
  kNone,
  kStockKey,     // RocksDB's Bloom filter over whole keys
  kStock,        // over prefix and whole key, 10 bits per entry: the baseline
  kStockAgain,   // the same in a database of its own: what a ratio is worth
  kStockRibbon,  // RocksDB's Ribbon filter over prefix and whole key
  kRowbloom,     // ROW and ROWCOL
};
inline constexpr std::array<Filter, 6> kAllFilters = {
    Filter::kNone,       Filter::kStockKey,    Filter::kStock,
    Filter::kStockAgain, Filter::kStockRibbon, Filter::kRowbloom};
std::string_view ToString(Filter filter);

// The levels of the files.
enum class Tree : uint8_t {
  kOneFile,     // one file in level 0
  kEight,       // 8 in level 0, rows dealt over them
  kThirtyTwo,   // 32
  kFiveLevels,  // levels 1 to 5, each three times the one above
};
inline constexpr std::array<Tree, 4> kAllTrees = {
    Tree::kOneFile, Tree::kEight, Tree::kThirtyTwo, Tree::kFiveLevels};
std::string_view ToString(Tree tree);
// The number of files that may hold a key: one for each file of level 0, or
// level.
size_t SortedRuns(Tree tree);

enum class Caching : uint8_t {
  kAll,    // all blocks in the cache, filters and indexes in the open files
  kTenth,  // a cache of a tenth of the data, filters and indexes in it, too
};
inline constexpr std::array<Caching, 2> kAllCachings = {Caching::kAll,
                                                        Caching::kTenth};
std::string_view ToString(Caching caching);

enum class Read : uint8_t {
  kGetPresent,       // a cell that exists
  kGetAbsentRow,     // a cell of a row that does not exist
  kGetAbsentColumn,  // a cell that an existing row does not have
  kScanAbsentRow,    // all cells of a row that does not exist
  kBatchPresent,     // MultiGet of 32 cells of different rows
  kBatchAbsentRow,   // MultiGet of 32 cells of rows that do not exist
  kColumnsPresent,   // MultiGet of 10 columns of one row; absent ones, too, if
                     // it has fewer
  kColumnsAbsentRow  // MultiGet of 10 columns of a row that does not exist
};
inline constexpr std::array<Read, 8> kAllReads = {
    Read::kGetPresent,     Read::kGetAbsentRow,    Read::kGetAbsentColumn,
    Read::kScanAbsentRow,  Read::kBatchPresent,    Read::kBatchAbsentRow,
    Read::kColumnsPresent, Read::kColumnsAbsentRow};
std::string_view ToString(Read read);
// Keys of one operation.
constexpr size_t KeysOf(Read read) {
  switch (read) {
    case Read::kBatchPresent:
    case Read::kBatchAbsentRow:
      return 32;
    case Read::kColumnsPresent:
    case Read::kColumnsAbsentRow:
      return 10;
    default:
      return 1;
  }
}

struct ReadBenchOptions {
  Tree tree = Tree::kEight;
  std::vector<Caching> cachings = {kAllCachings.begin(), kAllCachings.end()};
  // The number of times, about, that the files of a database are considered for
  // each kind of read when counting.
  uint64_t questions = 800'000;
  // Measuring time for each kind of read and caching, over all filters.
  double seconds = 1;
  // Decides which row is in which file and which names are asked for.
  uint64_t seed = 1;
  // Exists; gets a directory for each filter, which must not exist.
  std::string db_dir;
  // Told what is being done, if set.
  std::function<void(std::string_view)> on_step;
};

// The result of one kind of read under one filter. A MultiGet is one operation.
struct ReadResult {
  // Counted with everything cached; these repeat with the seed. A filter's
  // answers do not depend on the cache.
  uint64_t operations = 0;
  uint64_t found = 0;             // keys
  uint64_t files_considered = 0;  // for keys; the same for all filters
  uint64_t wrong_opens = 0;       // of these, let pass without the answer
  // Blocks of each operation: asked of the cache, and of these read from files.
  double blocks = 0;
  double blocks_read = 0;
  // The times of single operations, by the clock.
  double median_us = 0;
  double p99_us = 0;
  // The thread's processor time for an operation, the median over turns.
  double cpu_us = 0;
  // The median of ratios to kStock in turns side by side.
  double cpu_ratio = 0;
  double wall_ratio = 0;
  // Processor time of one question to a filter's reader, outside of any
  // database. 0 unless a Get with everything cached and a filter.
  double probe_nanos = 0;

  double ConsideredPerOperation() const;
  // Percent of an operation's processor time that its questions to filters
  // take; 0 where probe_nanos is.
  double ProbePercent() const;
};

struct FilterResult {
  Filter filter{};
  double bits_per_key = 0;  // as set; 0 for kNone
  uint64_t filter_bytes = 0;
  std::array<ReadResult, kAllReads.size()> reads;

  const ReadResult& operator[](Read read) const {
    return reads[static_cast<size_t>(read)];
  }
  ReadResult& operator[](Read read) { return reads[static_cast<size_t>(read)]; }
};

struct ShapeResult {
  Tree tree{};
  Caching caching{};
  uint64_t files = 0;
  uint64_t cache_bytes = 0;
  std::vector<FilterResult> filters;  // in the order of kAllFilters

  const FilterResult& operator[](Filter filter) const {
    return filters[static_cast<size_t>(filter)];
  }
};

// One result for each caching. Errors:
//   InvalidArgument  too few rows for so many files
//   Corruption       an answer was wrong, or the databases were not asked the
//                    same question: the message says which
//   others           as RocksDB reports them
// The directories that were made stay in every case.
rocksdb::Status BenchReads(const Cells& cells, const ReadBenchOptions& options,
                           std::vector<ShapeResult>* results);

// The claims of rowbloom that the counts do not bear out, a sentence each. The
// claims are: at most the bytes of kStock; a fiftieth of its wrong opens for
// absent rows, except in scans; and 1.05 times its wrong opens for anything
// else.
std::vector<std::string> BrokenClaims(const ShapeResult& result);

}  // namespace rowbloom::bench
