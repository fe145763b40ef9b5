// The version of RocksDB, when rowbloom was compiled and when it runs.
#pragma once

#include <string>

#include "rocksdb/status.h"
#include "rocksdb/version.h"
#include "storage/format/status_text.h"

namespace rowbloom {

// NotSupported: the library that is loaded has another minor version than the
// headers. RocksDB's classes and structs change with it, so that calls through
// them would go astray.
inline rocksdb::Status CheckRocksDbVersion() {
  const std::string compiled =
      std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR);
  if (rocksdb::GetRocksVersionAsString(/*with_patch=*/false) == compiled) {
    return rocksdb::Status::OK();
  }
  return NotSupported("rowbloom was compiled for RocksDB ", compiled,
                      ", and the library loaded is ",
                      rocksdb::GetRocksVersionAsString());
}

}  // namespace rowbloom
