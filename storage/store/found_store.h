// FindStore inspects the path of a store before anything is opened for writing.
//
// It opens the column family of the records for reading only, and all others,
// too, if no log has a byte, as in a copy. So a database that is no store, or
// another store than the caller expects, stays unchanged: opening one for
// writing changes it (tests StoreOpen.OtherRocksdbDatabaseIsNoStore,
// OtherOptionsThanKeptAreNamed).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "rocksdb/env.h"
#include "rocksdb/status.h"
#include "storage/store/metadata.h"

namespace rowbloom {

// Names in the store's directory, as FORMAT.md has them.
inline constexpr char kCreationMark[] = "ROWBLOOM_CREATING";
inline constexpr char kLoadDirectoryPrefix[] = "ROWBLOOM_LOAD-";

// RocksDB's names.
inline constexpr std::string_view kManifestPrefix = "MANIFEST-";
inline bool IsLog(std::string_view name) { return name.ends_with(".log"); }

// The number that `text` starts with; 0: none.
uint64_t LeadingNumber(std::string_view text);

struct FoundStore {
  bool creation_mark = false;
  size_t table_files = 0;  // their number
  // The column families of a RocksDB database but "default"; empty without one.
  std::set<std::string> column_families;
  Metadata metadata;

  bool exists() const { return metadata.exists; }
  // True if family `name` has both its record and its column family.
  bool IsComplete(const std::string& name) const {
    return metadata.families.contains(name) && column_families.contains(name);
  }
};

// Changes nothing. InvalidArgument: the path has something that is no store.
rocksdb::Status FindStore(rocksdb::Env* env, const std::string& path,
                          FoundStore* found);

// The files of a database that its writer creates and removes. Files that grow,
// logs and the MANIFEST, have their sizes; others have 0: tables, blobs and
// OPTIONS, of which each change of a family writes one. The size of the
// MANIFEST is read after those of logs.
using WrittenFiles = std::map<std::string, uint64_t>;
rocksdb::Status FindWrittenFiles(rocksdb::Env* env, const std::string& path,
                                 WrittenFiles* files);

// The files of a database at one time. If the MANIFEST and the logs are read up
// to these sizes, the database is whole: the MANIFEST was complete for all
// records of the logs.
struct StoreCut {
  std::string manifest;  // its name; empty: there is no database
  WrittenFiles files;

  // Returns how many bytes of a file of this name may be read. nullopt: the
  // file is a later MANIFEST.
  std::optional<uint64_t> EndOf(const std::string& name) const;
};

// TryAgain: the MANIFEST grew or was replaced. After an error *cut has no
// MANIFEST, but the files that could be listed.
rocksdb::Status FindCut(rocksdb::Env* env, const std::string& path,
                        StoreCut* cut);

// Adds the name of the damaged SST, or else of the store, to an error of
// opening the database. RocksDB leaves the name out of some messages, or names
// the MANIFEST (test Damage.OverwrittenFilesAreNamed). It names a missing SST
// as LevelDB named such files (MissingFilesAreNamed).
rocksdb::Status NamingDamagedFile(rocksdb::Env* env, const std::string& path,
                                  const rocksdb::Status& error);

}  // namespace rowbloom
