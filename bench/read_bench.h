// Reads of databases under RocksDB's own filters and under rowbloom's.
//
// BenchReads writes the same cells into one database for each filter. The files
// are the same, and so are the bytes of the filters. Then it runs the same
// reads on each, checks every answer, counts files that were opened for nothing
// and blocks, and measures times: all databases are open at once and take turns
// of milliseconds, so that what else the machine does meets all alike.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cells.h"
#include "bench/comparison.h"
#include "bench/turns.h"
#include "rocksdb/status.h"

namespace rowbloom::bench {

// All of them but kRow take at most the bytes of kStock, and come close to
// them; where files are too small for that (some 100 cells), they have its
// bits.
enum class Filter : uint8_t {
  kNone,
  kStockKey,     // RocksDB's Bloom filter over whole keys
  kStock,        // over prefix and whole key, 10 bits per entry: the baseline
  kStockAgain,   // the same in a database of its own: the control
  kStockRibbon,  // RocksDB's Ribbon filter over prefix and whole key
  kRowbloom,     // ROW and ROWCOL
  kRow,          // ROW, 10 bits per row
};
inline constexpr std::array<Filter, 6> kAllFilters = {
    Filter::kNone,       Filter::kStockKey,    Filter::kStock,
    Filter::kStockAgain, Filter::kStockRibbon, Filter::kRowbloom};
inline constexpr std::array<Filter, 4> kOverviewFilters = {
    Filter::kNone, Filter::kStock, Filter::kRow, Filter::kRowbloom};
std::string_view ToString(Filter filter);
// The name of the directory of its database.
std::string_view DirectoryOf(Filter filter);

// The levels of the files: so many in level 0, rows dealt over them, or 16 in
// levels 1 to 5, each with three times the rows of the one above.
struct Tree {
  size_t level0 = 8;  // 0: five levels

  static const Tree kOneFile;
  static const Tree kEight;
  static const Tree kThirtyTwo;
  static const Tree kFiveLevels;

  // The number of files that may hold a key: one for each file of level 0, or
  // level.
  size_t SortedRuns() const { return level0 == 0 ? 5 : level0; }
  friend bool operator==(const Tree&, const Tree&) = default;
};
inline constexpr Tree Tree::kOneFile{1};
inline constexpr Tree Tree::kEight{8};
inline constexpr Tree Tree::kThirtyTwo{32};
inline constexpr Tree Tree::kFiveLevels{0};
inline constexpr std::array<Tree, 4> kAllTrees = {
    Tree::kOneFile, Tree::kEight, Tree::kThirtyTwo, Tree::kFiveLevels};
std::string ToString(const Tree& tree);

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
inline constexpr std::array<Read, 4> kOverviewReads = {
    Read::kGetPresent, Read::kGetAbsentRow, Read::kGetAbsentColumn,
    Read::kScanAbsentRow};
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
  // Deals the cells of each row over the files of level 0, instead of whole
  // rows: the worst case for filters by row.
  bool spread_rows = false;
  // Each at most once; kStock is among them.
  std::vector<Filter> filters = {kAllFilters.begin(), kAllFilters.end()};
  std::vector<Read> reads = {kAllReads.begin(), kAllReads.end()};
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
  // The observer of progress, if set, gets the name of each step.
  std::function<void(std::string_view)> on_step;
};

// The result of one kind of read under one filter. A MultiGet is one operation.
struct ReadResult {
  // Counted with everything cached; these repeat with the seed. A filter's
  // answers do not depend on the cache.
  uint64_t operations = 0;
  uint64_t found = 0;             // keys
  uint64_t files_considered = 0;  // for keys; the same for all filters
  uint64_t wasted_reads = 0;      // files opened that lacked the key
  // Blocks of each operation: looked up in the cache; those read from files.
  double blocks = 0;
  double blocks_read = 0;
  // The times of single operations, by the clock.
  double median_us = 0;
  double p99_us = 0;
  // The turns; ratios are to kStock.
  Measurement turns;
  // Processor time of one lookup in a filter's reader, outside of any database.
  // 0 unless a Get with everything cached and a filter.
  double probe_nanos = 0;

  double ConsideredPerOperation() const;
  double SkippedPercent() const;
  // Percent of an operation's processor time that its lookups in filters take;
  // 0 where probe_nanos is.
  double ProbePercent() const;
};

struct ReadsOfFilter {
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
  std::vector<ReadsOfFilter> filters;  // in the order of the options

  // REQUIRES that it is one of them.
  const ReadsOfFilter& operator[](Filter filter) const {
    return *std::find_if(
        filters.begin(), filters.end(),
        [filter](const ReadsOfFilter& one) { return one.filter == filter; });
  }
};

// One result for each caching. Errors:
//   InvalidArgument  too few rows for so many files, filters without kStock
//   Corruption       an answer was wrong, or the databases were not asked the
//                    same question: the message says which
//   others           as RocksDB reports them
// The directories that were made stay in every case.
rocksdb::Status BenchReads(const Cells& cells, const ReadBenchOptions& options,
                           std::vector<ShapeResult>* results);

// The claims of rowbloom of this verdict, a sentence each. The claims are: at
// most the bytes of kStock; a fiftieth of its wasted reads for absent rows,
// except in scans; and 1.05 times its wasted reads for anything else. Claims of
// counts are judged by the interval of their ratio.
std::vector<std::string> ClaimsThatAre(Verdict verdict,
                                       const ShapeResult& result);

}  // namespace rowbloom::bench
