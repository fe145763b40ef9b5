// The RocksDB plug-in: a FilterPolicy that gives each SST a filter block with
// a ROW and a ROWCOL section, and the prefix extractor that lets row scans
// reach the ROW section.
//
//   rocksdb::Options options;
//   rocksdb::Status s = rowbloom::ConfigureRowFilters(
//       {.key_layout = rowbloom::KeyLayout::Delimited(':')}, &options);
//
// Gets then probe both sections; iterators with
// ReadOptions::prefix_same_as_start probe the ROW section. Switching to
// rowbloom and back loses no key: it reads the filters that RocksDB's Bloom and
// Ribbon policies wrote, and those policies answer "may match" for its blocks.
// See doc/filter_policy.md.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/status.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/key_layout.h"

namespace rocksdb {
class ColumnFamilyHandle;
struct ColumnFamilyOptions;
class DB;
class Statistics;
class TablePropertiesCollectorFactory;
}  // namespace rocksdb

namespace rowbloom {

// The filters of new files; see filter_spec.h.
using FilterPolicyOptions = FilterSpec;

// Makes a policy for BlockBasedTableOptions::filter_policy. Thread-safe, as is
// the policy. Errors, with *policy left as it was:
//   InvalidArgument  key_layout is not set, or an option is out of its range;
//                    the message names it
//   NotSupported     the RocksDB library loaded at run time has another minor
//                    version than the headers
rocksdb::Status NewFilterPolicy(
    const FilterPolicyOptions& options,
    std::shared_ptr<const rocksdb::FilterPolicy>* policy);

// The prefix extractor of a layout: Transform(key) is the key's row bytes. A
// key outside the layout is not InDomain, nor is one for which a custom layout
// throws: RocksDB's own prefix filter of a memtable, which is off by default,
// then lacks it. Total on any bytes, idempotent, thread-safe; the layout is
// part of its name. nullptr: the layout has no id that reads back, such as
// FixedRow(0), and NewFilterPolicy refuses it.
//
// WARNING: with a prefix extractor, RocksDB promises an iterator only the keys
// of the row that it was seeked to, whatever the filter policy. An iterator
// with default ReadOptions that goes on into other rows MAY MISS ROWS. Set
//
//   total_order_seek = true      where an iterator leaves the row of its seek
//                                key: safe for any range, and uses no filter
//   auto_prefix_mode = true      the same with an iterate_upper_bound: uses the
//                                filter where the bound lies in the row. With
//                                "fixed:N" only if no key is shorter than N
//   prefix_same_as_start = true  where an iterator stays in one row: uses the
//                                filter, and ends with the row
//
// From RocksDB 9.7 on, DBOptions::prefix_seek_opt_in_only = true makes
// iterators with default ReadOptions safe. Gets and MultiGets always are.
std::shared_ptr<const rocksdb::SliceTransform> NewRowPrefixExtractor(
    const KeyLayout& key_layout);

// Sets up a column family for rowbloom: the policy of NewFilterPolicy in its
// block-based table factory, whose other options stay; the extractor of
// NewRowPrefixExtractor; NewFilterPropertiesFactory. Parts that are set up
// already are kept: another call with the same options changes nothing; one
// with other options changes the policy. The policy, for GetFilterStats, is
// table_factory->GetOptions<BlockBasedTableOptions>()->filter_policy.
//
// WARNING: iterators that leave the row of their seek key may miss rows from
// now on unless they have total_order_seek or auto_prefix_mode: see
// NewRowPrefixExtractor.
//
// Errors, with *family left as it was: those of NewFilterPolicy, and
//   InvalidArgument  the table factory is not block-based, or prefix_extractor
//                    is set to another one than the layout's
rocksdb::Status ConfigureRowFilters(const FilterPolicyOptions& options,
                                    rocksdb::ColumnFamilyOptions* family);

// Makes policies, extractors and the properties factory known to RocksDB's
// object registry by their ids, so that an OPTIONS file that names them can be
// loaded. Thread-safe; calling it again has no effect.
//   NotSupported  the RocksDB library loaded at run time has another minor
//                 version than the headers, and nothing was registered
rocksdb::Status RegisterRowbloom();

// Tells whether new files of the column family get filters of rowbloom: its
// table factory is block-based, with a policy of ours that builds some, and
// RocksDB hands it keys or prefixes. RocksDB itself is silent when a policy is
// missing, and when an OPTIONS file has a misspelt id of one.
bool IsFilterActive(const rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family);
// The same for the default column family.
bool IsFilterActive(const rocksdb::DB* db);

// Lookups in one kind of section since its policy was made.
//
// True and false positives and true negatives are counted for databases whose
// DBOptions::statistics is a NewFilterStatistics. A get counts for ROWCOL where
// the block has that and it was probed, and for the row where the block has no
// ROWCOL: a "may match" of ROWCOL does not tell whether the row exists.
// A scan by prefix_same_as_start or auto_prefix_mode counts for the row if it
// found nothing in the whole database, or had only one file that may match,
// which then counts as a true positive, even if only a memtable had the row.
// A seek behind the last key of a row, or in one that was deleted, finds
// nothing, too: files that have the row count as false positives then.
// MultiGets with whole_key_filtering off do not count before RocksDB 8.3. No
// MultiGet counts for a file where keys pass that count for no section, such as
// bare rows beside ROWCOL: RocksDB does not tell which keys the file had.
struct SectionStats {
  uint64_t checked = 0;   // lookups that a trusted section answered
  uint64_t skipped = 0;   // those answered "no": the file was not opened
  uint64_t unusable = 0;  // lookups that met a damaged or unknown section

