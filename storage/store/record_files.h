// Checks that the files to which RocksDB appends records, the MANIFEST and the
// logs, are whole. RocksDB takes some damage for the end that a crash left. It
// then returns to an older state, removes newer tables, or skips writes that
// come before others.
#pragma once

#include <set>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/status.h"
#include "storage/store/database.h"

namespace rowbloom {

// Opens the "default" column family of the database at `path` for reading. In a
// copy, which has no logs, it opens all. `column_families` are all others.
// InvalidArgument: the options do not fit the database. Corruption: a log has a
// change twice, or begins before the log that it follows. Unless the database
// `may_be_incomplete`, also: the MANIFEST has a damaged record or lacks its
// end; or a log does so, later logs have changes, and the next of them does not
// begin with the number after its last write.
//
// A crash leaves at most a part of the last record, and it leaves the log that
// the last whole record of the MANIFEST needs: RocksDB deletes a log only after
// a record says that it is no longer needed. A database without logs is a copy,
// whose MANIFEST ends with a whole record and names all tables. So is one whose
// logs are empty and too new for its MANIFEST: its first opening for writing
// was interrupted.
rocksdb::Status OpenRecords(rocksdb::Env* env, const std::string& path,
                            const std::set<std::string>& column_families,
                            bool may_be_incomplete, Database* database);

// Sets *manifest to the name of the MANIFEST. Corruption: a record of it is
// damaged, or, in a copy, the end is missing. Without `is_copy` a missing end
// is no error, as a writer may be appending.
rocksdb::Status CheckManifest(rocksdb::Env* env, const std::string& path,
                              bool is_copy, std::string* manifest);

// Reads the name of the MANIFEST.
rocksdb::Status ReadCurrent(rocksdb::Env* env, const std::string& path,
                            std::string* manifest);

}  // namespace rowbloom
