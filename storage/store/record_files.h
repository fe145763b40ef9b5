// The check that the files to which RocksDB appends records, the MANIFEST and
// the logs, are whole. RocksDB takes some damage for the end that a crash left:
// it goes back to an older state, removes newer tables, or leaves out writes
// that others follow.
#pragma once

#include <set>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace rowbloom {

// Corruption: a log of the database at `path` has a change with a number that
// an earlier one of it has, too, at which RocksDB would stop with an assertion
// (7.8.3 with assertions, as Debian's); or it begins with an earlier change
// than the log before it, which RocksDB takes (7.8.3) or refuses without its
// name (10.10.1).
rocksdb::Status CheckLogOrder(rocksdb::Env* env, const std::string& path);

// Corruption: a record of the MANIFEST of the database at `path` is damaged, or
// the end is missing; or so of a log that others with records follow, unless
// the next of them begins with the number after its last write. `db` has the
// database open for reading; `column_families` are all but "default".
//
// A crash leaves a part of the last record at most, and the log that the last
// whole one of the MANIFEST asks for: RocksDB deletes a log only after a record
// says that it is not needed any more. A database without logs is a copy, whose
// MANIFEST ends with a whole record and names all tables.
rocksdb::Status CheckRecordFiles(rocksdb::Env* env, const std::string& path,
                                 const std::set<std::string>& column_families,
                                 rocksdb::DB* db);

// The same of the records of a MANIFEST alone, to which a writer may be adding.
rocksdb::Status CheckManifestRecords(rocksdb::Env* env,
                                     const std::string& path);

// Reads the name of the MANIFEST.
rocksdb::Status ReadCurrent(rocksdb::Env* env, const std::string& path,
                            std::string* manifest);

}  // namespace rowbloom
