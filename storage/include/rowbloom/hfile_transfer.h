// Exports a store's families as HFiles for HBase's bulk load, and imports
// HFiles.
//
//   rowbloom::HFileExportReport written;
//   rocksdb::Status s =
//       rowbloom::ExportHFiles({}, store, "export", &written);
//
//   rowbloom::HFileImportReport taken;
//   // `latest` families of another store take the newest version of each cell.
//   if (s.ok()) {
//     s = rowbloom::ImportHFiles({.latest_as_new = true}, {"export"}, other,
//                                &taken);
//   }
//
// Both may run during other reads and writes of the store. An import writes all
// of its cells when it ends: in a `latest` family (FamilyOptions) they replace
// cells that were written meanwhile (BulkLoad). doc/hbase.md leads from a store
// to a cluster and back, step by step.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/hfile_cell.h"
#include "rowbloom/hfile_reader.h"
#include "rowbloom/hfile_writer.h"
#include "rowbloom/store_options.h"

namespace rowbloom {

class Store;

// The progress of a transfer.
struct HFileProgress {
  uint64_t cells = 0;           // deletes too
  uint64_t expected_cells = 0;  // an estimate
  uint64_t cell_bytes = 0;      // rows, qualifiers and values
  uint64_t files = 0;           // written, or read to their end
};
// Called from time to time, and at the end, by the thread that transfers. If it
// returns false, the transfer stops and fails with Incomplete.
using HFileProgressCallback = std::function<bool(const HFileProgress&)>;

// ------------------------------------------------------------------- export

// The treatment of deletes. In both cases they are applied to the cells that
// are exported.
enum class HFileDeletes : uint8_t {
  // The files have puts only.
  kApplied,
  // The files also have the deletes that the store keeps. They delete cells
  // that the HBase table, or the store that imports the files, has already.
  kKept,
};

struct HFileExportOptions {
  std::vector<std::string> families;  // empty: all
  // The rows that are written: from the first, included, to the second,
  // excluded. An empty one is no bound.
  std::string start_row;
  std::string stop_row;
  // The first rows of the table's regions, in any order. No file crosses one.
  std::vector<std::string> region_start_rows;
  // The size of a file, in bytes, after which the next file begins with the
  // next row. A file may be larger by a row and a block. At least 1. The
  // default is the size at which HBase splits a region.
  uint64_t max_file_bytes = uint64_t{10} << 30;
  HFileDeletes deletes = HFileDeletes::kApplied;
  // The form of the files. An export sets the Bloom filter to what the family
  // has, with a rate from 1e-7 to 0.5 and a prefix of up to kHFileMaxRowBytes,
  // and marks the files as bulk loaded and, unless deletes are kept, as the
  // result of a major compaction.
  HFileWriterOptions file;
  HFileProgressCallback progress;
};

// A file that an export wrote.
struct HFileExported {
  std::string family;
  std::string path;
  std::string first_row;
  std::string last_row;
  uint64_t cells = 0;
  uint64_t deletes = 0;  // among the cells
  uint64_t file_bytes = 0;
};

struct HFileExportReport {
  std::vector<HFileExported> files;  // complete ones, by family and row
  // The most files that one region gets in one family. HBase takes
  // kHFilesPerRegion unless configured otherwise
  // (hbase.mapreduce.bulkload.max.hfiles.perRegion.perFamily).
  uint64_t most_files_per_region = 0;
};
inline constexpr uint64_t kHFilesPerRegion = 32;

// Writes the cells of families to <directory>/<family>/<32 hexadecimal digits>,
// as of one snapshot: all visible versions, with their timestamps. Versions
// that expire before their family is written are left out. The directory is
// created, or must be empty. Files are written to a hidden directory inside of
// it. When all are complete and on the disk, each family is renamed to its
// place. An export that fails leaves nothing, unless it fails, or its process
// ends, once these renames have begun; the report has the files in place. If
// the process ends earlier, or has no memory to remove it,
// `directory`/.export-* stays, which HBase skips. Errors:
//   InvalidArgument  an unknown family; a name, row, cell or timestamp that
//                    HBase does not take; a directory that is not empty; an
//                    option out of its range. The message says which.
//   Incomplete       the callback said so
//   others           as the store and HFileWriter report them
// Memory: that of an HFileWriter and of a CellIterator, and the report.
rocksdb::Status ExportHFiles(const HFileExportOptions& options, Store* store,
                             const std::string& directory,
                             HFileExportReport* report);

// ------------------------------------------------------------------- import

struct HFileImportOptions {
  // The family that all cells go to; empty: the one that they name.
  // NotSupported if the cells are of several families and some are deletes, as
  // these would take cells of all.
  std::string family;
  // The families whose cells are taken; empty: all. InvalidArgument if one is
  // neither in the files nor in the store.
  std::vector<std::string> families;
  // The rows that are taken: from the first, included, to the second, excluded.
  // An empty one is no bound.
  std::string start_row;
  std::string stop_row;
  // True: a `latest` family (FamilyOptions) takes the newest version of each
  // cell, as a new write: it replaces the cell of the store, even a newer one.
  // It keeps its timestamp, but no later one than the time at which the import
  // began (BulkLoad). False: such a family is refused.
  bool latest_as_new = false;
  // True: cells with tags that a store does not have (visibility, access
  // control, ...) are taken without these tags. False: such cells are refused.
  // A TTL stays with its cell, and a reference to a MOB file leads to its
  // value. Visibility labels are refused in any case in a family that has
  // deletes: in HBase a delete takes only cells of its own label, or those
  // without one.
  bool drop_tags = false;
  // True: a file that is refused is left out of the import as a whole, and the
  // others are loaded, also files that a compaction replaced by it. Deletes in
  // it are then missing, and so are those that the compaction dropped, so that
  // cells that they deleted may become visible. Every file is read twice, as it
  // has to be known to be whole before its first cell is loaded. The files of a
  // family with values in MOB files are read once more, all together, to learn
  // which values are needed, and again where one of these is missing. The load,
  // and new families of a snapshot, are made before the first reading: after a
  // crash these families may be left without cells.
  bool keep_going = false;
  // True: nothing is loaded or created. The report says what would be, and its
  // `cells` counts all cells of the files, even if rows are chosen. Errors are
  // those that files have before their cells are read; with keep_going, all but
  // those of cells that this store's key layout and timestamps refuse.
  // The store may be nullptr, which stands for a new one.
  bool dry_run = false;
  // Options of the reader. By default it reads what an export wrote, whatever
  // the size of its values.
  HFileReaderOptions reader = {.max_data_block_bytes = kHFileMaxBlockBytes};
  HFileProgressCallback progress;
};

struct HFileImportReport {
  uint64_t files = 0;    // opened; two halves of a file count twice
  uint64_t cells = 0;    // read
  uint64_t puts = 0;     // those cells that were loaded
  uint64_t deletes = 0;  // loaded
  // Cells that were read and not loaded: deleted by others, duplicates, past
  // their own TTL, older than the newest of a `latest` family, or beyond
  // kMaxCellBytes of a cell. Versions beyond max_versions are loaded, and the
  // store drops them later.
  uint64_t skipped = 0;
  uint64_t without_tags = 0;  // cells that had some (drop_tags)
  std::vector<FamilyDescriptor> new_families;  // those that were created
  // True: the import failed at a time when its cells may already be in the
  // store (BulkLoad::MayBeLoaded). The counts are of those cells, and new
  // families stay; import again.
  bool may_be_loaded = false;
  // The number of files and directories that were not read, as they do not have
  // cells of the table, by their name (".tmp", "recovered.edits") or kind
  // ("files of regions that were split or merged", "files that a compaction
  // replaced").
  std::map<std::string, uint64_t> passed_over;
  // The reasons for which files were left out, which name them (keep_going).
  std::vector<rocksdb::Status> left_out;
};

// Loads the cells of HFiles, all or none (Store::NewBulkLoad). A path is a file
// or a directory, which is searched with its subdirectories (that of a bulk
// load, or of a region or table of HBase). Names that start with '.' are left
// out, and so are recovered.edits and names that start with '_' unless the
// store has such a family. Files may overlap and come in any order.
//
// References to halves of files and links, which HBase makes when it splits,
// merges or clones, are followed to the file in its region's directory beside
// theirs, in the table's or in HBase's archive (`archive/data` beside `data`).
// A region that was split or merged is read only through references. It is one
// that files of other regions refer to, or all of whose rows are in newer
// regions (`.regioninfo`). The other regions of a table's directory must have
// each row once, as far as their `.regioninfo` says which rows they have. An
// upper half begins where its region does.
//
// Values in MOB files are read from `mobdir` beside `data`, or the archive.
//
// `versioned` families get versions and deletes with their timestamps, merged
// with those of the store. If store and file have the same entry, that of the
// file stays. Among files, the entry with the larger mvcc number stays, then
// that of the file with the larger MAX_SEQ_ID_KEY. In a file that HBase has
// bulk loaded as "..._SeqId_N_" both numbers are N, and in another one with
// BULKLOAD_TIMESTAMP both are MAX_SEQ_ID_KEY, or -1; with SKIP_RESET_SEQ_ID in
// its file info cells keep theirs, and the second is one more. Through a
// reference to an upper half, MAX_SEQ_ID_KEY and N are one more. Of files with
// one such number, the entry of the smaller one stays, then that of the one
// with the later BULKLOAD_TIMESTAMP, or with none, as in HBase. At last, and
// between files without a number, that of the later path stays. `latest`
// families get puts alone: deletes apply to the files' own cells.
// Errors, nothing being loaded unless the report's may_be_loaded is true:
//   InvalidArgument  a family that the store does not have; a cell that it does
//                    not take, or at kHFileLatestTimestamp, but for a put of a
//                    `latest` family, named with its file; a `latest` family
//                    or tags without the option; "_SeqId_" without a number; a
//                    directory that holds HBase's archive or MOB files, where
//                    deleted cells are, an exported snapshot, or regions of
//                    several tables
//   NotSupported     HFileReader's; a cell of an unknown type; a family that
//                    gets deletes and visibility labels, or deletes and cells
//                    of several families; a reference, link or MOB value whose
//                    file is not there, or writes in recovered.edits: the
//                    message says what to do
//   Corruption       a table's directory with no region, or two, for some rows;
//                    a `.regioninfo` that cannot be read, or is of another
//                    region than the name of its directory; HFileReader's
//   Incomplete       the callback said so
//   others           as HFileReader and the store report them
// Memory: a path and some numbers for each file; the load-on-open section and a
// data block (HFileReader) of each file whose rows overlap those being read,
// and of 64 MOB files; a MOB value; and that of a BulkLoad.
rocksdb::Status ImportHFiles(const HFileImportOptions& options,
                             const std::vector<std::string>& paths,
                             Store* store, HFileImportReport* report);

// A snapshot of a table in HBase, as its ExportSnapshot writes it.
struct HFileSnapshot {
  // The directory that has `.hbase-snapshot` and `archive`, or the root of an
  // HBase.
  std::string directory;
  std::string name;
};

// Reads the manifest of a snapshot, and checks it. NotFound: there is no
// snapshot of that name. Corruption, IOError and NotSupported name the file.
rocksdb::Status CheckHFileSnapshot(const HFileSnapshot& snapshot);

// Loads the cells of a snapshot, all or none, as ImportHFiles does. Families
// that the store has keep their options. Others are created, with timestamps of
// the client and the options that the table descriptor says: max_versions,
// min_versions, ttl_ms, bloom_type, filter_kind, row_prefix_length,
// block_size_bytes as far as a store goes, and LZ4 for any compression. Errors
// beside those of ImportHFiles, nothing being loaded and no family created:
//   InvalidArgument  a family that the table does not have; a new family with a
//                    name that a store's cannot have; a setting with a value
//                    that it cannot have
//   NotSupported     a new family with KEEP_DELETED_CELLS or
//                    NEW_VERSION_BEHAVIOR, which a store does not have: create
//                    it before, with the options that it is to have instead
//   Corruption       a manifest that is damaged, as far as can be told without
//                    a checksum: its regions do not have all rows once, it has
//                    fields that HBase has not, or a new family is without
//                    VERSIONS, MIN_VERSIONS, TTL or KEEP_DELETED_CELLS; a file
//                    that is missing or of another size than the manifest has
// If the process ends during the call, or a CreateFamily fails, new families
// may stay, without cells. Memory: that of ImportHFiles, and some 700 bytes
// more for each file of the snapshot.
rocksdb::Status ImportHFileSnapshot(const HFileImportOptions& options,
                                    const HFileSnapshot& snapshot, Store* store,
                                    HFileImportReport* report);

}  // namespace rowbloom
