// An exported snapshot: the families of its table, and the files of its
// regions. Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "storage/hfile_transfer/hbase_records.h"
#include "storage/hfile_transfer/store_files.h"

namespace rowbloom::hfile_transfer {

// Finds the files of a snapshot's regions that `takes_family` wants, below the
// directory that `.hbase-snapshot` is in. A StoreFile says why it cannot be
// read: not there, or of another size than the manifest has. Regions that were
// split are read through those that refer to them, and files of MOB values
// through nothing. Errors are those of a directory.
rocksdb::Status FindSnapshotFiles(
    const std::string& root, const SnapshotManifest& manifest,
    const std::function<bool(const std::string&)>& takes_family,
    std::vector<StoreFile>* files, PassedOver* passed_over);

}  // namespace rowbloom::hfile_transfer
