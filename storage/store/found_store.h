// A look at the path of a store, before anything is opened for writing.
//
// The look opens the column family of the records alone, for reading. It keeps
// a database that is not ours, or that the caller takes for another store, as
// it is: opening one for writing changes it (tests
// StoreOpen.OtherRocksdbDatabaseIsNoStore, OtherOptionsThanKeptAreNamed).
#pragma once

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
  // The column families of a RocksDB database but "default"; empty without one.
  std::set<std::string> column_families;
  Metadata metadata;

  bool exists() const { return metadata.exists; }
  // True if `name` is a family with all that belongs to it.
  bool IsComplete(const std::string& name) const {
    return metadata.families.contains(name) && column_families.contains(name);
  }
};

// Changes nothing. InvalidArgument: there is something that is no store.
rocksdb::Status FindStore(rocksdb::Env* env, const std::string& path,
                          FoundStore* found);

// The files of a database that its writer makes and removes, with the sizes of
// those that grow, logs and MANIFEST, and 0 for others: tables, blobs and
// OPTIONS, of which it writes one with each change of a family. The size of the
// MANIFEST is read after those of logs.
using WrittenFiles = std::map<std::string, uint64_t>;
rocksdb::Status FindWrittenFiles(rocksdb::Env* env, const std::string& path,
                                 WrittenFiles* files);

// The files as they were at one time. A database that is read up to the ends of
// the MANIFEST and the logs is whole: the log has no later record than those
// that the MANIFEST was complete for.
struct StoreCut {
  std::string manifest;  // its name; empty: there is no database
  WrittenFiles files;

  // The bytes of a file of this name that are read, at most; nullopt: a
  // MANIFEST that came later.
  std::optional<uint64_t> EndOf(const std::string& name) const;
};

// TryAgain: the MANIFEST grew meanwhile. After errors *cut has no MANIFEST, and
// the files as far as they could be listed.
rocksdb::Status FindCut(rocksdb::Env* env, const std::string& path,
                        StoreCut* cut);

// An error of opening the database with the name of the SST, else of the store,
// that is damaged. RocksDB leaves it out of some messages, or names the
// MANIFEST (test Damage.OverwrittenFilesAreNamed), and gives a missing SST the
// name that LevelDB gave such files (MissingFilesAreNamed).
rocksdb::Status NamingDamagedFile(rocksdb::Env* env, const std::string& path,
                                  const rocksdb::Status& error);

}  // namespace rowbloom
