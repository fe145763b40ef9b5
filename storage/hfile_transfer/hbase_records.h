// The small records that HBase keeps beside its HFiles: references to halves
// of files, and manifests of snapshots. Their bytes may be anything; errors
// name the file and what was expected of it. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"

namespace rowbloom::hfile_transfer {

// Rows from the first, included, to the second, excluded. An empty one is no
// bound.
struct RowRange {
  std::string start_row;
  std::string stop_row;

  // Leaves out the rows that `other` has not.
  void ClipTo(const RowRange& other);
};

// The largest record that is read, in bytes. HBase takes manifests of 64 MiB
// unless configured otherwise. Memory is some 16 times as much, or 700 bytes
// for each file of a snapshot.
inline constexpr uint64_t kMaxRecordBytes = uint64_t{256} << 20;

// Attributes and configuration.
using Settings = std::map<std::string, std::string>;

// A family of a table descriptor. Under names that its settings do not have,
// those of the table count, which all families share.
struct FamilySchema {
  std::string name;
  Settings settings;
  std::shared_ptr<const Settings> of_table = nullptr;
};

struct SnapshotFile {
  std::string name;  // an HFile's, reference's or link's
  std::string family;
  std::optional<RowRange> half;        // set for a reference
  std::optional<uint64_t> file_bytes;  // the HFile's
};

struct SnapshotRegion {
  RowRange rows;
  bool is_split = false;  // into others, which refer to its files
  bool is_mob = false;    // has the table's MOB files, and no rows
  std::vector<SnapshotFile> files;
};

struct SnapshotManifest {
  std::string name_space;
  std::string table;
  std::vector<FamilySchema> families;
  std::vector<SnapshotRegion> regions;
};

// A region, as its own directory has it.
struct RegionInfo {
  std::string table;  // TABLE, or NAMESPACE:TABLE if that is not `default`
  uint64_t id = 0;    // larger than those of regions that it comes from
  RowRange rows;
};

// Corruption, without a file: a name that would lead to another directory, or
// to none.
rocksdb::Status CheckName(const char* what, std::string_view name);

// The rows of the half that a reference stands for. Corruption, IOError.
rocksdb::Status ReadReference(const std::string& path, RowRange* rows);

// Makes an upper half, which has all rows from one on, begin with the region
// that its reference is in. The file has no rows between the two: a split is at
// the region's first row, and in a merge the file begins with one of the
// regions that were merged. So a damaged row in the reference loses none.
// Corruption, without a file: a half that no reference in a region of these
// rows stands for. A region that was split leaves to each new one the half on
// its side; the files of regions that were merged are taken from a row on.
rocksdb::Status FitHalf(const RowRange& region, RowRange* half);

// The names of the files in whose place a compaction wrote a file, from the
// value of that one's COMPACTION_EVENT_KEY. Corruption, without a file.
rocksdb::Status ReadCompactedFiles(std::string_view bytes,
                                   std::vector<std::string>* names);

// The contents of a region's `.regioninfo`. It has no checksum, but table,
// first row and id have to be those of which HBase made the name of the
// directory, and nothing in it may be unknown. Corruption, IOError.
rocksdb::Status ReadRegionInfo(const std::string& path, RegionInfo* region);

// The manifest of the snapshot whose own directory this is. HBase gives it no
// checksum: its regions have to have all rows of a table, each once, and
// nothing in it may be unknown. Corruption, IOError, NotFound: no snapshot
// here; NotSupported: a snapshot without a manifest, as HBase made them before
// 0.98.
rocksdb::Status ReadSnapshotManifest(const std::string& directory,
                                     SnapshotManifest* manifest);

}  // namespace rowbloom::hfile_transfer
