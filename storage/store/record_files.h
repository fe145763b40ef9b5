// The check that the files to which RocksDB appends records, the MANIFEST and
// the logs, are whole. RocksDB takes some damage for the end that a crash left:
// it goes back to an older state, removes newer tables, or leaves out writes
// that others follow.
#pragma once

#include <set>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/status.h"
#include "storage/store/database.h"

namespace rowbloom {

// Opens the "default" column family of the database at `path` for reading, and
// all of a copy, which has no logs. `column_families` are all others.
// InvalidArgument: the options do not fit the database. Corruption: a log has a
// change twice, or is in the place of another; or, unless the database
// `may_be_incomplete`, a record of the MANIFEST is damaged, or the end is
// missing; or so of a log that others with records follow, unless the next of
// them begins with the number after its last write.
//
// A crash leaves a part of the last record at most, and the log that the last
// whole one of the MANIFEST asks for: RocksDB deletes a log only after a record
// says that it is not needed any more. A database without logs is a copy, whose
// MANIFEST ends with a whole record and names all tables.
rocksdb::Status OpenRecords(rocksdb::Env* env, const std::string& path,
                            const std::set<std::string>& column_families,
                            bool may_be_incomplete, Database* database);

// Sets *manifest to the name of the MANIFEST. Corruption: a record of it is
// damaged, or, in a copy, the end is missing. Otherwise a writer may be adding
// to it.
rocksdb::Status CheckManifest(rocksdb::Env* env, const std::string& path,
                              bool is_copy, std::string* manifest);

// Reads the name of the MANIFEST.
rocksdb::Status ReadCurrent(rocksdb::Env* env, const std::string& path,
                            std::string* manifest);

}  // namespace rowbloom
