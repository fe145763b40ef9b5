// Finds out whether the end of a MANIFEST is missing.
//
// RocksDB takes a MANIFEST that ends early for one whose last records a crash
// kept from the disk. That is right after a crash; after a copy that was cut
// short it goes back to an older state, and removes the newer SSTs. What tells
// the two apart are the logs: RocksDB deletes one only after a record says that
// it is needed no more.
#pragma once

#include <string>

#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace rowbloom {

// Corruption: the MANIFEST that CURRENT names needs a log that is gone, though
// later ones are there. Otherwise OK, also without any log, as in a backup.
// REQUIRES a database whose MANIFEST RocksDB has read. Errors beside it are
// those of reading files.
rocksdb::Status CheckManifestEnd(rocksdb::Env* env, const std::string& path);

}  // namespace rowbloom
