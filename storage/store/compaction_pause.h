// A pause of a store's compactions, in which RocksDB ingests files.
#pragma once

#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/status.h"

namespace rowbloom {

// No compaction of the column families runs from Begin until the object goes.
//
// RocksDB (7.8.3 to 11.8.1) looks for older values of an ingested file's keys
// in the files that readers have (ExternalSstFileIngestionJob::Run). A flush or
// a compaction whose record of the MANIFEST another thread wrote changes the
// files some time before readers have the new ones. A file that is ingested in
// between may get sequence number 0 beside older values, which then hide its
// own; and where readers had no file, RocksDB reads past an array.
//
// Not thread-safe. Two pauses of a family must not be at one time, nor a pause
// and a compaction that is asked for.
class CompactionPause {
 public:
  // `automatic` says whether RocksDB compacts the families by itself at other
  // times.
  CompactionPause(rocksdb::DB* database, bool automatic,
                  std::vector<rocksdb::ColumnFamilyHandle*> families)
      : database_(database),
        automatic_(automatic),
        families_(std::move(families)) {}
  ~CompactionPause();
  CompactionPause(const CompactionPause&) = delete;
  CompactionPause& operator=(const CompactionPause&) = delete;

  // Waits for the compactions that run. Errors are RocksDB's.
  rocksdb::Status Begin();

  // Flushes the families, and gives readers all files that they have. REQUIRES
  // that nothing is written to the families from now on.
  rocksdb::Status Settle();

 private:
  rocksdb::Status SetAutomatic(bool automatic);
  bool AnyRuns() const;

  rocksdb::DB* const database_;
  const bool automatic_;
  const std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

}  // namespace rowbloom