  uint64_t true_positives = 0;   // "may match", and the file had the key
  uint64_t false_positives = 0;  // "may match", and the file did not have it
  uint64_t true_negatives = 0;   // "no", and the file did not have it

  // false_positives / (false_positives + true_negatives); 0 without any.
  double FalsePositiveRate() const;

  SectionStats& operator+=(const SectionStats& other);
};

// Counters of one policy.
struct FilterStats {
  SectionStats row;        // ROW and ROWPREFIX sections
  SectionStats row_col;    // ROWCOL sections
  uint64_t asked = 0;      // keys looked up in rowbloom's own blocks
  uint64_t may_match = 0;  // those that may be in the file
  uint64_t blocks_built = 0;
  uint64_t blocks_failed = 0;  // could not be built, and answer "may match"
  uint64_t bytes_built = 0;
  uint64_t build_nanos = 0;    // to make blocks of hashed keys; not the hashing
  uint64_t blocks_opened = 0;  // each time RocksDB loads one
  // Blocks that are damaged or unknown as a whole. A block that fails RocksDB's
  // own checksum is not opened at all.
  uint64_t blocks_unusable = 0;
  uint64_t bytes_loaded = 0;           // the blocks that RocksDB holds now
  uint64_t builtin_blocks_opened = 0;  // written by RocksDB's own policies

  FilterStats& operator+=(const FilterStats& other);
};

// Counters of the files that were made for one level. RocksDB may move a file
// to another level without a new filter: it still counts for its first level.
struct LevelFilterStats {
  // -1 where not known: for files that SstFileWriter made, for blocks that
  // cannot be read, and for RocksDB's own filters.
  int level = -1;
  FilterStats stats;
};

// Reads the counters of a policy made by NewFilterPolicy, over all files and
// column families that use it; consistent enough to watch, exact when no reads
// are under way. InvalidArgument: another policy.
rocksdb::Status GetFilterStats(const rocksdb::FilterPolicy& policy,
                               FilterStats* stats);

// The same by level. Column families that share a policy share its counters.
rocksdb::Status GetFilterStats(const rocksdb::FilterPolicy& policy,
                               std::vector<LevelFilterStats>* stats);

// A statistics object for DBOptions::statistics that learns from RocksDB's
// tickers whether files that may match had the key. It hands everything on to
// `inner`, which may be null. One may serve many databases. Thread-safe. The
// level of detail is the inner one's when this is made; set it there and here
// to change it. A ticker does not name its database. So all databases of a
// process that have policies of rowbloom should have such an object, or none:
// otherwise lookups in those without it are judged by the tickers of the
// others. The last few lookups before a database is closed may be counted for
// another one.
std::shared_ptr<rocksdb::Statistics> NewFilterStatistics(
    std::shared_ptr<rocksdb::Statistics> inner = nullptr);

// For Options::table_properties_collector_factories: gives each SST with a
// filter of rowbloom a property kFilterProperty, which RocksDB's tools and
// DB::GetPropertiesOfAllTables show with or without rowbloom:
//
//   version=1 type=ROWCOL kind=bloom blocks=1 bytes=12635
//   row.keys=1000 row.bits_per_key=10.24 row_col.keys=9000
//   row_col.bits_per_key=9.96 layout=delimited::
//
// in one line; sums over the blocks of a partitioned filter. Thread-safe.
std::shared_ptr<rocksdb::TablePropertiesCollectorFactory>
NewFilterPropertiesFactory();

inline constexpr char kFilterProperty[] = "rowbloom.filter";

}  // namespace rowbloom
