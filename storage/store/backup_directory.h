// Writes to a directory of backups; rowbloom/backup.h has what needs no store.
#pragma once

#include <optional>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/status.h"
#include "rowbloom/backup.h"

namespace rowbloom {

// Adds a backup of an open database. *info may be nullptr.
rocksdb::Status CreateBackup(rocksdb::DB* db, const std::string& directory,
                             BackupInfo* info);

// RestoreBackup, with files of `env`.
rocksdb::Status RestoreBackup(rocksdb::Env* env, const std::string& directory,
                              std::optional<uint32_t> id,
                              const std::string& path);

}  // namespace rowbloom
