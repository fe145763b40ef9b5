// Directories, as far as rocksdb::Env leaves something to be done.
#pragma once

#include <string>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace rowbloom {

// The names in a directory but "." and "..".
rocksdb::Status ListDirectory(rocksdb::Env* env, const std::string& directory,
                              std::vector<std::string>* names);

// Removes a directory and the files in it. REQUIRES that it has no directories.
rocksdb::Status RemoveDirectory(rocksdb::Env* env,
                                const std::string& directory);

// Takes a lock file, creating it if need be. Busy, with `busy` as message:
// somebody has it, in this process or another one.
rocksdb::Status TakeLock(rocksdb::Env* env, const std::string& file,
                         const std::string& busy, rocksdb::FileLock** lock);

}  // namespace rowbloom
